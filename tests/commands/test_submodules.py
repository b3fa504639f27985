"""Skills in submodules, which are other repositories: named with their URL, and never fetched."""

from pathlib import Path

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, make_skill, prefix_paths

MODULES = """\
[submodule "vendor skills"]
\tpath = skills/theirs
\turl = https://github.com/them/skills.git
[submodule "lib"]
\turl = ../lib.git
\tpath = vendor/lib
"""
THEIRS = "`skills/theirs` is a submodule: skillpm install https://github.com/them/skills"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


def commit_modules(repository: Repository, *, with_skill: bool) -> None:
    repository.write({".gitmodules": MODULES})
    if with_skill:
        repository.write(prefix_paths("skills/ours", make_skill("ours")))
    repository.commit()
    skills = [("160000", "theirs", "1" * 40)]
    if with_skill:
        skills.insert(0, ("40000", "ours", repository.tree_id("skills/ours")))
    repository.commit_tree(
        repository.store_tree(
            [
                ("100644", ".gitmodules", repository.resolve("main:.gitmodules")),
                ("40000", "skills", repository.store_tree(skills)),
                ("40000", "vendor", repository.store_tree([("160000", "lib", "1" * 40)])),
            ]
        )
    )


def test_a_repository_with_skills_only_in_submodules_names_them(
    project: Project, upstream: Repository, server: GitServer
) -> None:
    commit_modules(upstream, with_skill=False)
    url = server.serve("acme/skills", upstream)
    lib = url.replace("acme/skills.git", "acme/lib.git")

    for words in (
        ["install", url, "--all"],
        ["install", url],
        ["install", url, "--list"],
        ["install", f"{url}@theirs"],
    ):
        result = project.run(*words)
        assert (result.code, result.stderr) == (
            1,
            f"error: {url} has no skills: it contains no SKILL.md\n"
            f"  hint: {THEIRS}, `vendor/lib` is a submodule: skillpm install {lib}\n",
        )


def test_a_submodule_beside_skills_is_a_warning(project: Project, upstream: Repository, server: GitServer) -> None:
    commit_modules(upstream, with_skill=True)
    url = server.serve("acme/skills", upstream)
    warning = f"warning: {url}: {THEIRS}\n"

    assert warning in project.run("install", url, "--list", check=True).stderr
    assert warning in project.run("install", url, "--all", check=True).stderr
    assert "submodule" not in project.run("install", f"{url}@ours", check=True).stderr
    assert "submodule" not in project.run("sync", check=True).stderr


def test_a_skill_that_is_a_submodule_is_named(project: Project, upstream: Repository, server: GitServer) -> None:
    commit_modules(upstream, with_skill=True)
    url = server.serve("acme/skills", upstream)

    for words in ([f"{url}@theirs"], [url, "--path", "skills/theirs"]):
        result = project.run("install", *words)
        assert (result.code, result.stderr.splitlines()[-1]) == (1, f"  hint: {THEIRS}"), result.stderr
