"""A locked tree is proved to be that of its commit, whatever the caches hold: the commit is what people review."""

import json
import random
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fetchers.packing import git_pack, pack_entry
from fetchers.world import Project, take_requests
from kit import GitServer, Repository, make_skill, prefix_paths
from kit.answers import Response
from kit.faults import late, render_head

PROOF = ["info", "fetch"]


@pytest.fixture
def url(upstream: Repository, server: GitServer) -> str:
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body="good\n"))).commit()
    return server.serve("acme/skills", upstream)


@pytest.fixture
def evil(tmp_path: Path, upstream: Repository, url: str) -> dict[str, str]:
    """Return tree and digest of content that the server has, too, but on no reviewed commit."""
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body="evil\n"))).commit(branch="pull/7")
    other = Project(tmp_path / "evil")
    other.run("install", f"{url}#pull/7@pdf", check=True)
    return {"tree": other.locked_source("pdf")["tree"], "digest": locked_skill(other)["digest"]}


def locked_skill(project: Project) -> dict[str, Any]:
    skill: dict[str, Any] = json.loads(project.read("skills.lock"))["skills"]["pdf"]
    return skill


def forge(project: Project, **parts: str) -> None:
    """Change values of the lockfile, as a pull request can."""
    locked = locked_skill(project)
    text = project.read("skills.lock")
    for key, value in parts.items():
        text = text.replace(locked[key] if key == "digest" else locked["source"][key], value)
    project.write("skills.lock", text)


MISMATCH = "does not match the lockfile: expected tree"


@pytest.mark.parametrize("spec", ["@pdf", "#main@pdf", "#COMMIT@pdf"])
@pytest.mark.parametrize("cache", ["cold", "warm git", "warm store"])
def test_content_of_another_commit_is_refused_with_any_cache(
    project: Project, upstream: Repository, url: str, evil: dict[str, str], tmp_path: Path, spec: str, cache: str
) -> None:
    project.run("install", url + spec.replace("COMMIT", upstream.commit("Change nothing")), check=True)
    if cache != "cold":
        # Somebody installed the other content on this machine: as a preview of the pull request, say.
        project.clone(tmp_path / "preview").run(
            "install", f"{url}#pull/7@pdf", env={"SKILLPM_CACHE_DIR": str(project.cache)}, check=True
        )
    victim = project.clone(tmp_path / "victim")
    forge(victim, **evil)
    before = victim.snapshot()
    env = {} if cache == "cold" else {"SKILLPM_CACHE_DIR": str(project.cache)}
    if cache == "warm git":
        shutil.rmtree(project.cache / "v1/store")

    for words in (["sync", "--frozen"], ["sync", "--locked"], ["sync"]):
        result = victim.run(*words, env=env)
        assert (result.code, MISMATCH in result.stderr) == (1, True), result.stderr

    assert victim.snapshot() == before


@pytest.mark.parametrize("parts", [{"commit": "0" * 40}, {"path": "-oProxyCommand=touch evil"}])
def test_a_commit_or_path_that_does_not_exist_is_refused(
    project: Project, url: str, tmp_path: Path, parts: dict[str, str]
) -> None:
    project.run("install", f"{url}@pdf", check=True)
    victim = project.clone(tmp_path / "victim")
    forge(victim, **parts)

    for cache in (project.cache, victim.cache):
        assert victim.run("sync", "--frozen", env={"SKILLPM_CACHE_DIR": str(cache)}).code == 1
    assert not victim.exists(".agent-skills/pdf")


def test_a_server_that_leaves_out_the_trees_of_a_commit_proves_nothing(
    project: Project, upstream: Repository, server: GitServer, url: str, evil: dict[str, str], tmp_path: Path
) -> None:
    project.run("install", f"{url}@pdf", check=True)
    victim = project.clone(tmp_path / "victim")
    forge(victim, **evil)
    words = ["git", "-C", str(upstream.path), "cat-file", "commit", locked_skill(victim)["source"]["commit"]]
    commit = subprocess.run(words, check=True, capture_output=True).stdout
    packet = b"\1" + git_pack([pack_entry(1, commit)])

    def send_commit(client: socket.socket, response: Response) -> None:
        body = b"000dpackfile\n%04x%b0000" % (len(packet) + 4, packet)
        client.sendall(render_head(response, length=len(body)) + body)

    server.add_fault(" fetch$", send_commit, after=1)
    result = victim.run("sync", "--frozen")

    assert (result.code, "did not send all necessary objects" in result.stderr) == (1, True), result.stderr
    assert not victim.exists(".agent-skills/pdf")


