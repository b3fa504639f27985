"""Detect skills that were edited since the registry was built, and show what their files say now (ADR 25).

Reading a registry opens no skill files, so that ten thousand skills cost one file. But an edit must not be ignored
until the next `sync`: a skill that has become user-only, or is full of merge conflict markers, must not be offered to a
model. So skills that are about to be offered are checked with one `stat` each. A file is read only if neither the stat
cache nor an earlier check vouches for it. Nothing is written: readers take no locks and may lack the permission.
"""

import os
from collections.abc import Collection, Mapping
from functools import cached_property

from skillpm.core.conflict_markers import conflict_warning
from skillpm.core.names import SKILL_FILES, SkillName
from skillpm.formats.legacy_metadata import LegacyMetadata
from skillpm.formats.registry import RegistryEntry, normalize_entry
from skillpm.installer.consistent_view import ReadView, open_view, read_until_consistent
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.skill_file import read_regular_file
from skillpm.installer.disk.stat_cache import FileStat, StatCache, is_recent, read_file_stat, read_stat_cache
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, has_escaping_link
from skillpm.registry.build_state import RegistryProblem
from skillpm.registry.card import Card
from skillpm.registry.metadata_overlay import (
    DEFAULT_CATEGORY,
    add_legacy_metadata,
    apply_legacy_metadata,
    find_legacy_metadata,
)
from skillpm.registry.snapshot import RegistrySnapshot

# If less than one skill in this many is checked, reading their files is faster than loading the stat cache.
STAT_CACHE_THRESHOLD = 20
# What a file says now: an entry, the reason why it cannot be read, or None if it is missing.
CurrentEntry = RegistryEntry | RegistryProblem | None


