"""A file that grew beyond any limit is reported as modified. It is neither read nor held in memory."""

import os
import shutil
from pathlib import Path

import pytest
from fetchers.world import Project

TERABYTE = 10**12  # takes no space; reading it would take longer than any timeout of a test
REFUSED = "error: `code-review` is refused: not-audited: the folder has {}, so not all of it was audited"
BLOCKED = "error: blocked by local changes; nothing was changed"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("original"))
    project.run("install", "code-review", check=True)
    return project


@pytest.fixture
def grown(original: Project, tmp_path: Path) -> Project:
    """Return a project with a SKILL.md of a terabyte."""
    shutil.copytree(original.root, tmp_path / "grown", symlinks=True)
    project = Project(tmp_path / "grown")
    project.write("skills.json", original.read("skills.json"))
    os.truncate(project.work / ".agent-skills/code-review/SKILL.md", TERABYTE)
    return project


@pytest.mark.parametrize(
    ("command", "code", "line"),
    [
        ("list", 0, "code-review 1.0.0  [modified]"),
        ("sync", 1, REFUSED.format("more than 100,000,000 bytes")),
        ("sync --force", 0, " ~ code-review 1.0.0  (edited since it was installed; backed up first)"),
        ("verify", 1, "    modified: SKILL.md"),
        ("diff code-review", 0, "modified: SKILL.md (binary or too large to compare)"),
        ("doctor", 1, "problem: code-review is modified: edited since it was installed (SKILL.md modified)"),
        ("uninstall code-review", 1, BLOCKED),
    ],
)
def test_a_grown_file_is_not_read(grown: Project, command: str, code: int, line: str) -> None:
    result, cost = grown.run_measured(*command.split())

    assert (result.code, line in (result.stdout + result.stderr).splitlines()) == (code, True), result
    assert cost.peak_megabytes < 100


def test_a_large_file_that_was_added_is_not_read(grown: Project, original: Project) -> None:
    grown.write(".agent-skills/code-review/SKILL.md", original.read(".agent-skills/code-review/SKILL.md"))
    os.truncate(grown.write(".agent-skills/code-review/model.bin", b""), TERABYTE)

    result, _ = grown.run_measured("sync", "--frozen")

    line = REFUSED.format("a file of more than 25,000,000 bytes")
    assert (result.code, result.stderr.splitlines()[0]) == (1, line)
