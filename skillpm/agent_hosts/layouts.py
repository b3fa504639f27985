"""Find candidate skill files in a folder, in one of five layouts.

Links are followed as the root's profile says. No folder is entered twice, whichever links point at it, so link cycles
end.
"""

import errno
import json
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from skillpm.agent_hosts.roots import SearchRoot
from skillpm.core.json_text.decoder import load_json
from skillpm.core.names import path_problem
from skillpm.core.text import one_line, sanitize
from skillpm.files import OS_ERROR_REASONS, is_below
from skillpm.formats.host_profile import Layout
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.disk.skill_file import read_regular_file
from skillpm.registry.foreign_registry import INVALID_JSON, NOT_A_REGISTRY, parse_entry

SKILL_FILE, LOWERCASE_SKILL_FILE = "SKILL.md", "skill.md"
SKIPPED_FOLDERS = frozenset([".git", "node_modules"])
NON_SKILL_STEMS = frozenset(["readme", "changelog", "license", "contributing", "skill"])
MAX_FOLDERS = 100_000
MAX_REGISTRY_SIZE = 16_000_000  # bytes; hostile JSON takes up to sixty times its size in memory
WarnAt = Callable[[str, str], None]  # called with a path and a message


class CandidateFile(NamedTuple):
    """A file that may be a skill."""

    path: str
    # The name of the skill if its file declares none.
    name: str
    # A Markdown file among others, which is only a skill if it has frontmatter.
    is_flat: bool = False
    # Its entry in a registry, which is the metadata.
    registered: RegistryEntry | None = None


