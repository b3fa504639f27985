"""Flat files in a skills directory, counted: whoever lists skills is told that they are none yet. Hardly read."""

import os
import re
from collections.abc import Collection, Iterator

NO_SKILL = re.compile(r"(readme|changelog|licen[cs]e|copying|contributing|code[_-]of[_-]conduct)\b.*", re.IGNORECASE)
MOST_FOLDERS = 100


def flat_files_in(directory: str, skills: Collection[str]) -> list[str]:
    """Give the Markdown files that lie at the top of a folder, or in one of its folders that is no skill.

    Where skillpm has been at work, only those with frontmatter: what `migrate` left there is meant to lie there.
    """
    found: list[str] = []
    folders: list[str] = []
    for entry in _entries(directory):
        if _is_flat(entry):
            found.append(entry.name)
        elif entry.name not in skills and entry.is_dir(follow_symlinks=False):
            folders.append(entry.name)
    for folder in folders[:MOST_FOLDERS]:
        inside = list(_entries(os.path.join(directory, folder)))
        if not any(entry.name.upper() == "SKILL.MD" for entry in inside):
            found += [f"{folder}/{entry.name}" for entry in inside if _is_flat(entry)]
    if os.path.isdir(os.path.join(directory, ".skillpm")):
        found = [path for path in found if _has_fence(os.path.join(directory, path))]
    return sorted(found)


def _has_fence(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(6).removeprefix(b"\xef\xbb\xbf").startswith((b"---", b"+++"))
    except OSError:
        return False


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry for entry in entries if not entry.name.startswith("."))
    except OSError:
        return


def _is_flat(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    return name[-3:].lower() == ".md" and not NO_SKILL.fullmatch(name) and entry.is_file(follow_symlinks=False)
