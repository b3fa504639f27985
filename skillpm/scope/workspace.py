"""Workspaces: a root manifest whose `members` name folders below it, which share the root's lockfile (ADR 33).

A repository decides what its manifest contains, so nothing here follows a link: a member is a real folder below the
root, and what is written to it stays there.
"""

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from skillpm.core.json_text.decoder import parse_json
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError
from skillpm.files import is_below, read_text
from skillpm.formats.manifest import document_kind, read_manifest

MANIFEST = "skills.json"
KEY = '"members"'


class Members(Value):
    """The folders of a workspace's members, relative to the root and sorted, and the patterns that match none."""

    folders: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()


def find_members(root: str, patterns: tuple[str, ...]) -> Members:
    """Return the folders that match and have a manifest. Raises `ConflictError` for a link that leads out of the root.

    Not a member is a folder without a manifest, a link to another folder, or what belongs to a repository of its own.
    """
    found = {pattern: [*_expand(root, "", pattern.split("/"))] for pattern in patterns}
    folders = sorted({folder for each in found.values() for folder in each})
    return Members(folders=tuple(folders), unmatched=tuple(pattern for pattern in patterns if not found[pattern]))


def find_workspace_root(folder: str, enclosing: Iterable[str]) -> str:
    """Return the first of the enclosing folders whose manifest has this folder as a member; empty if none has.

    Their owner must be the same: outside of git, folders above may belong to others, and anyone may write to `/tmp`.
    """
    for above in enclosing:
        manifest = os.path.join(above, MANIFEST)
        text = read_text(manifest) if _has_same_owner(folder, manifest) else None
        if text is None or KEY not in text or document_kind(parse_json(text, manifest)) != "manifest":
            continue
        parts = os.path.relpath(folder, above).split(os.sep)
        patterns = read_manifest(text, manifest).members
        if any(_matches(parts, pattern.split("/")) for pattern in patterns) and not _has_link(above, parts):
            return above
    return ""


def _matches(parts: list[str], pattern: list[str]) -> bool:
    return len(parts) == len(pattern) and all(map(_part_matches, parts, pattern))


def _part_matches(name: str, pattern: str) -> bool:
    # Brackets are ordinary characters, as in the folders of some web frameworks: `app/[id]`.
    return not name.startswith(".") and fnmatchcase(name, pattern.replace("[", "[[]"))


def _expand(root: str, folder: str, pattern: list[str]) -> Iterator[str]:
    """Yield the folders below `folder` that match the rest of a pattern, and have a manifest."""
    path = os.path.join(root, folder)
    if not pattern:
        if _has_manifest(path):
            yield folder
        return
    try:
        with os.scandir(path) as entries:
            matching = [entry for entry in entries if _part_matches(entry.name, pattern[0])]
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in sorted(matching, key=lambda entry: entry.name):
        if entry.is_symlink():
            _refuse_escaping_link(root, entry.path)
        elif entry.is_dir() and not os.path.lexists(os.path.join(entry.path, ".git")):
            yield from _expand(root, f"{folder}/{entry.name}".lstrip("/"), pattern[1:])


def _has_manifest(folder: str) -> bool:
    """Return whether a folder is a project. The registry of a skills directory has the same name."""
    manifest = os.path.join(folder, MANIFEST)
    text = read_text(manifest)
    return text is not None and document_kind(parse_json(text, manifest)) != "registry"


def _refuse_escaping_link(root: str, path: str) -> None:
    if os.path.isdir(path) and not is_below(os.path.realpath(path), os.path.realpath(root)):
        raise ConflictError(
            f"{sanitize(path)} is a link that points outside the project, so it cannot be a member",
            where=f"{os.path.join(root, MANIFEST)}: members",
            hint="remove the link, or choose patterns that do not match it",
        )


def _has_link(root: str, parts: list[str]) -> bool:
    paths = (os.path.join(root, *parts[: count + 1]) for count in range(len(parts)))
    return any(map(os.path.islink, paths))


def _has_same_owner(folder: str, manifest: str) -> bool:
    try:
        return os.stat(manifest).st_uid == os.stat(folder).st_uid  # in this order: most folders have none
    except OSError:
        return False
