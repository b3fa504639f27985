"""Check the folder of a skill before it is loaded, by the same rules as new content.

The content of installed skills was validated, but a skills directory has other skills: local ones, edited ones, or ones
committed to a repository with a forged receipt. So each is audited before it is first loaded.
The result is cached with the stats of its files and of the settings: an unchanged skill costs one `stat` per
file. Stats have inode and ctime, which neither git nor an archive can carry to another machine.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from skillpm import __version__
from skillpm.cachedir import is_own_entry, record_use, tag_cache_folder, write_cache_file
from skillpm.core.digest import content_hash
from skillpm.core.names import SKILL_FILES, SkillName
from skillpm.errors import SkillpmError
from skillpm.formats.lockfile import LockedSkill
from skillpm.installer.disk_state import digest_folder
from skillpm.installer.layout import load_receipt
from skillpm.installer.skill_file import read_regular_file
from skillpm.operations.content_validation.allowed import BUCKET
from skillpm.operations.content_validation.folder_files import list_files
from skillpm.operations.context.acceptance import Acceptance, PresentSkill
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_permissions import visible_scopes
from skillpm.operations.context.scope_settings import user_config_path
from skillpm.registry.card import Card
from skillpm.registry.snapshot import is_recent, read_file_stat
from skillpm.settings import Settings

DAY_SECONDS = 86_400


class LoadValidator:
    """Raises `NotTrusted` for a skill whose content is refused. Threads may share it."""

    def __init__(self, scope: Scope, settings: Settings, documents: Sequence[str]) -> None:
        self._scope = scope
        self._settings = settings
        # The files with settings that apply, besides config.toml.
        self._documents = documents
        self._passed: dict[str, str] = {}
        self._scopes = visible_scopes(scope, settings)
        self._claims = _Claims(settings)

    def __call__(self, card: Card) -> None:
        """Check the content of a skill."""
        folder = os.path.realpath(card.folder)
        file = "" if os.path.basename(card.location) in SKILL_FILES else card.location
        paths = [file] if file else list_files(folder)
        stats = [read_file_stat(path) for path in (*paths, user_config_path(self._settings), *self._documents)]
        day = str(int(time.time()) // DAY_SECONDS)  # exceptions end
        key = content_hash("\n".join([__version__, day, *paths, *stats]).encode(errors="surrogatepass"))
        if self._passed.get(card.location) == key or self._is_remembered(card.location, key):
            self._passed[card.location] = key
            return
        self._check(SkillName(card.name), folder, file)
        # Another write within the same clock tick would go unnoticed.
        if not any(is_recent(stat) for stat in stats if stat):
            self._passed[card.location] = key
            self._remember(card.location, key)

    def _check(self, name: SkillName, folder: str, file: str) -> None:
        owner = next(
            (each for each in self._scopes if os.path.realpath(each.layout.directory) == os.path.dirname(folder)), None
        )
        claim = None if owner is None or file else self._claims.find(owner, name)
        digest = None if claim is None or claim.digest is None else digest_folder(folder)
        skill = PresentSkill(name=name, folder=folder, claim=claim, digest=digest, file=file)
        scope = owner or self._scope
        if not Acceptance(scope, self._settings).has(skill):
            # Imported here, since skills that have passed before need none of it.
            from skillpm.operations.content_validation.loaded_content import refuse_content  # noqa: PLC0415

            refuse_content(scope, self._settings, skill)

    def _entry_path(self, location: str) -> str:
        name = content_hash(f"loaded {location}".encode(errors="surrogatepass"))
        return os.path.join(self._settings.cache_dir, BUCKET, name)

    def _is_remembered(self, location: str, key: str) -> bool:
        path = self._entry_path(location)
        try:
            data, state = read_regular_file(path)
        except OSError:
            return False
        is_same = data == key.encode() and is_own_entry(path, state)
        if is_same:
            record_use(path)
        return is_same

    def _remember(self, location: str, key: str) -> None:
        with suppress(OSError):  # a cache that cannot be written costs an audit next time
            tag_cache_folder(self._settings.cache_dir)
            write_cache_file(self._entry_path(location), key.encode())


class _Claims:
    """What lockfiles and receipts say of skills; read again when they change."""

    def __init__(self, settings: Settings) -> None:
        self._context = Context(settings=settings)
        self._read: dict[str, tuple[str, Mapping[SkillName, LockedSkill]]] = {}

    def find(self, scope: Scope, name: SkillName) -> LockedSkill | None:
        """Return what the lockfile, else the receipt, says of a skill; None without either, as for a local skill."""
        directory = scope.layout.directory
        stats = "\n".join(read_file_stat(path) for path in (scope.lockfile, scope.manifest, scope.layout.receipt))
        if directory not in self._read or self._read[directory][0] != stats:
            self._read[directory] = (stats, self._read_all(scope))
        return self._read[directory][1].get(name)

    def _read_all(self, scope: Scope) -> Mapping[SkillName, LockedSkill]:
        installed = load_receipt(scope.layout).skills
        claims = {
            name: LockedSkill(pin=skill.pin, digest=skill.digest, version=skill.version)
            for name, skill in installed.items()
        }
        with suppress(SkillpmError):
            claims |= read_project_files(scope, self._context).lockfile.skills
        return claims