def find_candidates(root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    """Yield the candidates in a folder, sorted by path. Unreadable folders cause a warning and are skipped."""
    return WALKERS[root.profile_root.layout](root, warn)


def _walk_dir(root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    """`*/SKILL.md`."""
    for entry in _list_entries(root.path, warn):
        if _is_searchable(entry, root, warn):
            yield CandidateFile(f"{entry.path}/{SKILL_FILE}", entry.name)


class _Folder(NamedTuple):
    """A folder to search."""

    is_link: bool
    path: str
    in_skill: bool


def _walk_tree(root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    """`**/SKILL.md`: level by level, so that a folder is reached by its shortest path."""
    candidates: list[CandidateFile] = []
    seen: set[tuple[int, int]] = set()
    level = [_Folder(is_link=False, path=root.path, in_skill=False)]
    for _ in range(root.profile_root.depth + 1):
        next_level: list[_Folder] = []
        # Real folders sort before links (False < True): a skill is reported under its real path.
        for folder in sorted(level):
            path = folder.path
            if _is_first_visit(path, seen, warn):
                entries = _list_entries(path, warn)
                is_skill = any(entry.name in {SKILL_FILE, LOWERCASE_SKILL_FILE} for entry in entries)
                if is_skill:
                    candidates.append(CandidateFile(f"{path}/{SKILL_FILE}", os.path.basename(path)))
                if not is_skill or root.profile_root.nested:
                    # Broken links inside a skill do not concern discovery.
                    in_skill = is_skill or folder.in_skill
                    warn_below = (lambda _path, _message: None) if in_skill else warn
                    next_level += [
                        _Folder(e.is_symlink(), e.path, in_skill)
                        for e in entries
                        if _is_searchable(e, root, warn_below)
                    ]
        if len(seen) + len(next_level) > MAX_FOLDERS:
            warn(root.path, f"more than {MAX_FOLDERS} folders below; deeper ones were not searched")
            break
        level = next_level
    else:
        if unsearched := [folder.path for folder in level if not folder.in_skill]:
            warn(min(unsearched), f"folders deeper than {root.profile_root.depth} levels are not searched")
    yield from sorted(candidates, key=lambda candidate: candidate.path.split("/"))


def _walk_flat(root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    """`*.md` with frontmatter."""
    return _list_flat_files(root.path, root, warn)


def _walk_category(root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    """`<category>/<skill>.md` with frontmatter; a folder with a SKILL.md is a skill, not a category."""
    for entry in _list_entries(root.path, warn):
        if _is_searchable(entry, root, warn) and not os.path.lexists(f"{entry.path}/{SKILL_FILE}"):
            yield from _list_flat_files(entry.path, root, warn)


def _walk_registry(root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    """The entries of another tool's `skills.json`, which is untrusted, whose files exist."""
    file = f"{root.path}/skills.json"
    real_folder = os.path.realpath(root.path)
    for index, entry in enumerate(_read_registry(file, warn)):
        where = f"skills.{index}"
        fields = entry if isinstance(entry, dict) else {}
        name, path = fields.get("name"), fields.get("filePath")
        if not isinstance(name, str) or not name.strip() or not isinstance(path, str):
            warn(file, f"{where}: an entry needs a `name` and a `filePath`")
        elif problem := path_problem(path.removeprefix("./")):
            warn(
                file,
                f"{where}: the filePath of `{sanitize(name, 60)}` {problem}, so it is refused: {sanitize(path, 80)}",
            )
        elif not os.path.isfile(full := os.path.join(root.path, path.removeprefix("./"))):
            warn(file, f"{where}: the file of `{sanitize(name, 60)}` is missing: {sanitize(path, 80)}")
        elif not is_below(os.path.realpath(full), real_folder):
            warn(file, f"{where}: the filePath of `{sanitize(name, 60)}` points outside the folder, so it is refused")
        else:
            yield CandidateFile(full, one_line(name), registered=parse_entry(fields))


def _read_registry(file: str, warn: WarnAt) -> list[object]:
    problem = NOT_A_REGISTRY
    try:
        data = read_regular_file(file, MAX_REGISTRY_SIZE + 1)[0]
        if len(data) > MAX_REGISTRY_SIZE:
            problem = f"over {MAX_REGISTRY_SIZE} bytes, so it is not read"
        else:
            top = load_json(data.decode(json.detect_encoding(data)))
            if isinstance(top, dict) and isinstance(skills := top.get("skills"), list):
                return skills
    except FileNotFoundError:
        problem = "missing, so the folder has no skills"
    except OSError as error:
        problem = error.strerror or "cannot be read"
    except (ValueError, RecursionError):
        problem = INVALID_JSON
    warn(file, problem)
    return []


def _list_flat_files(folder: str, root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    for entry in _list_entries(folder, warn):
        stem, end = os.path.splitext(entry.name)
        if end.lower() == ".md" and stem.lower() not in NON_SKILL_STEMS and not _is_hidden(entry.name, root):
            yield CandidateFile(entry.path, stem, is_flat=True)


WALKERS: dict[Layout, Callable[[SearchRoot, WarnAt], Iterator[CandidateFile]]] = {
    "dir": _walk_dir,
    "tree": _walk_tree,
    "flat": _walk_flat,
    "category": _walk_category,
    "registry": _walk_registry,
}


def _list_entries(folder: str, warn: WarnAt) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        warn(folder, f"cannot read the folder: {describe_error(error)}")
        return []


def _is_searchable(entry: os.DirEntry[str], root: SearchRoot, warn: WarnAt) -> bool:
    """Return whether an entry is a folder that this root searches."""
    is_skipped = entry.name in SKIPPED_FOLDERS and not (entry.name == "node_modules" and root.profile_root.modules)
    if is_skipped or _is_hidden(entry.name, root):
        return False
    try:
        if not entry.is_symlink():
            return entry.is_dir()
        if root.profile_root.links in {"none", "files"}:
            return False
        if not os.path.exists(entry.path):
            warn(entry.path, "broken link")
            return False
        return entry.is_dir() and not is_escaping_link(entry.path, root, warn)
    except OSError as error:
        warn(entry.path, f"cannot be inspected: {describe_error(error)}")
        return False


def is_escaping_link(path: str, root: SearchRoot, warn: WarnAt) -> bool:
    """Return whether a link leaves a root that its links must not leave, and warn about it."""
    if root.profile_root.links != "inside" or is_below(os.path.realpath(path), os.path.realpath(root.path)):
        return False
    warn(path, "the link points outside its folder, so it is not followed")
    return True


def _is_hidden(name: str, root: SearchRoot) -> bool:
    return name.startswith(".") and not root.profile_root.hidden


def _is_first_visit(path: str, seen: set[tuple[int, int]], warn: WarnAt) -> bool:
    """Return whether a folder is visited for the first time, by any path."""
    try:
        state = os.stat(path)
    except OSError as error:
        warn(path, f"cannot read the folder: {describe_error(error)}")
        return False
    identity = (state.st_dev, state.st_ino)
    is_new = identity not in seen
    seen.add(identity)
    return is_new


def describe_error(error: OSError) -> str:
    """Return the reason of a file system error in words."""
    if error.errno == errno.ELOOP:
        return "symlink loop"
    return OS_ERROR_REASONS.get(error.errno or 0, error.strerror or "unknown error")
