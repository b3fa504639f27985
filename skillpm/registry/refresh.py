"""Skills whose files were written on since the registry was built: what these say now, instead of the registry.

Reading a registry opens no file of a skill. Whoever offers skills has those looked at that are offered, one `stat`
each; only a file that neither the stat cache vouches for nor an earlier look is read.
"""

import os
from collections.abc import Collection, Mapping

from skillpm.core.conflict_markers import conflict_warning
from skillpm.core.names import SKILL_FILES, SkillName
from skillpm.formats.legacy_metadata import LegacyMetadata
from skillpm.formats.registry import RegistryEntry, normalize_entry
from skillpm.installer.consistent_view import ReadView, open_view, read_until_consistent
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, has_escaping_link
from skillpm.installer.layout import Layout
from skillpm.installer.skill_file import read_regular_file
from skillpm.installer.stat_cache import FileStat, StatCache, read_stat_cache, to_file_stat
from skillpm.registry.build_state import RegistryProblem
from skillpm.registry.card import Card
from skillpm.registry.metadata_overlay import (
    DEFAULT_CATEGORY,
    add_legacy_metadata,
    apply_legacy_metadata,
    find_legacy_metadata,
)
from skillpm.registry.snapshot import RegistrySnapshot, is_recent

STAT_CACHE_THRESHOLD = (
    20  # where only one skill in so many is looked at, reading it takes less than reading the stat cache
)
CurrentEntry = RegistryEntry | RegistryProblem | None


