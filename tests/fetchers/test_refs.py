"""Resolving refs: branches, tags, commits, and names that could be either."""

import json
from pathlib import Path

import pytest
from fetchers.world import Project, take_requests
from kit import GitServer, Repository, make_skill


@pytest.fixture
def url(upstream: Repository, server: GitServer) -> str:
    upstream.write(make_skill("pdf", body="First.\n")).commit()
    return server.serve("acme/pdf", upstream)


def body(project: Project) -> str:
    return project.read(".agent-skills/pdf/SKILL.md").rpartition("---\n")[2]


def say(upstream: Repository, text: str, branch: str = "main") -> str:
    return upstream.write(make_skill("pdf", body=text)).commit(branch=branch)


def test_a_branch_is_followed(project: Project, upstream: Repository, url: str) -> None:
    upstream.branch("next/one")
    commit = say(upstream, "Next.\n", "next/one")

    project.run("install", url, "--branch", "next/one", check=True)

    assert body(project) == "Next.\n"
    assert project.locked_source("pdf") == {
        "git": url,
        "commit": commit,
        "tree": upstream.tree_id(revision=commit),
        "path": ".",
        "ref": "refs/heads/next/one",
    }
    say(upstream, "Later.\n", "next/one")
    project.run("update", check=True)
    assert body(project) == "Later.\n"


@pytest.mark.parametrize("annotated", [False, True], ids=["light", "annotated"])
@pytest.mark.parametrize("how", ["option", "hash"])
def test_a_tag_is_not_moved(project: Project, upstream: Repository, url: str, how: str, *, annotated: bool) -> None:
    tagged = upstream.resolve()
    upstream.tag("v1", annotated=annotated)
    say(upstream, "Later.\n")

    project.run("install", *([url, "--tag", "v1"] if how == "option" else [f"{url}#v1"]), check=True)
    project.run("update", check=True)

    assert (body(project), project.locked_source("pdf")["commit"]) == ("First.\n", tagged)
    assert json.loads(project.read("skills.json"))["skills"]["pdf"]["tag"] == "v1"


def test_a_tag_wins_over_a_branch_of_its_name(project: Project, upstream: Repository, url: str) -> None:
    upstream.tag("both")
    upstream.branch("both")
    say(upstream, "Branch.\n", "both")

    project.run("install", f"{url}#both", check=True)

    assert body(project) == "First.\n"
    assert project.locked_source("pdf")["ref"] == "refs/tags/both"


def test_a_ref_of_unknown_kind_may_be_a_branch(project: Project, upstream: Repository, url: str) -> None:
    upstream.branch("dev")
    say(upstream, "Dev.\n", "dev")

    project.run("install", f"{url}#dev@pdf", check=True)

    assert body(project) == "Dev.\n"
    assert project.locked_source("pdf")["ref"] == "refs/heads/dev"


@pytest.mark.parametrize("how", ["option", "hash"])
def test_a_commit_is_that_commit(project: Project, upstream: Repository, url: str, how: str) -> None:
    first = upstream.resolve()
    say(upstream, "Later.\n")

    project.run("install", *([url, "--rev", first] if how == "option" else [f"{url}#{first}"]), check=True)
    project.run("update", check=True)

    assert (body(project), project.locked_source("pdf")["commit"]) == ("First.\n", first)
    assert "ref" not in project.locked_source("pdf")


def test_a_commit_wins_over_a_branch_named_like_it(project: Project, upstream: Repository, url: str) -> None:
    first = upstream.resolve()
    evil = say(upstream, "Evil.\n", "evil")
    for kind in ("heads", "tags"):
        (upstream.git_dir / "refs" / kind / first).write_text(evil + "\n")

    project.run("install", url, "--rev", first, check=True)

    assert (body(project), project.locked_source("pdf")["commit"]) == ("First.\n", first)


def test_a_tag_of_a_tree_is_refused(project: Project, upstream: Repository, url: str) -> None:
    upstream.tag("tree", upstream.tree_id())

    result = project.run("install", url, "--tag", "tree")

    assert (result.code, result.stderr.splitlines()[0]) == (1, f"error: {url} has no tag `tree`")
    assert project.is_untouched


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["--branch", "nope"], "has no branch `nope`", "its branches: main"),
        (["--tag", "v9"], "has no tag `v9`", "it has no tags; its branches: main"),
        (
            ["--rev", "0" * 39 + "1"],
            f"has no commit `{'0' * 39}1`",
            "servers have only the commits that a branch or a tag leads to; check it",
        ),
    ],
)
def test_a_missing_ref_is_named(project: Project, url: str, words: list[str], message: str, hint: str) -> None:
    result = project.run("install", url, *words)

    assert (result.code, result.stderr.replace(url, "URL")) == (1, f"error: URL {message}\n  hint: {hint}\n")
    assert project.is_untouched


