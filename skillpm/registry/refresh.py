"""Skills whose files were written on since the registry was built: what these say now, instead of the registry.

Reading a registry opens no file of a skill. Whoever offers skills has those looked at that are offered, one `stat`
each; only a file that neither the stat cache vouches for nor an earlier look is read.
"""

import os
from collections.abc import Collection, Mapping

from skillpm.core.conflict_markers import remark_on
from skillpm.core.names import SKILL_FILES, SkillName
from skillpm.formats.legacy_metadata import Inherited
from skillpm.formats.registry import RegistryEntry, tidy
from skillpm.installer.consistent_view import View, look_until, view
from skillpm.installer.escaping_links import LEADS_OUT, leads_out
from skillpm.installer.layout import Layout
from skillpm.installer.skill_file import read_regular_file
from skillpm.installer.stat_cache import Scan, Stamp, read_scan, stamp_of
from skillpm.registry.build_state import Problem
from skillpm.registry.card import Card
from skillpm.registry.metadata_overlay import GENERAL, add_inherited, inherited_between, inheriting
from skillpm.registry.snapshot import Shelf, is_recent

FEW = 20  # where only one skill in so many is looked at, reading it takes less than reading the stat cache
Found = RegistryEntry | Problem | None


class Rereading:
    """What was found of the files of one registry, which itself has the stamp `stamp`. Several threads may use one."""

    def __init__(self, layout: Layout, stamp: Stamp) -> None:
        self.stamp = stamp
        self._layout = layout
        self._as_known: dict[str, Stamp] = {}  # how a file was when what is known of its skill was true
        self._otherwise: Mapping[str, tuple[RegistryEntry, Found]] = {}  # what the registry says, and what is so
        self._gone: frozenset[str] = frozenset()
        self._remarks: Mapping[str, Problem] = {}  # on skills that can be read, for their owner
        self._scan: Scan | None = None

    def over(self, shelf: Shelf) -> Shelf:
        """Give what a registry says with what was found in its place.

        A file that is gone is left out. Of one that cannot be read only the name is left, so that nobody is told of it
        and who asks for it learns why.
        """
        if not self._otherwise and not self._remarks:
            return shelf
        cards, problems = dict(shelf.cards), [*shelf.problems, *self._remarks.values()]
        for name, (said, found) in self._otherwise.items():
            if name not in cards or cards[name].entry != said:
                continue
            card = cards.pop(name)
            if isinstance(found, Problem):
                problems.append(found)
                cards[name] = Card(_bare(said), card.directory)
            elif found is not None:
                cards[name] = Card(found, card.directory)
        return shelf.but(cards={name: cards[name] for name in sorted(cards)}, problems=tuple(problems))

    def look(self, cards: Collection[Card], shelf: Shelf) -> bool:
        """Look at the files of some skills, and for all that were gone; tell whether anything was found to be otherwise
        than it was known. `shelf` is what the registry says.
        """
        otherwise, as_known, seen = self._otherwise, self._as_known, view(self._layout)
        is_worth_it = len(cards) * FEW >= len(shelf.cards)
        changed: dict[str, tuple[RegistryEntry, Found]] = {}
        remarks = self._remarks
        for card in (*cards, *(shelf.cards[name] for name in self._gone if name in shelf.cards)):
            name, path = card.name, _path_of(card, seen)
            stamp = _stamp_of(path)
            if (stamp and as_known.get(path) == stamp) or name in shelf.watched:
                continue
            if is_worth_it and name not in otherwise and self._vouches(card, stamp):
                as_known[path] = stamp
                continue
            first = shelf.cards.get(name, card)
            found = self._found(first, path, is_old=shelf.is_old)
            if found != otherwise.get(name, (None, first.entry))[1]:
                changed[name] = (first.entry, found)
            if stamp and not is_recent(stamp):  # two changes within a tick of the clock look like one
                as_known[path] = stamp
        if changed:
            self._otherwise = {**otherwise, **changed}
            self._gone = frozenset(name for name, (_, found) in self._otherwise.items() if found is None)
        return bool(changed) or remarks != self._remarks

    def _vouches(self, card: Card, stamp: Stamp) -> bool:
        """Tell whether the stat cache, made with this registry, says that a file is as it was then."""
        if not self._is_ours:
            return False
        scan, file = self._scanned, card.entry["filePath"].removeprefix(f"{card.name}/")
        is_same = bool(stamp) and scan.stamps.get(card.name, {}).get(file) == stamp
        return is_same and int(stamp.split()[2]) < scan.at

    @property
    def _scanned(self) -> Scan:
        if self._scan is None:
            self._scan = read_scan(self._layout.scan)
        return self._scan

    @property
    def _is_ours(self) -> bool:
        """Whether the registry is the one that the stat cache and the receipt belong to; a clone has neither."""
        return self._scanned.stamps.get("", {}).get("skills.json") == self.stamp

    def _found(self, card: Card, file: str, *, is_old: bool) -> Found:
        """Give what is so of a skill by its file; nothing where that is gone."""
        # The reader brings a YAML library with it: only who must read a SKILL.md pays for it.
        from skillpm.registry.entry import entry_of  # noqa: PLC0415
        from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

        name, path = card.name, card.entry["filePath"]
        is_flat = not _is_folder(card)
        self._remarks = {other: remark for other, remark in self._remarks.items() if other != name}
        if not is_flat and leads_out(self._layout, name):
            return Problem(path=path, message=LEADS_OUT)
        try:
            data = read_regular_file(file)[0]
            own = entry_of(name, path, data, pin=None, digest=None)
        except FileNotFoundError:
            return None
        except OSError as error:
            return Problem(path=path, message=error.strerror or "cannot be read")
        except NotLoadable as error:
            if is_flat and error.finding.code == "no-frontmatter":
                return card.entry
            return Problem(path=path, message=f"line {error.finding.line}: {error.finding.message}")
        if remark := remark_on(data):
            self._remarks = {**self._remarks, name: Problem(path=path, message=remark)}
        if is_old:  # whoever wrote it means what it says; but no file is offered that says otherwise
            return tidy({**card.entry, "userOnly": own.get("userOnly", False) or card.entry.get("userOnly", False)})
        return self._completed(own, card.entry)

    def _completed(self, own: RegistryEntry, said: RegistryEntry) -> RegistryEntry:
        """Give what a skill's file says with what only the registry knows: where it is from, and what was inherited."""
        source, version = said.get("source", ""), said.get("version", "")
        own = tidy({**own, "source": source, "version": version if source else own.get("version", "")})
        undigested = tidy({**said, "digest": ""})
        if own == undigested:
            return said
        name = SkillName(own["name"])
        if self._is_ours:
            entries = {str(name): own}
            add_inherited(entries, look_until(self._layout, lambda seen: (seen.receipt(), True)))
            own = entries[name]
        else:
            own = inheriting(own, inherited_between({name: own}, {name: said}).get(name, Inherited()))
        return said if own == undigested else own


def _bare(said: RegistryEntry) -> RegistryEntry:
    """Give what is left of a skill that cannot be read; models are not told of one without a description."""
    bare = RegistryEntry(name=said["name"], category=GENERAL, description="", triggers=[], filePath=said["filePath"])
    return tidy({**bare, "userOnly": said.get("userOnly", False)})


def _is_folder(card: Card) -> bool:
    return card.entry["filePath"].removeprefix(f"{card.name}/") in SKILL_FILES


def _path_of(card: Card, seen: View) -> str:
    """Give where a skill's file is now: while a change is under way it may wait in staging."""
    if not seen.is_pending or not _is_folder(card):
        return card.location
    return os.path.join(seen.skill(card.name), os.path.basename(card.location))


def _stamp_of(path: str) -> Stamp:
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return ""
