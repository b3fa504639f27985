"""Twenty thousand files: refused if they are in the skill, and never fetched if they are beside it."""

from pathlib import Path

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, make_skill

pytestmark = pytest.mark.slow

FILES = 20_000
FILE, FOLDER = "100644", "40000"


def wide(upstream: Repository, *more: tuple[str, str, str]) -> str:
    """Create a tree of a hundred folders with twenty thousand different files of a kilobyte."""
    rows = []
    for folder in range(100):
        blobs = [upstream.hash_object(f"{folder} " * 300)] * (FILES // 100)
        tree = upstream.store_tree([(FILE, f"{n:03}.txt", blob) for n, blob in enumerate(blobs)])
        rows.append((FOLDER, f"{folder:02}", tree))
    return upstream.store_tree(sorted([*rows, *more], key=lambda row: row[1]))


def small(upstream: Repository, name: str) -> str:
    return upstream.hash_object(make_skill(name)["SKILL.md"])


def test_a_skill_of_twenty_thousand_files_is_refused(project: Project, server: GitServer, upstream: Repository) -> None:
    upstream.commit_tree(
        upstream.store_tree([(FOLDER, "evil", wide(upstream, (FILE, "SKILL.md", small(upstream, "evil"))))])
    )
    before = project.snapshot()

    result, cost = project.run_measured("install", f"{server.serve('evil', upstream)}@evil")

    assert (result.code, result.stderr) == (
        1,
        "error: skill evil: more than 5000 files\n  hint: if you trust it, raise SKILLPM_MAX_FILES\n",
    )
    assert (project.snapshot() == before, cost.peak_megabytes < 300) == (True, True)


@pytest.mark.parametrize("words", [["--path", "good"], []], ids=["path", "search"])
def test_twenty_thousand_files_beside_a_skill_are_not_fetched(
    project: Project, server: GitServer, upstream: Repository, words: list[str]
) -> None:
    good = upstream.store_tree([(FILE, "SKILL.md", small(upstream, "good"))])
    upstream.commit_tree(upstream.store_tree([(FOLDER, "good", good), (FOLDER, "src", wide(upstream))]))

    project.run("install", server.serve("wide", upstream), *words, check=True)

    assert project.installed_files("good") == {"SKILL.md": (FILE, make_skill("good")["SKILL.md"])}
    packs = project.git_cache.rglob("*.pack")
    assert sum(path.stat().st_size for path in packs) < 500_000  # only their trees, not their contents


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")
