"""Check the folder of a skill before it is loaded, by the same rules as new content.

The content of installed skills was validated, but a skills directory has other skills: local ones, edited ones, or ones
committed to a repository with a forged receipt. So each is audited before it is first loaded.
The result is cached with the stats of its files and of the settings: an unchanged skill costs one `stat` per
file. Stats have inode and ctime, which neither git nor an archive can carry to another machine.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

from skillpm import __version__
from skillpm.cachedir import record_use, tag_cache_folder, write_cache_file
from skillpm.core.digest import content_hash
from skillpm.core.names import SKILL_FILES, SkillName
from skillpm.installer.disk_state import MAX_READ_SIZE, walk_files
from skillpm.installer.skill_file import read_regular_file
from skillpm.operations.content_validation.allowed import BUCKET
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_settings import user_config_path
from skillpm.registry.card import Card
from skillpm.registry.snapshot import is_recent, read_file_stat
from skillpm.serving.skill_files import MAX_SCANNED_FILES
from skillpm.settings import Settings

# Of a folder: more bytes are not read, the smallest files first, so that a large one cannot hide a small one.
MAX_SIZE = 50_000_000
DAY_SECONDS = 86_400


class LoadValidator:
    """Raises `NotTrusted` for a skill whose content is refused. Threads may share it."""

    def __init__(self, scope: Scope, settings: Settings, documents: Sequence[str]) -> None:
        self._scope = scope
        self._settings = settings
        # The files with settings that apply, besides config.toml.
        self._documents = documents
        self._passed: dict[str, str] = {}

    def __call__(self, card: Card) -> None:
        """Check the content of a skill."""
        folder = os.path.realpath(card.folder)
        paths = list_files(folder) if os.path.basename(card.location) in SKILL_FILES else [card.location]
        stats = [read_file_stat(path) for path in (*paths, user_config_path(self._settings), *self._documents)]
        day = str(int(time.time()) // DAY_SECONDS)  # exceptions end
        key = content_hash("\n".join([__version__, day, *paths, *stats]).encode(errors="surrogatepass"))
        if self._passed.get(card.location) == key or self._is_remembered(card.location, key):
            self._passed[card.location] = key
            return
        self._audit(card, folder, paths)
        # Another write within the same clock tick would go unnoticed.
        if not any(is_recent(stat) for stat in stats if stat):
            self._passed[card.location] = key
            self._remember(card.location, key)

    def _audit(self, card: Card, folder: str, paths: Sequence[str]) -> None:
        # Imported here, since skills that have passed before need none of it.
        from skillpm.operations.content_validation.loaded_content import refuse_content  # noqa: PLC0415

        refuse_content(self._scope, self._settings, SkillName(card.name), folder, paths)

    def _entry_path(self, location: str) -> str:
        name = content_hash(f"loaded {location}".encode(errors="surrogatepass"))
        return os.path.join(self._settings.cache_dir, BUCKET, name)

    def _is_remembered(self, location: str, key: str) -> bool:
        path = self._entry_path(location)
        try:
            is_same = read_regular_file(path)[0] == key.encode()
        except OSError:
            return False
        if is_same:
            record_use(path)
        return is_same

    def _remember(self, location: str, key: str) -> None:
        with suppress(OSError):  # a cache that cannot be written costs an audit next time
            tag_cache_folder(self._settings.cache_dir)
            write_cache_file(self._entry_path(location), key.encode())


def list_files(folder: str) -> list[str]:
    """Return the paths of all files that an agent could read, the smallest first after the SKILL.md."""
    found: list[tuple[bool, int, str]] = []
    with suppress(OSError):
        for path, entry in islice(walk_files(folder), MAX_SCANNED_FILES):
            with suppress(OSError):
                found.append((path not in SKILL_FILES, entry.stat().st_size, entry.path))
    total, paths = 0, []
    for _, size, path in sorted(found):
        total += min(size, MAX_READ_SIZE)
        if total <= MAX_SIZE:
            paths.append(path)
    return paths