class Refresher:
    """Tracks edits of the skills in one registry. Several threads may share it."""

    def __init__(self, layout: Layout, file_stat: FileStat) -> None:
        # The stat of the registry file.
        self.file_stat = file_stat
        self._layout = layout
        # Path -> stat at which the known entry of its skill was correct.
        self._verified_stats: dict[str, FileStat] = {}
        # Skill -> its registered entry, and the current one that differs. Replaced as a whole, never modified, so that
        # other threads see a consistent mapping without taking a lock.
        self._overrides: Mapping[str, tuple[RegistryEntry, CurrentEntry]] = {}
        self._missing: frozenset[str] = frozenset()
        # About skills that can be read, for their owner.
        self._warnings: Mapping[str, RegistryProblem] = {}

    def apply_to(self, snapshot: RegistrySnapshot) -> RegistrySnapshot:
        """Return the snapshot with the detected edits applied.

        A skill whose file is missing is left out. One that cannot be read keeps only its name: it is not offered, but
        loading it by name reports the reason.
        """
        if not self._overrides and not self._warnings:
            return snapshot
        cards, problems = dict(snapshot.cards), [*snapshot.problems, *self._warnings.values()]
        for name, (registered, current) in self._overrides.items():
            if name not in cards or cards[name].entry != registered:
                continue
            card = cards.pop(name)
            if isinstance(current, RegistryProblem):
                problems.append(current)
                cards[name] = Card(_minimal_entry(registered), card.directory)
            elif current is not None:
                cards[name] = Card(current, card.directory)
        return snapshot.replace(cards={name: cards[name] for name in sorted(cards)}, problems=tuple(problems))

    def check(self, cards: Collection[Card], snapshot: RegistrySnapshot) -> bool:
        """Check the files of these skills, and of all that were missing before.

        `snapshot` is the registry as built. Return whether anything differs from what was known.
        """
        overrides, verified, view = self._overrides, self._verified_stats, open_view(self._layout)
        may_use_cache = len(cards) * STAT_CACHE_THRESHOLD >= len(snapshot.cards)
        new_overrides: dict[str, tuple[RegistryEntry, CurrentEntry]] = {}
        warnings_before = self._warnings
        for card in (*cards, *(snapshot.cards[name] for name in self._missing if name in snapshot.cards)):
            name, path = card.name, _current_path(card, view)
            file_stat = read_file_stat(path)
            # Folders that the registry does not list were read for the snapshot and are watched there.
            if (file_stat and verified.get(path) == file_stat) or name in snapshot.unregistered_folders:
                continue
            if may_use_cache and name not in overrides and self._is_cached(card, file_stat):
                verified[path] = file_stat
                continue
            # Compare with the entry as built: `card` may already be an override.
            original = snapshot.cards.get(name, card)
            current = self._read_current(original, path, is_foreign=snapshot.is_foreign)
            if current != overrides.get(name, (None, original.entry))[1]:
                new_overrides[name] = (original.entry, current)
            if file_stat and not is_recent(file_stat):  # another write within the same clock tick would go unnoticed
                verified[path] = file_stat
        if new_overrides:
            self._overrides = {**overrides, **new_overrides}
            self._missing = frozenset(name for name, (_, current) in self._overrides.items() if current is None)
        return bool(new_overrides) or warnings_before != self._warnings

    def _is_cached(self, card: Card, file_stat: FileStat) -> bool:
        """Return whether the stat cache, if it belongs to this registry, vouches for a skill's file."""
        if not self._is_cache_valid:
            return False
        stat_cache, file_name = self._stat_cache, card.entry["filePath"].removeprefix(f"{card.name}/")
        is_same = bool(file_stat) and stat_cache.file_stats.get(card.name, {}).get(file_name) == file_stat
        return is_same and int(file_stat.split()[2]) < stat_cache.trusted_before

    @cached_property
    def _stat_cache(self) -> StatCache:
        return read_stat_cache(self._layout.stat_cache)

    @property
    def _is_cache_valid(self) -> bool:
        """Whether stat cache and receipt belong to this registry.

        A clone may contain a registry that was committed, while neither cache nor receipt is under version control.
        """
        return self._stat_cache.file_stats.get("", {}).get("skills.json") == self.file_stat

    def _read_current(self, card: Card, file: str, *, is_foreign: bool) -> CurrentEntry:
        """Return what a skill's file says now; None if it is missing."""
        # Imported here because it loads a YAML library, which unchanged skills do not need.
        from skillpm.registry.entry import build_entry  # noqa: PLC0415
        from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

        name, path = card.name, card.entry["filePath"]
        is_flat = not _is_folder_skill(card)
        self._warnings = {other: warning for other, warning in self._warnings.items() if other != name}
        if not is_flat and has_escaping_link(self._layout, name):
            return RegistryProblem(path=path, message=ESCAPING_LINK_MESSAGE)
        try:
            data = read_regular_file(file)[0]
            current = build_entry(name, path, data, pin=None, digest=None)
        except FileNotFoundError:
            return None
        except OSError as error:
            return RegistryProblem(path=path, message=error.strerror or "cannot be read")
        except NotLoadable as error:
            if is_flat and error.finding.code == "no-frontmatter":
                return card.entry
            return RegistryProblem(path=path, message=f"line {error.finding.line}: {error.finding.message}")
        if warning := conflict_warning(data):
            self._warnings = {**self._warnings, name: RegistryProblem(path=path, message=warning)}
        # Another tool's registry may differ from the files on purpose, so it stays as it is. Only a file that forbids
        # models to use the skill overrides it.
        if is_foreign:
            return normalize_entry(
                {**card.entry, "userOnly": current.get("userOnly", False) or card.entry.get("userOnly", False)}
            )
        return self._merge_registry_data(current, card.entry)

    def _merge_registry_data(self, own: RegistryEntry, registered: RegistryEntry) -> RegistryEntry:
        """Return a skill's current entry with what only the registry knows: its source and its legacy metadata."""
        source, version = registered.get("source", ""), registered.get("version", "")
        own = normalize_entry({**own, "source": source, "version": version if source else own.get("version", "")})
        # The digest is of the installed content. It is dropped once the entry differs, and kept if only other files
        # changed.
        undigested = normalize_entry({**registered, "digest": ""})
        if own == undigested:
            return registered
        name = SkillName(own["name"])
        if self._is_cache_valid:
            entries = {str(name): own}
            add_legacy_metadata(entries, read_until_consistent(self._layout, lambda view: (view.read_receipt(), True)))
            own = entries[name]
        else:
            own = apply_legacy_metadata(
                own, find_legacy_metadata({name: own}, {name: registered}).get(name, LegacyMetadata())
            )
        return registered if own == undigested else own


def _minimal_entry(registered: RegistryEntry) -> RegistryEntry:
    """Return the entry of an unreadable skill: without a description, catalogs do not show it."""
    bare = RegistryEntry(
        name=registered["name"], category=DEFAULT_CATEGORY, description="", triggers=[], filePath=registered["filePath"]
    )
    return normalize_entry({**bare, "userOnly": registered.get("userOnly", False)})


def _is_folder_skill(card: Card) -> bool:
    return card.entry["filePath"].removeprefix(f"{card.name}/") in SKILL_FILES


def _current_path(card: Card, read_view: ReadView) -> str:
    """Return where a skill's file currently is: during a change it may be in staging."""
    if not read_view.is_pending or not _is_folder_skill(card):
        return card.location
    return os.path.join(read_view.skill_path(card.name), os.path.basename(card.location))
