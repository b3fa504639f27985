"""`lock --check` asks whether the branch that a skill follows has the locked commit: forges serve those of forks."""

import json
import random
from pathlib import Path
from typing import NamedTuple

import pytest
from fetchers.world import Project, take_requests
from kit import GitServer, Repository, git, make_skill, prefix_paths


class History(NamedTuple):
    """Commits by what they are; all have the same files."""

    on: dict[str, str]
    off: dict[str, str]


@pytest.fixture
def history(upstream: Repository) -> History:
    """Three commits on `main`, the last one a merge, and commits that a fork has."""

    def commit(message: str, *parents: str) -> str:
        words = [word for parent in parents for word in ("-p", parent)]
        return git("commit-tree", tree, *words, "-m", message, cwd=upstream.git_dir)

    root = upstream.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    tree = git("rev-parse", f"{root}^{{tree}}", cwd=upstream.git_dir)
    fork = commit("Fork", root)
    side = commit("Side", root)
    # A message that looks like the header of a commit whose parent is that of the fork.
    middle = commit(f"Middle\n\ntree {tree}\nparent {fork}\nauthor", root)
    tip = commit("Merge", middle, side)
    upstream.reset(tip)
    off = {
        "child of an older commit": fork,
        "child of the newest commit": commit("Future", tip),
        "grandchild": commit("Later", fork),
        "without parents": commit("Other root"),
    }
    return History(on={"tip": tip, "middle": middle, "merged": side, "root": root}, off=off)


SERVERS = ("connection", "old protocol", "file", "no filters", "no filters, file")


@pytest.fixture(params=SERVERS)
def url(request: pytest.FixtureRequest, server: GitServer, upstream: Repository, history: History) -> str:
    assert history
    if request.param.startswith("no filters"):
        (upstream.git_dir / "config").write_text("[core]\n\tbare = true\n[uploadpack]\n\tallowAnySHA1InWant = true\n")
    server.protocol_v0 = request.param == "old protocol"
    return upstream.file_url if request.param.endswith("file") else server.serve("acme/skills", upstream)


def lock_at(project: Project, commit: str) -> None:
    """Change the locked commit, as a pull request can."""
    lock = json.loads(project.read("skills.lock"))
    lock["skills"]["pdf"]["source"]["commit"] = commit
    project.write("skills.lock", json.dumps(lock, indent=2) + "\n")


@pytest.mark.parametrize("branch", ["", "#main"])
def test_a_commit_is_on_the_branch_that_the_skill_follows_or_it_is_reported(
    project: Project, url: str, history: History, branch: str
) -> None:
    project.run("install", f"{url}{branch}@pdf", check=True)
    shown = "branch main" if branch else "the default branch"
    answers = {}
    for name, commit in (*history.on.items(), *history.off.items()):
        lock_at(project, commit)
        result = project.run("lock", "--check", "--json")
        answers[name] = result.code, [each for each in result.json["proved"] if each["what"] == "branch"]
        reason = f"`pdf`: commit {commit[:7]} is not on {shown} (a force-push removed it, or skills.lock was edited)"
        assert result.json["reasons"] == ([reason] if name in history.off else []), name

    proved = [{"name": "pdf", "what": "branch"}]
    assert answers == {**dict.fromkeys(history.on, (0, proved)), **dict.fromkeys(history.off, (1, []))}


def test_update_is_the_way_out(project: Project, server: GitServer, upstream: Repository, history: History) -> None:
    """A force-push looks the same as an edited lockfile, so that a person has to look."""
    project.run("install", f"{server.serve('acme/skills', upstream)}@pdf", check=True)
    old = history.on["tip"]
    upstream.reset(history.off["without parents"])

    result = project.run("lock", "--check")

    assert (result.code, result.stderr.splitlines()[-3:]) == (
        1,
        [
            f"error: the lockfile is not what its branches lead to: `pdf`: commit {old[:7]} is not on the default "
            "branch (a force-push removed it, or skills.lock was edited)",
            f"  where: {project.work}/skills.lock",
            "  hint: check why they changed; `skillpm update pdf` locks what they lead to now",
        ],
    )
    project.run("sync", "--frozen", check=True)  # what is locked is installed, as with a tag that moved
    upstream.write({"skills/pdf/notes.md": "New.\n"}).commit()
    project.run("update", "pdf", check=True)
    assert project.run("lock", "--check", check=True).stderr.splitlines() == [
        "proved: content of pdf",
        "proved: branch of pdf",
    ]


