"""`validate`: judge skills as their author has them on disk, every finding at once."""

import os
from collections.abc import Iterator, Sequence

from skillpm.documents.findings import Finding
from skillpm.documents.text import show
from skillpm.documents.validity import Verdict, judge
from skillpm.errors import NotFoundError
from skillpm.files import told
from skillpm.installing.survey import walk_files
from skillpm.operations.tools import Tools
from skillpm.values import Value

SKILL_FILE = "SKILL.md"
NEVER_ENTERED = frozenset([".git", "node_modules", ".skillpm"])
DEEPEST = 6


class Judged(Value):
    """One skill on disk and the verdict on it; `lines` is its text, for showing where a finding stands."""

    path: str
    name: str
    verdict: Verdict
    lines: tuple[str, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, by line."""
        return self.verdict.findings


def validate(tools: Tools, paths: Sequence[str]) -> list[Judged]:
    """Judge the skills at these paths: a SKILL.md, a skill's folder, or a folder of many.

    Raises `NotFoundError` for a path that is or holds no skill.
    """
    judged: list[Judged] = []
    for path in paths or (".",):
        whole = os.path.join(tools.settings.working_directory, path)
        folders = list(_skill_folders(whole))
        if not folders:
            raise NotFoundError(f"{show(path)} holds no SKILL.md", hint="name a skill's folder, or a folder of skills")
        judged.extend(_judged(folder, tools.settings.working_directory) for folder in folders)
    return judged


def _skill_folders(path: str) -> Iterator[str]:
    """Give the folders of skills at or below a path; a skill inside a skill is a part of that one."""
    if os.path.basename(path) == SKILL_FILE and os.path.isfile(path):
        yield os.path.dirname(path)
        return
    todo = [(path, 0)]
    while todo:
        folder, depth = todo.pop()
        if os.path.isfile(os.path.join(folder, SKILL_FILE)):
            yield folder
        elif depth < DEEPEST and os.path.isdir(folder):
            with told("look for skills", folder), os.scandir(folder) as entries:
                below = [e for e in entries if e.is_dir(follow_symlinks=False) and e.name not in NEVER_ENTERED]
            todo.extend((entry.path, depth + 1) for entry in sorted(below, key=lambda e: e.name, reverse=True))


def _judged(folder: str, base: str) -> Judged:
    path = os.path.join(folder, SKILL_FILE)
    with told("read a skill", path):
        with open(path, "rb") as file:
            data = file.read()
        files = [name for name, _ in walk_files(folder)]
    name = os.path.basename(os.path.realpath(folder))
    return Judged(
        path=os.path.relpath(path, base),
        name=name,
        verdict=judge(data, name, files),
        lines=tuple(data.decode("utf-8", "replace").splitlines()),
    )