def test_a_missing_ref_of_unknown_kind(project: Project, url: str) -> None:
    result = project.run("install", f"{url}#nope")

    assert (result.code, result.stderr) == (
        1,
        f"error: {url} has no branch or tag `nope`\n"
        f"  hint: it has no tags; its branches: main; for a skill: {url}@nope\n",
    )


def test_an_abbreviated_commit_id_is_explained(project: Project, upstream: Repository, url: str) -> None:
    short = upstream.resolve()[:12]

    for spec in (f"{url}#{short}@pdf", f"{url}#{short}"):
        result = project.run("install", spec)

        assert result.stderr.splitlines() == [
            f"error: {url} has no branch or tag `{short}`",
            "  hint: if it is an abbreviated commit hash, use all 40 digits",
        ]
        assert result.code == 1


def test_a_branch_that_looks_like_a_short_commit_is_a_branch(project: Project, upstream: Repository, url: str) -> None:
    upstream.branch("deadbeef")

    project.run("install", f"{url}#deadbeef", check=True)

    assert project.locked_source("pdf")["ref"] == "refs/heads/deadbeef"


@pytest.mark.parametrize("ref", ["--upload-pack=id", "-x", "a..b", "a@{1}", "x.lock", "a//b", "a b", "ä", "x^", "*"])
def test_an_invalid_ref_is_never_passed_to_git(project: Project, server: GitServer, url: str, ref: str) -> None:
    result = project.run("install", url, f"--branch={ref}")

    assert (result.code, take_requests(server)) == (2, [])
    assert result.stderr.startswith("error: ")


def test_an_empty_repository(project: Project, server: GitServer, tmp_path: Path) -> None:
    url = server.serve("empty", Repository.create(tmp_path / "empty"))

    result = project.run("install", url)

    assert (result.code, result.stderr) == (1, f"error: {url} is empty: it has no commits yet\n")


def test_a_branch_may_become_a_folder_of_branches(project: Project, upstream: Repository, url: str) -> None:
    """In the cache as well, without losing what only the cache still has."""
    upstream.branch("a")
    say(upstream, "A.\n", "a")
    project.run("install", url, "--branch", "a", check=True)
    upstream.delete_branch("a")
    upstream.branch("a/b")
    say(upstream, "A/B.\n", "a/b")
    upstream.prune_unreachable()

    second = project.run("install", f"{url}#a/b", "--as", "other", check=True)
    project.delete_installed()
    project.run("sync", "--frozen", check=True)

    assert "damaged" not in second.stderr
    assert body(project) == "A.\n"


def test_branches_that_differ_in_case_are_distinct(project: Project, upstream: Repository, url: str) -> None:
    for name in ("dev", "Dev"):
        upstream.branch(name)
        say(upstream, f"{name}.\n", name)
        project.run(
            "install", url, "--branch", name, "--as", f"{name.lower()}-{len(name)}{name == 'Dev':d}", check=True
        )

    assert project.read(".agent-skills/dev-30/SKILL.md").endswith("dev.\n")
    assert project.read(".agent-skills/dev-31/SKILL.md").endswith("Dev.\n")


def test_a_moved_tag_moves_only_with_an_update(project: Project, upstream: Repository, url: str) -> None:
    upstream.tag("v1")
    project.run("install", f"{url}#v1", check=True)
    say(upstream, "Moved.\n")
    upstream.tag("v1", force=True)

    project.delete_installed()
    project.run("sync", check=True)
    before = body(project)
    project.run("update", check=True)

    assert (before, body(project)) == ("First.\n", "Moved.\n")


def test_a_ref_resolves_from_the_cache_offline(project: Project, upstream: Repository, url: str) -> None:
    upstream.branch("dev")
    project.run("install", url, "--branch", "dev", check=True)
    say(upstream, "Later.\n", "dev")

    project.run("install", f"{url}#dev", "--as", "again", "--offline", check=True)
    result = project.run("install", f"{url}#other", "--as", "third", "--offline")

    assert project.read(".agent-skills/again/SKILL.md").endswith("First.\n")
    assert (result.code, result.stderr.splitlines()[0]) == (
        1,
        f"error: not cached, and the network is disabled: {url} at other",
    )
