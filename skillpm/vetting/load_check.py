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
from skillpm.cachedir import VERDICTS, is_own_entry, record_use, tag_cache_folder, write_cache_file
from skillpm.core.digest import content_hash
from skillpm.core.names import SKILL_FILES, SkillName
from skillpm.core.shell import shell_word
from skillpm.errors import SkillpmError
from skillpm.formats.lockfile import LockedSkill
from skillpm.installer.disk.disk_state import digest_folder
from skillpm.installer.disk.layout import load_receipt
from skillpm.installer.disk.skill_file import read_regular_file
from skillpm.installer.disk.stat_cache import is_recent, read_file_stat
from skillpm.registry.card import Card
from skillpm.scope.effective_settings import user_config_path
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import Scope
from skillpm.scope.scope_permissions import visible_scopes
from skillpm.settings import Settings
from skillpm.vetting.acceptance import Acceptance, PresentSkill, find_rule_files, read_rule_texts
from skillpm.vetting.folder_files import list_files

DAY_SECONDS = 86_400


class LoadValidator:
    """Raises `NotTrusted` for a skill whose content is refused. Threads may share it."""

    def __init__(self, scope: Scope, settings: Settings, documents: Sequence[str]) -> None:
        self._scope = scope
        self._settings = settings
        # The manifests and policies that apply.
        self._documents = [user_config_path(settings), *documents]
        self._passed: dict[str, str] = {}
        self._scopes = visible_scopes(scope, settings)
        self._owners = {os.path.realpath(each.layout.directory): each for each in reversed(self._scopes)}
        self._claims = _Claims(settings)
        # The stats of the documents, and the further files with rules that they lead to.
        self._rule_files: tuple[list[str], list[str]] = ([], [])
        # By skills directory: the stats of all files with rules, and what was accepted under them.
        self._accepted: dict[str, tuple[list[str], Acceptance]] = {}

    def __call__(self, card: Card) -> None:
        """Check the content of a skill."""
        folder = os.path.realpath(card.folder)
        file = "" if os.path.basename(card.location) in SKILL_FILES else card.location
        owner = self._owners.get(os.path.dirname(folder))
        boundary = (owner or self._scope).layout.boundary
        paths = [file] if file else [each.place for each in list_files(folder, boundary, self._settings.limits)[0]]
        now = time.time()
        day = str(int(now) // DAY_SECONDS)  # exceptions end
        rule_stats = self._read_rule_stats()
        stats = [*map(read_file_stat, paths), *rule_stats]
        key = content_hash("\n".join([__version__, day, *paths, *stats]).encode(errors="surrogatepass"))
        if self._passed.get(card.location) == key or self._is_remembered(card.location, key):
            self._passed[card.location] = key
            return
        # A server may run for days, and its settings have the time of its start.
        self._check(self._settings.replace(now=now), SkillName(card.name), folder, file, owner, [day, *rule_stats])
        # Another write within the same clock tick would go unnoticed.
        if not any(is_recent(stat) for stat in stats if stat):
            self._passed[card.location] = key
            self._remember(card.location, key)

    def _read_rule_stats(self) -> list[str]:
        """Return the stats of all files with rules: documents, reviews, copies of published policies, keys."""
        stats = [*map(read_file_stat, self._documents)]
        if self._rule_files[0] != stats:
            texts = read_rule_texts(self._scopes, self._settings)
            self._rule_files = (stats, find_rule_files(self._scopes, self._settings, texts))
        return [*stats, *map(read_file_stat, self._rule_files[1])]

    def _check(
        self, settings: Settings, name: SkillName, folder: str, file: str, owner: Scope | None, rules: list[str]
    ) -> None:
        claim = None if owner is None or file else self._claims.find(owner, name)
        more: list[str] = []
        digest = None if claim is None or claim.digest is None else digest_folder(folder, more=more)
        skill = PresentSkill(name=name, folder=folder, claim=claim, digest=digest, file=file, has_more=bool(more))
        scope = owner or self._scope
        if not self._read_accepted(scope, settings, rules).has(skill):
            _refuse_content(scope, settings, skill)

    def _read_accepted(self, scope: Scope, settings: Settings, rules: list[str]) -> Acceptance:
        """Return what was accepted in a scope; read again when the date, or a file with rules, has changed."""
        known, accepted = self._accepted.get(scope.layout.directory, ([], None))
        if accepted is None or known != rules:
            accepted = Acceptance(scope, settings)
            if not any(map(is_recent, rules[1:])):
                self._accepted[scope.layout.directory] = (rules, accepted)
        return accepted

    def _entry_path(self, location: str) -> str:
        name = content_hash(f"loaded {location}".encode(errors="surrogatepass"))
        return os.path.join(self._settings.cache_dir, VERDICTS, name)

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
            write_cache_file(self._entry_path(location), key.encode(), 0o600)


class _Claims:
    """What lockfiles and receipts say of skills; read again when they change."""

    def __init__(self, settings: Settings) -> None:
        self._session = Session(settings=settings)
        self._read: dict[str, tuple[str, Mapping[SkillName, LockedSkill]]] = {}

    def find(self, scope: Scope, name: SkillName) -> LockedSkill | None:
        """Return what the lockfile, else the receipt, says of a skill; None without either, as for a local skill."""
        directory = scope.layout.directory
        stats = "\n".join(read_file_stat(path) for path in (scope.lockfile, scope.manifest, scope.layout.receipt))
        if directory not in self._read or self._read[directory][0] != stats:
            self._read[directory] = (stats, self._read_all(scope))
        return self._read[directory][1].get(name)

    def _read_all(self, scope: Scope) -> Mapping[SkillName, LockedSkill]:
        from skillpm.scope.project_files import read_project_files  # noqa: PLC0415  (after a change only)

        installed = load_receipt(scope.layout).skills
        claims = {
            name: LockedSkill(pin=skill.pin, digest=skill.digest, version=skill.version)
            for name, skill in installed.items()
        }
        with suppress(SkillpmError):
            claims |= read_project_files(Project(scope, self._session)).lockfile.skills
        return claims


def _refuse_content(scope: Scope, settings: Settings, skill: PresentSkill) -> None:
    """Raise `NotTrusted` if a rule refuses a skill as its files are now.

    What the lockfile says of it is proved by `sync`, with a network connection; here it must have been.
    """
    # Imported here, since skills that have passed before need none of it.
    from skillpm.vetting.installed_check import find_refused  # noqa: PLC0415
    from skillpm.vetting.problems import policy_hint, refusal  # noqa: PLC0415
    from skillpm.vetting.validation_options import ValidationOptions  # noqa: PLC0415

    problems = find_refused(Project(scope, Session(settings=settings)), [skill], ValidationOptions(), may_fetch=False)
    if reasons := problems.get(skill.name):
        look = f"`skillpm audit {shell_word(skill.folder)}` shows what it contains"
        blocked, allow = policy_hint(reasons), "to load it all the same, make an exception for"
        shown = [
            each.replace(hint=f"{look}; {blocked or f'{allow} {each.digest} in config.toml'}")
            if each.kind == "audit"
            else each
            for each in reasons
        ]
        raise refusal(shown, outcome="it was not loaded")
