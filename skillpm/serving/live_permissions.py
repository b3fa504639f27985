"""The permissions in effect right now, read again whenever the documents that define them change."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.user_config import ServingSettings
from skillpm.installer.disk.disk_state import digest_folder
from skillpm.installer.disk.stat_cache import FileStat, is_recent, read_file_stat
from skillpm.registry.card import Card
from skillpm.serving.permissions import Rules

if TYPE_CHECKING:
    from skillpm.formats.trust.policy import BlockedContent
    from skillpm.trust.policy import Policies


class EffectivePermissions(Value):
    """Rules, disabled skills, priorities, and how much of a skill is served."""

    rules: Rules = Rules()
    # Skills that are disabled in every directory.
    disabled: Collection[str] = frozenset()
    # Skills directory -> skills that are disabled there.
    disabled_in: Mapping[str, Collection[str]] = EMPTY_MAPPING
    # Names and patterns of the skills that a catalog with a budget keeps longest, the most important first.
    priority: tuple[str, ...] = ()
    serving: ServingSettings = ServingSettings()
    # None without a policy.
    policies: "Policies | None" = None

    def find_blocked(self, card: Card, *, checks_content: bool = False) -> "BlockedContent | None":
        """Return what a policy says of a skill that it blocks.

        Catalogs go by the digest that the registry knows. `checks_content`, for a skill that is about to be read, goes
        by its files: a checkout may bring a registry of its own.
        """
        if self.policies is None:
            return None
        digest = str(card.entry.get("digest", ""))
        if self.policies.blocks_digests and (checks_content or not digest):
            with suppress(OSError):  # opening it reports the reason
                digest = digest_folder(card.folder)
        return self.policies.find_blocked((card.name, card.declared), digest)

    def hides(self, card: Card) -> bool:
        """Return whether a skill must not be visible."""
        name = card.name
        is_disabled = name in self.disabled or name in self.disabled_in.get(card.directory, ())
        return is_disabled or self.rules.hides(name) or self.find_blocked(card) is not None


class WatchedPermissions:
    """Returns the current permissions when called, and reads them again if a file that `find_files` returns changed.

    It is called again with each reading: a folder that changed may contain more files.

    Whatever `read` raises is raised at each call until the document can be read again. Falling back to the previous
    rules could allow what the user is forbidding at that moment. Threads may share it.
    """

    def __init__(self, find_files: Callable[[], Iterable[str]], read: Callable[[], EffectivePermissions]) -> None:
        self._find_files = find_files
        self._files: tuple[str, ...] = ()
        self._read = read
        self._lock = threading.Lock()
        self._cached: tuple[tuple[FileStat, ...], EffectivePermissions] | None = None

    def __call__(self) -> EffectivePermissions:
        """Return the permissions in effect now."""
        file_stats = tuple(map(read_file_stat, self._files))
        cached = self._cached
        if cached is not None and cached[0] == file_stats:
            return cached[1]
        with self._lock:
            self._files = tuple(self._find_files())
            file_stats = tuple(map(read_file_stat, self._files))
            permissions = self._read()
            if cached is not None and cached[1] == permissions:
                permissions = cached[1]  # keep the object: callers cache what they derive from it
            if not any(map(is_recent, file_stats)):
                self._cached = (file_stats, permissions)
            else:
                self._cached = ((), permissions)  # another write within the same clock tick would go unnoticed
            return permissions
