"""Whether two requirements lead to one place: then the second one only asks for another version of it."""

from collections.abc import Sequence

from skillpm.documents.index_places import IndexPlace
from skillpm.documents.lockfile import LockedSkill
from skillpm.documents.pin import IndexPin
from skillpm.sources.needs import is_same_folder
from skillpm.sources.source import GitSource, IndexSource, PathSource, Source


def is_same_place(new: Source, old: Source, locked: LockedSkill | None, places: Sequence[IndexPlace]) -> bool:
    """Tell whether a skill would come from where it comes from already: the same folder of a repository at another
    ref, the same index in another range or under its other name, the same folder of this machine.

    `locked` tells which index an open requirement led to, `places` in which order they are asked.
    """
    match new, old:
        case GitSource(), GitSource():
            return is_same_folder(new, old)
        case PathSource(), PathSource():
            return new.path == old.path and new.link  # a live link becomes a copy only where that is insisted on
        case IndexSource(), IndexSource():
            if not new.site and old.index in {"", new.index}:
                return True
            first = places[0].url if places else ""
            known = _address(new, places) or first, _address(old, places) or _locked_address(locked)
            return known[0] == known[1] != ""
        case _:
            return False


def _address(source: IndexSource, places: Sequence[IndexPlace]) -> str:
    """Give where an index is that a requirement names; empty where it names none."""
    return source.site or next((place.url for place in places if place.name == source.index), "")


def _locked_address(locked: LockedSkill | None) -> str:
    return locked.pin.index if locked is not None and isinstance(locked.pin, IndexPin) else ""
