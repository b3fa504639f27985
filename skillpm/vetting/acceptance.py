"""What this machine has accepted: content with its claimed source and signer, under the rules that applied then.

A checkout can contain everything that skillpm writes: folders, a lockfile, a receipt. These claim what the content is
and where it comes from, but they prove neither. So content counts as checked only if the user's own cache says so, in a
file that was written on this machine (`cachedir.read_bound_file`).
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from skillpm import __version__
from skillpm.cachedir import VERDICTS, read_bound_file, record_use, write_bound_file
from skillpm.core.digest import Digest, content_hash
from skillpm.core.file_tree import FileTree
from skillpm.core.names import REVIEWS_FILE, SkillName
from skillpm.core.suggestions import list_some
from skillpm.core.text import pluralize
from skillpm.core.values import Value
from skillpm.files import read_regular_file, read_text
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.receipt import InstalledSkill
from skillpm.installer.disk.disk_state import walk_reachable_files
from skillpm.installer.disk.stat_cache import is_recent, read_file_stat
from skillpm.scope.effective_settings import user_config_path
from skillpm.scope.scope import Scope, user_scope
from skillpm.scope.scope_policy import find_copy_files, find_policy_files
from skillpm.settings import Settings

MAX_SIZE = 5_000_000
DAY_SECONDS = 86_400
MAX_NAMED = 5
MAX_ALLOWED_SIZE = 100_000


class PresentSkill(Value):
    """A skill that is in a skills directory already."""

    name: SkillName
    # The folder with its files; it may be a live link to them.
    folder: str
    # What the lockfile, else the receipt, says of it; None for a local skill. A claim, nothing more.
    claim: LockedSkill | None = None
    # Of its files as they are now; None if they have to be read for that.
    digest: Digest | None = None
    # The path of its only file, if it is a flat file; all files of its folder otherwise.
    file: str = ""
    # Its files, if they are not in the folder yet.
    tree: FileTree | None = None
    # Whether the folder has more than the digest says, see `InstalledState`.
    has_more: bool = False

    @property
    def claim_text(self) -> str:
        """What is claimed of its content, as one text."""
        return "" if self.claim is None else f"{self.claim.pin!r}\n{self.claim.signer}\n{self.digest}"

    @property
    def is_claimed(self) -> bool:
        """Whether its files are those that the claim is about, and not edited ones or a live link."""
        return self.claim is not None and self.digest is not None and self.claim.digest == self.digest

    @property
    def is_exact(self) -> bool:
        """Whether the claim is about everything that a host could read in its folder."""
        return self.is_claimed and not self.has_more


def find_claim(
    name: SkillName, locked: Mapping[SkillName, LockedSkill], installed: Mapping[SkillName, InstalledSkill]
) -> LockedSkill | None:
    """Return what the lockfile, else the receipt, says of a skill; None without either."""
    if (claim := locked.get(name)) is not None or (recorded := installed.get(name)) is None:
        return claim
    return LockedSkill(pin=recorded.pin, digest=recorded.digest, version=recorded.version)


class Acceptance:
    """The content that this machine has accepted under the rules of a scope. A cache that fails costs a check."""

    def __init__(self, scope: Scope, settings: Settings) -> None:
        self._scope = scope
        self._settings = settings

    @cached_property
    def rules(self) -> str:
        """A digest of everything that decides: this version, settings, policies, reviews, and the date."""
        scope, settings = self._scope, self._settings
        scopes = (scope, user_scope(settings))
        texts = read_rule_texts(scopes, settings)
        manifests = (read_text(path) or "" for path in dict.fromkeys((scope.manifest, scope.root_manifest)))
        values = [*texts, *(text for text in manifests if '"audit"' in text)]
        values += map(_hash_file, find_rule_files(scopes, settings, texts))
        today = str(int(settings.now) // DAY_SECONDS)  # exceptions end
        return content_hash("\0".join([__version__, today, *values]).encode(errors="surrogatepass"))

    def has(self, skill: PresentSkill) -> bool:
        """Return whether a skill was accepted as it is now, under the rules as they are now."""
        if skill.is_exact:
            if self.directory.get("rules") == self.rules and self._is_listed(skill):
                return True
            entry = self.read(skill)
            return entry is not None and entry.get("rules") == self.rules
        entry = None if skill.tree is not None else self._read(self._folder_path(skill))
        if entry is None or entry.get("rules") != self.rules:
            return False
        return entry.get("files") == self.hash_stats(skill.folder)

    def is_known(self, skill: PresentSkill) -> bool:
        """Return whether content was ever accepted on this machine as what a skill claims to be."""
        return self._is_listed(skill) or self.read(skill) is not None

    @cached_property
    def directory(self) -> Mapping[str, Any]:
        """What was recorded of the skills directory as a whole, so that one read suffices for all its skills."""
        return self._read(self._directory_path()) or {}

    def add_directory(self, present: Iterable[PresentSkill]) -> None:
        """Record that these are the claims of a skills directory, and that all of them are accepted."""
        value = {"rules": self.rules, "skills": {skill.name: skill.claim_text for skill in present if skill.is_claimed}}
        if {key: self.directory.get(key) for key in value} != value:
            self._write(self._directory_path(), value)

    def _is_listed(self, skill: PresentSkill) -> bool:
        listed = self.directory.get("skills")
        return isinstance(listed, dict) and listed.get(skill.name) == skill.claim_text

    def _directory_path(self) -> str:
        return self._entry_path(f"accepted directory {self._scope.layout.directory}")

    def read(self, skill: PresentSkill) -> Mapping[str, Any] | None:
        """Return what was recorded when content was accepted as what a skill claims to be, under whatever rules."""
        return self._read(self._content_path(skill))

    def add_content(self, skill: PresentSkill, details: Mapping[str, Any]) -> None:
        """Record that content was accepted as what a skill claims to be, under the rules as they are now."""
        value, recorded = {**details, "rules": self.rules}, self.read(skill) or {}
        if any(recorded.get(key) != item for key, item in value.items()):
            self._write(self._content_path(skill), value)

    def add_folder(self, skill: PresentSkill, files: str) -> None:
        """Record that a folder was accepted; `files` is what `hash_stats` returned before."""
        if files:
            self._write(self._folder_path(skill), {"files": files, "rules": self.rules})

    def hash_stats(self, folder: str) -> str:
        """Return a digest of the stats of all files that a host could read in a folder.

        It is empty if one changed so recently that a change could hide. Stats have inode and ctime, which neither git
        nor an archive can carry to another machine.
        """
        rows = []
        try:
            for path, place in walk_reachable_files(folder, self._scope.layout.boundary):
                stat = read_file_stat(place)
                if not stat or is_recent(stat):
                    return ""
                rows.append(f"{path}\0{stat}")
        except OSError:
            return ""
        return content_hash("\n".join(rows).encode(errors="surrogatepass"))

    def _content_path(self, skill: PresentSkill) -> str:
        return self._entry_path(f"accepted {skill.name}\n{skill.claim_text}")

    def _folder_path(self, skill: PresentSkill) -> str:
        return self._entry_path(f"accepted folder {skill.name}\n{skill.claim!r}\n{skill.folder}")

    def _entry_path(self, text: str) -> str:
        return os.path.join(self._settings.cache_dir, VERDICTS, content_hash(text.encode(errors="surrogatepass")))

    def _read(self, path: str) -> Mapping[str, Any] | None:
        entry = read_bound_file(path, MAX_SIZE)
        if entry is not None:
            record_use(path)
        return entry

    def _write(self, path: str, value: Mapping[str, Any]) -> None:
        with suppress(OSError):
            write_bound_file(path, value, self._settings.cache_dir)


def read_rule_texts(scopes: Sequence[Scope], settings: Settings) -> list[str]:
    """Return the texts of config.toml and of the policies of scopes."""
    paths = (user_config_path(settings), *(each.path for each in find_policy_files(scopes, settings)))
    return [read_text(path) or "" for path in paths]


def find_rule_files(scopes: Sequence[Scope], settings: Settings, texts: Iterable[str]) -> list[str]:
    """Return the further files that decide: reviews, and the published policies and keys that these texts name."""
    folders = dict.fromkeys((settings.config_dir, *(scope.base for scope in scopes)))
    files = [os.path.join(folder, REVIEWS_FILE) for folder in folders]
    text = "\n".join(texts)
    if "fetch" in text:
        files += find_copy_files(scopes, settings)
    if any(word in text for word in ("trust", "signers", "fetch")):
        from skillpm.scope.trusted_signers import find_key_files  # noqa: PLC0415  (few users have any)

        files += find_key_files(scopes, settings)
    return files


def _hash_file(path: str) -> str:
    try:
        return content_hash(read_regular_file(path, MAX_SIZE))
    except OSError:
        return ""


def unchecked_message(scope: Scope, names: Sequence[str]) -> str:
    """Return what to say of unchecked skills."""
    verb, them = ("was", "it") if len(names) == 1 else ("were", "them")
    named = f"{pluralize(len(names), 'skill')} {verb} not checked on this machine: {list_some(names, MAX_NAMED)}"
    return f"{named}; `{scope.command('sync')}` checks {them}"


def remember_allowed(cache_dir: str, digest: Digest, rules: tuple[str, ...]) -> None:
    """Record the rules for a content, beside those that were allowed before."""
    with suppress(OSError):  # a cache that cannot be written: then `load` asks for an exception
        write_bound_file(
            _path(cache_dir, digest), {"rules": sorted({*rules, *read_allowed(cache_dir, digest)})}, cache_dir
        )


def read_allowed(cache_dir: str, digest: Digest) -> frozenset[str]:
    """Return the rules that were allowed for a content on this machine."""
    path = _path(cache_dir, digest)
    entry = read_bound_file(path, MAX_ALLOWED_SIZE)
    rules = None if entry is None else entry.get("rules")
    if not isinstance(rules, list):
        return frozenset()
    record_use(path)
    return frozenset(rule for rule in rules if isinstance(rule, str))


def _path(cache_dir: str, digest: Digest) -> str:
    return os.path.join(cache_dir, VERDICTS, content_hash(f"allowed {digest}".encode()))
