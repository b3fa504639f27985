"""`files` of a requirement: which files of a repository belong to the skill, in the manifest and in the lockfile."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fetchers.world import Project, take_requests
from kit import GitServer, Repository, make_skill

FILES = ["SKILL.md", "README.md", "references/a.md", "references/deep/b.md", "src/main.py", "src/test_main.py"]


@pytest.fixture
def url(upstream: Repository, server: GitServer) -> str:
    """A repository that is one skill, with files that do not belong to it."""
    texts = {path: f"This is {path}.\n" for path in FILES[1:]}
    upstream.write(make_skill("tool") | texts | {"src/large.bin": Random(1).randbytes(200_000)}).commit()
    return server.serve("acme/tool", upstream)


def require(project: Project, url: str, *patterns: str) -> None:
    requirement = {"git": url, "path": ".", "files": [*patterns]}
    project.write("skills.json", json.dumps({"skills": {"tool": requirement}}) + "\n")


def installed(project: Project) -> list[str]:
    folder = project.work / ".agent-skills/tool"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["references"], ["SKILL.md", "references/a.md", "references/deep/b.md"]),
        (["/references/*"], ["SKILL.md", "references/a.md", "references/deep/b.md"]),
        (["*.md", "!README.md"], ["SKILL.md", "references/a.md", "references/deep/b.md"]),
        (["src/**", "!test_*", "!*.bin"], ["SKILL.md", "src/main.py"]),
        (["nosuch"], ["SKILL.md"]),
        (["*", "!SKILL.md", "!src"], ["README.md", "SKILL.md", "references/a.md", "references/deep/b.md"]),
    ],
    ids=" ".join,
)
def test_patterns_choose_files(project: Project, url: str, patterns: Sequence[str], expected: Sequence[str]) -> None:
    require(project, url, *patterns)

    project.run("sync", check=True)

    assert installed(project) == expected
    assert project.locked_source("tool")["files"] == [*patterns]
    assert project.run("verify").code == 0
    assert project.run("sync", "--json", check=True).json["changed"] is False


def test_a_pattern_that_matches_nothing_is_reported(project: Project, url: str) -> None:
    require(project, url, "refrences/", "src/*.py", "!*.toml")

    warnings = project.run("sync", "--json", check=True).json["warnings"]

    assert [each for each in warnings if "`files`" in each] == [
        "tool: `refrences/` in `files` matches no file",
    ]


@pytest.mark.parametrize("pattern", ["", "!", "# a comment", "a\nb", "*******", "x" * 1001])
def test_an_invalid_pattern_is_refused(project: Project, url: str, pattern: str) -> None:
    require(project, url, pattern)

    error = project.run("sync", "--json").json["error"]

    assert (error["code"], error["message"][:16]) == ("document", "invalid pattern ")
    assert error["where"].endswith("skills.json:1:112: skills.tool.files") or "skills.tool.files" in error["where"]


def test_a_fresh_clone_fetches_only_the_chosen_files(
    project: Project, server: GitServer, url: str, tmp_path: Path
) -> None:
    require(project, url, "references")
    project.run("sync", check=True)
    clone = project.clone(tmp_path / "clone")
    server.clear_requests()

    clone.run("sync", "--frozen", check=True)

    assert installed(clone) == installed(project)
    assert server.bytes_out < 20_000
    take_requests(server)
    clone.run("sync", "--frozen", check=True)
    assert take_requests(server) == []


def test_two_skills_may_choose_different_files_of_one_folder(project: Project, url: str) -> None:
    skills = {
        name: {"git": url, "path": ".", "files": files} for name, files in (("one", ["references"]), ("two", ["src"]))
    }
    project.write("skills.json", json.dumps({"skills": skills}))

    project.run("sync", check=True)

    assert project.exists(".agent-skills/one/references/a.md")
    assert not project.exists(".agent-skills/one/src")
    assert not project.exists(".agent-skills/two/references")
    assert project.exists(".agent-skills/two/src/main.py")


def test_install_records_the_patterns_and_keeps_them(project: Project, upstream: Repository, url: str) -> None:
    upstream.tag("v1.0.0")
    project.run("install", url, "--files", "references", "--files", "!deep", check=True)
    assert json.loads(project.read("skills.json"))["skills"]["tool"]["files"] == ["references", "!deep"]
    assert installed(project) == ["SKILL.md", "references/a.md"]

    project.run("install", url, check=True)
    project.run("install", f"{url}#v1.0.0", check=True)

    requirement = json.loads(project.read("skills.json"))["skills"]["tool"]
    assert (requirement["tag"], requirement["files"]) == ("v1.0.0", ["references", "!deep"])
    assert installed(project) == ["SKILL.md", "references/a.md"]
    project.run("install", url, "--files", "src", "--force", check=True)
    assert json.loads(project.read("skills.json"))["skills"]["tool"]["files"] == ["src"]


def test_update_follows_the_chosen_files_only(project: Project, upstream: Repository, url: str) -> None:
    require(project, url, "references")
    project.run("sync", check=True)
    upstream.write({"references/c.md": "New.\n", "src/new.py": "pass\n"}).commit()

    project.run("update", check=True)

    assert installed(project) == ["SKILL.md", "references/a.md", "references/c.md", "references/deep/b.md"]


def change_lock(project: Project, **parts: Any) -> None:
    lock = json.loads(project.read("skills.lock"))
    skill = lock["skills"]["tool"]
    digest = parts.pop("digest", None)
    skill["digest"] = digest or skill["digest"]
    skill["source"] |= parts
    skill["source"] = {key: value for key, value in skill["source"].items() if value is not None}
    project.write("skills.lock", json.dumps(lock, indent=2))


@pytest.fixture
def whole(url: str, tmp_path: Path, project: Project) -> str:
    """Return the digest of the whole repository, which this machine has in its store."""
    other = Project(tmp_path / "whole")
    other.run("install", url, env={"SKILLPM_CACHE_DIR": str(project.cache)}, check=True)
    return str(json.loads(other.read("skills.lock"))["skills"]["tool"]["digest"])


@pytest.mark.parametrize("cache", ["cold", "warm git", "warm"])
def test_a_lockfile_with_the_digest_of_other_files_is_refused(
    project: Project, url: str, whole: str, tmp_path: Path, cache: str
) -> None:
    require(project, url, "references")
    project.run("sync", check=True)
    victim = project.clone(tmp_path / "victim")
    change_lock(victim, digest=whole)
    env = {} if cache == "cold" else {"SKILLPM_CACHE_DIR": str(project.cache)}
    if cache == "warm git":
        shutil.rmtree(project.cache / "v1/store")

    for command in (["sync", "--frozen"], ["sync", "--locked"], ["sync"]):
        error = victim.run(*command, "--json", env=env).json["error"]
        assert (error["code"], error["skills"]) == ("digest-mismatch", ["tool"])
    assert not victim.exists(".agent-skills/tool")


@pytest.mark.parametrize("files", [None, ["src"], ["references", "src"]], ids=str)
def test_a_lockfile_with_other_patterns_than_the_manifest_is_refused(
    project: Project, url: str, whole: str, tmp_path: Path, files: list[str] | None
) -> None:
    require(project, url, "references")
    project.run("sync", check=True)
    victim = project.clone(tmp_path / "victim")
    change_lock(victim, files=files, digest=whole if files is None else None)

    for command in (["sync", "--frozen"], ["sync", "--locked"], ["sync"], ["install", "testing"]):
        error = victim.run(*command, "--json", env={"SKILLPM_CACHE_DIR": str(project.cache)}).json["error"]
        assert error["code"] == "refused", error
        assert error["message"].endswith("but the manifest requires `references` of its files")
    assert not victim.exists(".agent-skills/tool")


def test_a_dependency_cannot_choose_files(project: Project, url: str, server: GitServer, tmp_path: Path) -> None:
    other = Repository.create(tmp_path / "other")
    needs = {"skills": {"tool": {"git": "https://github.com/acme/tool", "files": ["src"]}}}
    other.write(make_skill("needy") | {"skills.json": json.dumps(needs)}).commit()

    error = project.run("install", server.serve("acme/needy", other), "--json").json["error"]

    assert (error["code"], error["message"]) == (
        "refused",
        "`needy` requires only some files of `tool`, which only your skills.json may choose",
    )
