"""What the store holds installs nothing under another URL, index, name or version than those it came from."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from fetchers.packing import tgz
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer, make_skill

CACHES = ("cold", "warm", "without proofs")


@pytest.fixture
def address(tmp_path: Path, server: GitServer) -> str:
    """Return a server with the indexes `corp` and `public`, and two archives."""
    for index in ("corp", "public"):
        publisher = IndexPublisher(tmp_path / index)
        for version in ("1.0.0", "1.1.0"):
            publisher.write_draft("pdf", version, body=f"{index}\n")
            publisher.write_draft("docx", version, body=f"{index}\n")
            publisher.build()
        serve_index(server, publisher.index_folder, f"/{index}")
    for name in ("good", "evil"):
        server.publish(f"/{name}.tar.gz", tgz(make_skill("pdf", body=name)))
    return server.address


def lock(root: Path, cache: Path, address: str, requirement: Any, name: str = "pdf", index: str = "corp") -> Any:
    """Install a skill, so that the cache has it; return manifest and lockfile."""
    project = IndexConsumer(root)
    project.set_indexes(**{index: f"{address}/{index}/"})
    project.write("skills.json", json.dumps({**project.manifest, "skills": {name: requirement}}))
    project.run("sync", env={"SKILLPM_CACHE_DIR": str(cache)}, check=True)
    return project.manifest, project.lockfile


def install(root: Path, cache: Path, state: str, manifest: Any, lockfile: Any) -> tuple[int, str, bool]:
    """Install a lockfile on another machine; return exit code, error, and whether the skill is there."""
    victim = IndexConsumer(root)
    victim.write("skills.json", json.dumps(manifest))
    victim.write("skills.lock", json.dumps(lockfile))
    if state != "cold":
        shutil.copytree(cache, victim.cache, dirs_exist_ok=True)
    if state == "without proofs":
        shutil.rmtree(victim.cache / "v1/proofs")
    result = victim.run("sync", "--frozen")
    return result.code, result.stderr.partition("\n")[0], victim.exists(".agent-skills/pdf")


@pytest.mark.parametrize("state", CACHES)
@pytest.mark.parametrize(
    ("other", "error"),
    [
        ({"index": "public"}, "error: `pdf` is locked to {0}/public/archives/pdf-1.1.0.tar.gz, which the index corp"),
        ({"name": "docx"}, "error: `pdf` is locked to {0}/corp/archives/docx-1.1.0.tar.gz, which the index corp"),
        ({"requirement": "==1.0.0"}, "error: `pdf` is locked to {0}/corp/archives/pdf-1.0.0.tar.gz, which the index"),
    ],
)
def test_an_archive_of_another_index_skill_or_version_is_refused(
    tmp_path: Path, address: str, other: dict[str, Any], error: str, state: str
) -> None:
    cache = tmp_path / "cache"
    manifest, lockfile = lock(tmp_path / "honest", cache, address, "*")
    _, evil = lock(tmp_path / "other", cache, address, **{"requirement": "*", **other})
    forged = lockfile["skills"]["pdf"]
    (entry,) = evil["skills"].values()
    forged["source"] |= {key: entry["source"][key] for key in ("url", "sha256")}
    forged["digest"] = entry["digest"]

    code, message, is_there = install(tmp_path / "victim", cache, state, manifest, lockfile)

    assert (code, is_there) == (1, False)
    assert message.startswith(error.format(address))


@pytest.mark.parametrize("state", CACHES)
def test_an_archive_of_another_url_is_refused(tmp_path: Path, address: str, state: str) -> None:
    cache = tmp_path / "cache"
    manifest, lockfile = lock(tmp_path / "honest", cache, address, {"url": f"{address}/good.tar.gz"})
    _, evil = lock(tmp_path / "other", cache, address, {"url": f"{address}/evil.tar.gz"})
    source, entry = lockfile["skills"]["pdf"]["source"], evil["skills"]["pdf"]
    lockfile["skills"]["pdf"] |= {"digest": entry["digest"], "source": entry["source"] | {"url": source["url"]}}

    code, message, is_there = install(tmp_path / "victim", cache, state, manifest, lockfile)

    assert (code, is_there) == (1, False)
    assert message.startswith(f"error: `pdf` from {address}/good.tar.gz does not match the lockfile: expected ")


def test_what_was_fetched_once_is_installed_without_a_request(tmp_path: Path, address: str, server: GitServer) -> None:
    cache = tmp_path / "cache"
    documents = [
        lock(tmp_path / name, cache, address, requirement)
        for name, requirement in (("index", "*"), ("url", {"url": f"{address}/good.tar.gz"}))
    ]
    server.clear_requests()

    for number, (manifest, lockfile) in enumerate(documents):
        assert install(tmp_path / f"victim-{number}", cache, "warm", manifest, lockfile)[0] == 0
    assert server.requests == []


@pytest.mark.parametrize("is_installed", [False, True])
def test_a_version_that_the_content_does_not_have_is_refused(tmp_path: Path, is_installed: bool) -> None:  # noqa: FBT001
    project = IndexConsumer(tmp_path / "project")
    project.run("install", "bundled:testing", check=True)
    project.write("skills.lock", project.read("skills.lock").replace('"1.0.0"', '"9.9.9"'))
    if not is_installed:
        shutil.rmtree(project.work / ".agent-skills")

    result = project.run("sync", "--frozen")

    assert (result.code, result.stderr) == (
        1,
        "error: `testing` is locked as version 9.9.9, but its content is 1.0.0\n"
        f"  where: {project.work}/skills.lock: skills.testing.version\n"
        "  hint: nothing was changed; check the history of skills.lock in version control, and restore it\n",
    )