class Refresher:
    """What was found of the files of one registry, which itself has the stamp `stamp`. Several threads may use one."""

    def __init__(self, layout: Layout, file_stat: FileStat) -> None:
        self.file_stat = file_stat
        self._layout = layout
        self._verified_stats: dict[str, FileStat] = {}  # how a file was when what is known of its skill was true
        self._overrides: Mapping[str, tuple[RegistryEntry, CurrentEntry]] = {}  # what the registry says, and what is so
        self._missing: frozenset[str] = frozenset()
        self._warnings: Mapping[str, RegistryProblem] = {}  # on skills that can be read, for their owner
        self._stat_cache: StatCache | None = None

    def apply_to(self, snapshot: RegistrySnapshot) -> RegistrySnapshot:
        """Give what a registry says with what was found in its place.

        A file that is gone is left out. Of one that cannot be read only the name is left, so that nobody is told of it
        and who asks for it learns why.
        """
        if not self._overrides and not self._warnings:
            return snapshot
        cards, problems = dict(snapshot.cards), [*snapshot.problems, *self._warnings.values()]
        for name, (said, found) in self._overrides.items():
            if name not in cards or cards[name].entry != said:
                continue
            card = cards.pop(name)
            if isinstance(found, RegistryProblem):
                problems.append(found)
                cards[name] = Card(_minimal_entry(said), card.directory)
            elif found is not None:
                cards[name] = Card(found, card.directory)
        return snapshot.replace(cards={name: cards[name] for name in sorted(cards)}, problems=tuple(problems))

    def check(self, cards: Collection[Card], snapshot: RegistrySnapshot) -> bool:
        """Look at the files of some skills, and for all that were gone; tell whether anything was found to be otherwise
        than it was known. `shelf` is what the registry says.
        """
        otherwise, as_known, seen = self._overrides, self._verified_stats, open_view(self._layout)
        is_worth_it = len(cards) * STAT_CACHE_THRESHOLD >= len(snapshot.cards)
        changed: dict[str, tuple[RegistryEntry, CurrentEntry]] = {}
        remarks = self._warnings
        for card in (*cards, *(snapshot.cards[name] for name in self._missing if name in snapshot.cards)):
            name, path = card.name, _current_path(card, seen)
            stamp = _read_file_stat(path)
            if (stamp and as_known.get(path) == stamp) or name in snapshot.unregistered_folders:
                continue
            if is_worth_it and name not in otherwise and self._is_cached(card, stamp):
                as_known[path] = stamp
                continue
            first = snapshot.cards.get(name, card)
            found = self._read_current(first, path, is_foreign=snapshot.is_foreign)
            if found != otherwise.get(name, (None, first.entry))[1]:
                changed[name] = (first.entry, found)
            if stamp and not is_recent(stamp):  # two changes within a tick of the clock look like one
                as_known[path] = stamp
        if changed:
            self._overrides = {**otherwise, **changed}
            self._missing = frozenset(name for name, (_, found) in self._overrides.items() if found is None)
        return bool(changed) or remarks != self._warnings

    def _is_cached(self, card: Card, file_stat: FileStat) -> bool:
        """Tell whether the stat cache, made with this registry, says that a file is as it was then."""
        if not self._is_cache_valid:
            return False
        scan, file = self._loaded_stat_cache, card.entry["filePath"].removeprefix(f"{card.name}/")
        is_same = bool(file_stat) and scan.file_stats.get(card.name, {}).get(file) == file_stat
        return is_same and int(file_stat.split()[2]) < scan.trusted_before

    @property
    def _loaded_stat_cache(self) -> StatCache:
        if self._stat_cache is None:
            self._stat_cache = read_stat_cache(self._layout.stat_cache)
        return self._stat_cache

    @property
    def _is_cache_valid(self) -> bool:
        """Whether the registry is the one that the stat cache and the receipt belong to; a clone has neither."""
        return self._loaded_stat_cache.file_stats.get("", {}).get("skills.json") == self.file_stat

    def _read_current(self, card: Card, file: str, *, is_foreign: bool) -> CurrentEntry:
        """Give what is so of a skill by its file; nothing where that is gone."""
        # The reader brings a YAML library with it: only who must read a SKILL.md pays for it.
        from skillpm.registry.entry import build_entry  # noqa: PLC0415
        from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

        name, path = card.name, card.entry["filePath"]
        is_flat = not _is_folder_skill(card)
        self._warnings = {other: remark for other, remark in self._warnings.items() if other != name}
        if not is_flat and has_escaping_link(self._layout, name):
            return RegistryProblem(path=path, message=ESCAPING_LINK_MESSAGE)
        try:
            data = read_regular_file(file)[0]
            own = build_entry(name, path, data, pin=None, digest=None)
        except FileNotFoundError:
            return None
        except OSError as error:
            return RegistryProblem(path=path, message=error.strerror or "cannot be read")
        except NotLoadable as error:
            if is_flat and error.finding.code == "no-frontmatter":
                return card.entry
            return RegistryProblem(path=path, message=f"line {error.finding.line}: {error.finding.message}")
        if remark := conflict_warning(data):
            self._warnings = {**self._warnings, name: RegistryProblem(path=path, message=remark)}
        if is_foreign:  # whoever wrote it means what it says; but no file is offered that says otherwise
            return normalize_entry(
                {**card.entry, "userOnly": own.get("userOnly", False) or card.entry.get("userOnly", False)}
            )
        return self._merge_registry_data(own, card.entry)

    def _merge_registry_data(self, own: RegistryEntry, registered: RegistryEntry) -> RegistryEntry:
        """Give what a skill's file says with what only the registry knows: where it is from, and what was inherited."""
        source, version = registered.get("source", ""), registered.get("version", "")
        own = normalize_entry({**own, "source": source, "version": version if source else own.get("version", "")})
        undigested = normalize_entry({**registered, "digest": ""})
        if own == undigested:
            return registered
        name = SkillName(own["name"])
        if self._is_cache_valid:
            entries = {str(name): own}
            add_legacy_metadata(entries, read_until_consistent(self._layout, lambda seen: (seen.read_receipt(), True)))
            own = entries[name]
        else:
            own = apply_legacy_metadata(
                own, find_legacy_metadata({name: own}, {name: registered}).get(name, LegacyMetadata())
            )
        return registered if own == undigested else own


def _minimal_entry(registered: RegistryEntry) -> RegistryEntry:
    """Give what is left of a skill that cannot be read; models are not told of one without a description."""
    bare = RegistryEntry(
        name=registered["name"], category=DEFAULT_CATEGORY, description="", triggers=[], filePath=registered["filePath"]
    )
    return normalize_entry({**bare, "userOnly": registered.get("userOnly", False)})


def _is_folder_skill(card: Card) -> bool:
    return card.entry["filePath"].removeprefix(f"{card.name}/") in SKILL_FILES


def _current_path(card: Card, read_view: ReadView) -> str:
    """Give where a skill's file is now: while a change is under way it may wait in staging."""
    if not read_view.is_pending or not _is_folder_skill(card):
        return card.location
    return os.path.join(read_view.skill_path(card.name), os.path.basename(card.location))


def _read_file_stat(path: str) -> FileStat:
    try:
        return to_file_stat(os.stat(path))
    except OSError:
        return ""
