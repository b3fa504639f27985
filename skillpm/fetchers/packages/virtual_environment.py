"""Find the distributions of a virtual environment and their skills, by the documents that installers write.

PyPA specifications, "Recording installed projects": each distribution has a folder `NAME-VERSION.dist-info`, whose
RECORD lists all installed files with their hashes. Nothing is imported, and no Python of the environment is started.
"""

import csv
import json
import os
import re
from collections.abc import Iterator, Mapping

from skillpm.core.names import normalize_package_name, path_problem
from skillpm.core.shell import shell_word
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import ConflictError, FileError, NotFoundError, RefusedError
from skillpm.fetchers.packages.installed_package import InstalledPackage, contains_skill_file, read_document
from skillpm.files import translate_os_errors

SKILLS_FOLDER = ".agents/skills/"
EDITABLE_HINT = "it is an editable install: install its skills from their folder, `skillpm install ./FOLDER --link`"
MAX_RECORD_SIZE = 20_000_000  # bytes; that of torch has 2,000,000


class VirtualEnvironment:
    """The environment in `.venv` beside the lockfile, or else the one that VIRTUAL_ENV names."""

    convention = "a package has its skills in `.agents/skills/NAME/SKILL.md`"

    def __init__(self, base: str, environ: Mapping[str, str]) -> None:
        own = os.path.join(base, ".venv")
        active = environ.get("VIRTUAL_ENV", "")
        # What the user calls it, for messages.
        self.label = active if active and not os.path.isdir(own) else ".venv"
        self.folder = os.path.join(base, self.label)

    def find(self, name: str) -> InstalledPackage:
        """Return a distribution by its normalized name. Raises `NotFoundError`."""
        site, folders = self._find_distributions()
        found = folders.get(name, [])
        if not found:
            suggestion = suggestion_hint(name, sorted(folders))
            pip, word = shell_word(f"{self.label}/bin/pip"), shell_word(name)
            install = f"install it: `uv add {shell_word(name)}`, or `{pip} install {word}`"
            raise NotFoundError(
                f"the package {sanitize(name)} is not installed in {sanitize(self.label)}",
                where=site,
                hint=f"{suggestion} if not, {install}" if suggestion else install,
            )
        if len(found) > 1:
            raise ConflictError(
                f"{sanitize(self.label)} has several versions of {sanitize(name)}: {', '.join(map(sanitize, found))}",
                where=site,
                hint=f"uninstall {sanitize(name)}, and install it again",
            )
        return self._read_distribution(site, found[0])

    def names_with_skills(self) -> list[str]:
        """Return the normalized names of the distributions that have skills. Raises `NotFoundError`."""
        site, folders = self._find_distributions()
        return [name for name, found in sorted(folders.items()) if any(_has_skills(site, folder) for folder in found)]

    def _find_distributions(self) -> tuple[str, dict[str, list[str]]]:
        """Return the real path of site-packages, and the folders of distributions by normalized name."""
        site = self._find_site_packages()
        folders: dict[str, list[str]] = {}
        with translate_os_errors("list the installed packages", site):
            entries = sorted(os.listdir(site))
        for entry in entries:
            stem = entry.removesuffix(".dist-info")
            if stem != entry and (name := normalize_package_name("env", stem.partition("-")[0])):
                folders.setdefault(name, []).append(entry)
        return site, folders

    def _find_site_packages(self) -> str:
        candidates = [os.path.join(self.folder, "Lib", "site-packages")]  # Windows
        lib = os.path.join(self.folder, "lib")
        pythons = os.listdir(lib) if os.path.isdir(lib) else []
        newest_first = sorted(
            pythons, key=lambda name: [int(part) for part in re.findall("[0-9]+", name)], reverse=True
        )
        candidates += [os.path.join(lib, name, "site-packages") for name in newest_first]
        for candidate in candidates:
            if os.path.isdir(candidate):
                return os.path.realpath(candidate)
        problem = f"{sanitize(self.label)} is not a virtual environment: it has no site-packages"
        if self.label == ".venv" and not os.path.isdir(self.folder):
            problem = "there is no virtual environment: no .venv, and VIRTUAL_ENV is not set"
        raise NotFoundError(problem, where=self.folder, hint="create it with `uv sync`, or `python -m venv .venv`")

    def _read_distribution(self, site: str, folder: str) -> InstalledPackage:
        stem = folder.removesuffix(".dist-info")
        hashes = dict(self._read_record(site, folder))
        files: dict[str, list[str]] = {}
        for path in hashes:
            parent, _, file = path.rpartition("/")
            if f"/{parent.rpartition('/')[0]}/".endswith(f"/{SKILLS_FOLDER}"):
                files.setdefault(parent, []).append(file)
        paths = sorted(parent for parent, names in files.items() if contains_skill_file(names))
        name, _, version = stem.partition("-")
        return InstalledPackage(
            kind="env",
            name=normalize_package_name("env", name),
            version=version,
            root=site,
            paths=tuple(paths),
            hashes=hashes,
            hint=EDITABLE_HINT if not paths and _is_editable(site, folder) else self.convention,
        )

    def _read_record(self, site: str, folder: str) -> Iterator[tuple[str, str]]:
        """Yield the path and the hash of each installed file of a skill. Raises `RefusedError` for one outside."""
        path = os.path.join(site, folder, "RECORD")
        data = _read_metadata(site, folder, "RECORD")
        if data is None:
            raise NotFoundError(
                f"{sanitize(folder)} has no RECORD, which lists its files",
                where=path,
                hint="install the package with uv or pip",
            )
        try:
            lines = csv.reader(data.decode("utf-8", "replace").splitlines())
            rows = [row for row in lines if row and SKILLS_FOLDER in row[0]]
        except csv.Error as error:
            raise _record_error(folder, path, f"its RECORD is damaged: {sanitize(str(error))}") from error
        for row in rows:
            if problem := path_problem(row[0]):
                raise _record_error(folder, path, f"the path '{sanitize(row[0])}' in RECORD {problem}")
            yield row[0], row[1] if len(row) > 1 else ""


def _read_metadata(site: str, folder: str, name: str) -> bytes | None:
    """Return the bytes of a document of a distribution; None if it has none, or if its folder is a link."""
    folder = os.path.join(site, folder)
    return None if os.path.islink(folder) else read_document(os.path.join(folder, name), MAX_RECORD_SIZE)


def _has_skills(site: str, folder: str) -> bool:
    """Return whether the RECORD of a distribution may list skills; that of few does."""
    try:
        data = _read_metadata(site, folder, "RECORD")
    except FileError:
        return True  # so that the error is reported
    return data is not None and SKILLS_FOLDER.encode() in data


def _record_error(folder: str, path: str, problem: str) -> RefusedError:
    hint = "report it to its author; nothing was installed"
    return RefusedError(f"{sanitize(folder.removesuffix('.dist-info'))}: {problem}", where=path, hint=hint)


def _is_editable(site: str, folder: str) -> bool:
    """Return whether the files of a distribution are left where they are developed (PEP 610)."""
    data = _read_metadata(site, folder, "direct_url.json")
    try:
        return data is not None and json.loads(data)["dir_info"]["editable"] is True
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
