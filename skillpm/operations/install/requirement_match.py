"""Compare a new requirement with that of the manifest: is it satisfied already, or from the same origin."""

from collections.abc import Sequence

from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import IndexPin
from skillpm.operations.install.new_requirement import NewRequirement
from skillpm.requirements.dependency_spec import is_same_folder
from skillpm.requirements.source import GitSource, IndexSource, PathSource, Source


def is_satisfied(new: NewRequirement, existing: Source | None) -> bool:
    """Return whether the existing requirement is a more specific form of the new one.

    A bare name is satisfied by any range of the same index, and a repository without a ref by any ref.
    """
    source = new.source
    if new.is_bare:
        site = source.index_url if isinstance(source, IndexSource) else ""
        return isinstance(existing, IndexSource) and site in {"", existing.index}
    return isinstance(source, GitSource) and not source.kind and is_same_folder(source, existing)


def is_same_origin(new: Source, old: Source, locked: LockedSkill | None, indexes: Sequence[ConfiguredIndex]) -> bool:
    """Return whether a skill would come from where it comes from already.

    That is the same folder of a repository at another ref, the same index by another name or in another range, or the
    same local folder. `locked` shows which index satisfied a requirement that names none; `indexes` are in the order
    in which they are searched.
    """
    match new, old:
        case GitSource(), GitSource():
            return is_same_folder(new, old)
        case PathSource(), PathSource():
            return new.path == old.path and new.link  # only `--force` replaces a live link by a copy
        case IndexSource(), IndexSource():
            if not new.index_url and old.index in {"", new.index}:
                return True
            first = indexes[0].url if indexes else ""
            new_url = _index_url(new, indexes) or first
            old_url = _index_url(old, indexes) or _locked_index_url(locked)
            return new_url == old_url != ""
        case _:
            return False


def _index_url(source: IndexSource, indexes: Sequence[ConfiguredIndex]) -> str:
    """Return the URL of the index that a requirement names; empty if it names none."""
    return source.index_url or next((index.url for index in indexes if index.name == source.index), "")


def _locked_index_url(locked: LockedSkill | None) -> str:
    return locked.pin.index if locked is not None and isinstance(locked.pin, IndexPin) else ""