def test_an_update_without_new_content_is_a_way_out_too(
    project: Project, server: GitServer, upstream: Repository, history: History
) -> None:
    project.run("install", f"{server.serve('acme/skills', upstream)}@pdf", check=True)
    lock_at(project, history.off["grandchild"])

    project.run("update", "pdf", check=True)

    project.run("lock", "--check", check=True)


def test_a_branch_that_is_gone_is_reported(
    project: Project, server: GitServer, upstream: Repository, history: History
) -> None:
    upstream.branch("next", history.on["middle"])
    project.run("install", f"{server.serve('acme/skills', upstream)}#next@pdf", check=True)
    upstream.branch("next2", history.on["middle"])  # whose name begins like that of the other one
    upstream.delete_branch("next")

    result = project.run("lock", "--check", "--json")

    assert (result.code, result.json["reasons"]) == (1, ["`pdf`: branch next no longer exists"])


@pytest.mark.parametrize("ref", ["", "refs/heads/pull/7", "refs/tags/evil", "{commit}"])
def test_another_ref_in_the_lockfile_excuses_nothing(
    project: Project, server: GitServer, upstream: Repository, history: History, ref: str
) -> None:
    fork = history.off["child of an older commit"]
    upstream.branch("pull/7", fork)
    upstream.tag("evil", fork)
    project.run("install", f"{server.serve('acme/skills', upstream)}@pdf", check=True)
    lock = json.loads(project.read("skills.lock"))
    lock["skills"]["pdf"]["source"] |= {"commit": fork, "ref": ref.format(commit=fork)}
    project.write("skills.lock", json.dumps(lock))

    assert project.run("lock", "--check").code == 1


def test_a_commit_that_was_asked_for_by_its_id_needs_no_branch(
    project: Project, server: GitServer, upstream: Repository, history: History
) -> None:
    fork = history.off["grandchild"]
    project.run("install", f"{server.serve('acme/skills', upstream)}#{fork}@pdf", check=True)

    assert project.run("lock", "--check", check=True).stderr == "proved: content of pdf\n"


def test_a_large_repository_without_filters_proves_nothing_and_sends_little(
    project: Project, server: GitServer, tmp_path: Path
) -> None:
    plain = Repository.create(tmp_path / "plain", partial_clone=False)
    old = plain.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    url = server.serve("plain", plain)
    project.run("install", f"{url}@pdf", check=True)
    plain.write({"data.bin": random.Random(1).randbytes(3_000_000)}).commit()
    server.add_fault(" fetch$", "stall-in-body")

    result = project.run("lock", "--check")

    assert result.stderr.splitlines()[-1] == (
        f"not proved: branch of pdf: the server supports no filters, and {old[:7]} is not the newest commit"
    )


def test_the_newest_commit_costs_one_request_and_an_older_one_two(
    project: Project, server: GitServer, upstream: Repository, history: History
) -> None:
    upstream.write(
        {f"skills/s{n}/{path}": text for n in range(5) for path, text in make_skill(f"s{n}").items()}
    ).commit()
    url = server.serve("acme/skills", upstream)
    project.run("install", url, "--all", check=True)
    project.run("lock", "--check", check=True)
    take_requests(server)
    project.run("lock", "--check", check=True)
    at_tip = take_requests(server)
    for number in range(200):
        upstream.write({"notes.md": f"{number}\n" * 1_000}).commit()

    server.clear_requests()
    project.run("lock", "--check", check=True)
    behind = server.bytes_out

    assert at_tip == ["info", "ls-refs"]
    assert take_requests(server) == ["info", "ls-refs", "fetch"]
    assert behind < 60_000  # 200 commits without their files
    assert history
