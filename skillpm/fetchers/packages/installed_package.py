"""An installed package, and its skills: read from the folder where it was installed, never imported or executed."""

import base64
import errno
import hashlib
import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping

from skillpm.core.file_tree import FileTree, SourceEntry
from skillpm.core.limits import Limits
from skillpm.core.names import SKILL_FILES, PackageKind
from skillpm.core.suggestions import list_some
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree, refusal_error
from skillpm.core.values import Value
from skillpm.errors import FileError, NotFoundError, RefusedError
from skillpm.fetchers.common.regular_file import read_regular_file
from skillpm.fetchers.packages.local import EXCLUDED_NAMES, scan_entries
from skillpm.files import is_below, translate_os_errors
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import Skill, read_skill

# Hashes that PyPA's "Recording installed projects" allows: those of hashlib that are at least as strong as SHA-256.
HASHES = ("sha256", "sha384", "sha512")
EXCLUDED = EXCLUDED_NAMES | {"node_modules"}
UNREADABLE = Skill(declared="", description="", body="")


class InstalledPackage(Value):
    """A package, and where its skills are."""

    kind: PackageKind
    name: str
    version: str
    # The real path of the folder that the paths are relative to, which nothing of the package may leave.
    root: str
    # The folders of its skills, in the order in which they take precedence.
    paths: tuple[str, ...]
    # The hash of each installed file, as RECORD writes it; None if nothing is recorded.
    hashes: Mapping[str, str] | None = None
    # What to do if it has no skills.
    hint: str = ""

    @property
    def label(self) -> str:
        """Name and version."""
        return f"{sanitize(self.name)} {sanitize(self.version, 40)}".rstrip()

    def require_skills(self) -> dict[str, str]:
        """Return the path of each skill by the name of its folder; the first of several with one name.

        Raises `NotFoundError` if there are none.
        """
        if not self.paths:
            raise NotFoundError(f"{self.label} has no skills", hint=self.hint)
        return {self.name_of(path): path for path in reversed(self.paths)}

    def name_of(self, path: str) -> str:
        """Return the name of a skill's folder; of the package itself, its name."""
        return posixpath.basename(self.name if path == "." else path)

    def read_tree(self, path: str, name: str, limits: Limits) -> FileTree:
        """Return the checked files of the skill at one of its paths. Raises `RefusedError`, which calls it `name`."""
        folder = os.path.realpath(os.path.join(self.root, path))
        if not is_below(folder, self.root):
            raise refusal_error(name, f"its folder in {self.label} is a link that points outside")
        with translate_os_errors("read a skill of a package", folder):
            entries = scan_entries(folder, limits, name, excluded=EXCLUDED) if os.path.isdir(folder) else iter(())
            if self.hashes is not None:
                entries = self._check_hashes(entries, path, name)
            return check_tree(entries, name=name, limits=limits)

    def read_skill(self, path: str, limits: Limits) -> Skill:
        """Return the SKILL.md of a skill; an empty one if it cannot be loaded. Raises `RefusedError`."""
        tree = self.read_tree(path, self.name_of(path), limits)
        try:
            return read_skill(tree.read(tree.skill_file) or b"")
        except NotLoadable:
            return UNREADABLE

    def find_skill(self, skill: str, name: str, limits: Limits) -> str:
        """Return the path of a skill: `skill`, or if that is empty the one called `name`, or else the only one.

        Raises `NotFoundError`.
        """
        paths, wanted = self.require_skills(), skill or name
        if wanted in paths:
            return paths[wanted]
        declared = [path for path in paths.values() if self.read_skill(path, limits).declared == wanted]
        if declared or (not skill and len(paths) == 1):
            return (declared or [*paths.values()])[0]
        listed = list_some(sorted(paths), 8, 64)
        raise NotFoundError(f"{self.label} has no skill named `{sanitize(wanted, 64)}`", hint=f"it has: {listed}")

    def _check_hashes(self, entries: Iterable[SourceEntry], path: str, name: str) -> Iterator[SourceEntry]:
        """Yield the files that were installed. Raises `RefusedError` for a changed or a missing one."""
        hashes, prefix = self.hashes or {}, f"{path}/"
        missing = {file.removeprefix(prefix) for file in hashes if file.startswith(prefix)}
        missing = {file for file in missing if EXCLUDED.isdisjoint(file.split("/"))}
        for entry in entries:
            if entry.path not in missing:
                continue  # not part of the package
            missing.remove(entry.path)
            if entry.kind != "file":
                raise self._damaged_error(name, entry.path, "is a link")
            if not _matches(entry.data, hashes[prefix + entry.path]):
                raise self._damaged_error(name, entry.path, "does not match RECORD")
            yield entry
        if missing:
            raise self._damaged_error(name, min(missing), "is missing")

    def _damaged_error(self, name: str, path: str, problem: str) -> RefusedError:
        error = refusal_error(name, f"'{sanitize(path)}' of {self.label} {problem}")
        error.hint = f"reinstall {sanitize(self.name)}, with its files copied rather than linked; nothing was installed"
        return error


def contains_skill_file(paths: Iterable[str]) -> bool:
    """Return whether one of the names of files makes their folder a skill."""
    return not {*SKILL_FILES}.isdisjoint(paths)


def read_document(path: str, max_size: int) -> bytes | None:
    """Return the bytes of a file; None if it is missing, a link or another special file, or too large."""
    try:
        data = read_regular_file(path, max_size)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise FileError(f"cannot read: {error.strerror}", where=path) from error
    return data if data is not None and len(data) <= max_size else None


def _matches(data: bytes, recorded: str) -> bool:
    algorithm, _, value = recorded.partition("=")
    if algorithm not in HASHES:
        return False
    return base64.urlsafe_b64encode(hashlib.new(algorithm, data).digest()).decode().rstrip("=") == value