@pytest.mark.parametrize("seconds", [0, 0.1, 1])
def test_a_server_without_filters_does_not_excuse_a_commit_that_it_does_not_have(
    project: Project, server: GitServer, tmp_path: Path, seconds: float
) -> None:
    """Git says that the server has no filters before the server has seen the request."""
    plain = Repository.create(tmp_path / "plain", partial_clone=False)
    plain.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    project.run("install", f"{server.serve('plain', plain)}@pdf", check=True)
    victim = project.clone(tmp_path / "victim")
    forge(victim, commit="0" * 39 + "1")
    server.add_fault("", late(seconds))

    for cache in (victim.cache, project.cache):
        result = victim.run("sync", "--frozen", env={"SKILLPM_CACHE_DIR": str(cache)})
        assert (result.code, "cannot prove" in result.stderr) == (1, False), result.stderr
    assert not victim.exists(".agent-skills/pdf")


@pytest.mark.parametrize("fault", ["reset", "hang-up", "reset-in-head"])
def test_a_server_without_filters_that_does_not_answer_proves_nothing(
    project: Project, server: GitServer, tmp_path: Path, fault: str
) -> None:
    """A lost connection is not the answer that the commit is there."""
    plain = Repository.create(tmp_path / "plain", partial_clone=False)
    commit = plain.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    url = server.serve("plain", plain)
    project.run("install", f"{url}@pdf", check=True)
    (project.cache / "v1/proofs").rename(project.cache / "v1/forgotten")
    shutil.rmtree(project.cache / "v1/git")
    victim = project.clone(tmp_path / "victim")
    server.add_fault(" fetch$", fault)

    result = victim.run("sync", "--frozen", env={"SKILLPM_CACHE_DIR": str(project.cache)})

    assert (result.code, commit[:7] in result.stderr) == (1, False), result.stderr
    assert result.stderr.splitlines()[0] == f"error: the connection to {url} was lost"


def test_what_was_proved_once_is_not_proved_again(
    project: Project, server: GitServer, url: str, tmp_path: Path
) -> None:
    project.run("install", f"{url}@pdf", check=True)
    env = {"SKILLPM_CACHE_DIR": str(project.cache)}
    take_requests(server)

    project.clone(tmp_path / "second").run("sync", "--frozen", env=env, check=True)
    assert take_requests(server) == []

    # A store from before proofs were recorded, and a git cache without the commit.
    shutil.rmtree(project.cache / "v1/proofs")
    shutil.rmtree(project.cache / "v1/git")
    third = project.clone(tmp_path / "third")
    offline = third.run("sync", "--frozen", "--offline", env=env)
    assert (offline.code, f"pdf ({url})" in offline.stderr) == (1, True), offline.stderr
    third.run("sync", "--frozen", env=env, check=True)
    assert take_requests(server) == PROOF
    project.clone(tmp_path / "fourth").run("sync", "--frozen", "--offline", env=env, check=True)


def test_a_server_without_filters_is_reported_once_before_it_sends_everything(
    project: Project, server: GitServer, tmp_path: Path
) -> None:
    plain = Repository.create(tmp_path / "plain", partial_clone=False)
    other = {"data.bin": random.Random(1).randbytes(3_000_000)}  # more than a server without filters may send
    commit = plain.write(prefix_paths("skills/pdf", make_skill("pdf")) | other).commit()
    url = server.serve("plain", plain)
    project.run("install", f"{url}@pdf", check=True)
    env = {"SKILLPM_CACHE_DIR": str(project.cache)}
    shutil.rmtree(project.cache / "v1/proofs")
    shutil.rmtree(project.cache / "v1/git")
    server.add_fault(" fetch$", "stall-in-body")

    first = project.clone(tmp_path / "first").run("sync", "--frozen", env=env, check=True)
    second = project.clone(tmp_path / "second").run("sync", "--frozen", env=env, check=True)

    assert first.stderr.splitlines()[0] == (
        f"warning: {url} cannot prove that the locked files are those of {commit[:7]}: its server supports no filters; "
        "they match the tree and the digest in skills.lock"
    )
    assert "cannot prove" not in second.stderr
