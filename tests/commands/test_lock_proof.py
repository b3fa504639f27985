"""`lock --check` proves what the lockfile says, and says what it did not prove."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from commands.scene import CommandSandbox, expected_output
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer, Repository, git, make_skill, prefix_paths
from kit.packages import install_distribution


@pytest.fixture
def locked(project: CommandSandbox, served: str) -> CommandSandbox:
    """A project that follows a branch and an annotated tag, with a bundled skill, a folder and a live link."""
    project.write_files(prefix_paths("own/mine", make_skill("mine")) | prefix_paths("own/live", make_skill("live")))
    project.run("install", f"{served}@pdf", f"{served}#v1.0.0@docx", "testing", "./own/mine", check=True)
    project.run("install", "./own/live", "--link", check=True)
    return project


@pytest.fixture
def upstream(upstream: Repository) -> Repository:
    upstream.tag("v1.0.0", annotated=True, force=True)
    return upstream


CONTENT = ["docx", "mine", "pdf", "testing"]


def claims(value: Any) -> dict[str, list[str]]:
    """Return the names of claims by kind."""
    kinds: dict[str, list[str]] = {}
    for claim in value:
        kinds.setdefault(claim["what"], []).append(claim["name"])
    return kinds


@pytest.mark.parametrize("cache", ["warm", "cold"])
def test_it_proves_content_and_tags(locked: CommandSandbox, cache: str) -> None:
    if cache == "cold":
        shutil.rmtree(locked.cache)
    before = locked.full_snapshot

    assert locked.output("lock", "--check") == expected_output("""\
WORK/skills.lock is up to date
! proved: content of docx, mine, pdf, testing
! proved: tag of docx
! proved: branch of pdf
! not proved: content of live: a live link has no digest
""")
    result = locked.json_output("lock", "--check")
    assert claims(result["proved"]) == {"branch": ["pdf"], "content": CONTENT, "tag": ["docx"]}
    assert result["unproved"] == [{"name": "live", "what": "content", "why": "a live link has no digest"}]
    assert locked.full_snapshot == before


def test_a_missing_folder_or_package_is_not_proved(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("own/mine", make_skill("mine")))
    install_distribution(project.work, "api", "1.0", prefix_paths("api/.agents/skills/api", make_skill("api")))
    project.run("install", "./own/mine", "env:api", check=True)
    assert project.run("lock", "--check").stderr == "proved: content of api, mine\n"
    shutil.rmtree(project.work / "own")
    shutil.rmtree(project.work / ".venv")

    assert project.output("lock", "--check") == expected_output("""\
WORK/skills.lock is up to date
! warning: api: there is no virtual environment: no .venv, and VIRTUAL_ENV is not set; it stays as it is locked
! warning: mine: its folder ./own/mine is missing; it stays as it is locked
! not proved: content of api: `api`: there is no virtual environment: no .venv, and VIRTUAL_ENV is not set
! not proved: content of mine: `mine`: its folder ./own/mine does not exist
""")


def test_offline_it_says_what_was_not_proved(locked: CommandSandbox) -> None:
    assert claims(locked.json_output("lock", "--check", "--offline")["proved"]) == {"content": CONTENT}
    shutil.rmtree(locked.cache)

    assert locked.output("lock", "--check", "--offline") == expected_output("""\
WORK/skills.lock is up to date
! proved: content of mine, testing
! not proved: content of docx, pdf: not cached, no network
! not proved: content of live: a live link has no digest
! not proved: tag of docx: no network
! not proved: branch of pdf: no network
""")


def test_a_tag_that_moved_is_reported(locked: CommandSandbox, upstream: Repository) -> None:
    first = upstream.resolve("v1.0.0^{}")[:7]
    upstream.write({"skills/docx/notes.md": "New.\n"}).commit()
    upstream.tag("v1.0.0", force=True)
    second = upstream.resolve("v1.0.0")[:7]

    result = locked.run("lock", "--check")

    assert (result.code, locked.add_placeholders(result.stderr).splitlines()[-3:]) == (
        1,
        [
            f"error: the lockfile is not what its tags lead to: `docx`: tag v1.0.0 moved {first} → {second}",
            "  where: WORK/skills.lock",
            "  hint: check why they changed; `skillpm update docx` locks what they lead to now",
        ],
    )
    as_json = locked.run("lock", "--check", "--json")
    assert (as_json.code, as_json.json["upToDate"]) == (1, False)
    assert as_json.json["reasons"] == [f"`docx`: tag v1.0.0 moved {first} → {second}"]
    locked.run("lock", "--check", "--offline", check=True)
    locked.run("sync", "--frozen", check=True)


def test_a_tag_that_is_gone_is_reported(locked: CommandSandbox, upstream: Repository) -> None:
    git("tag", "-d", "v1.0.0", cwd=upstream.path)

    result = locked.run("lock", "--check", "--json")

    assert (result.code, result.json["reasons"]) == (1, ["`docx`: tag v1.0.0 no longer exists"])


@pytest.mark.parametrize("cache", ["warm", "cold"])
def test_content_of_another_commit_is_reported(
    locked: CommandSandbox, upstream: Repository, served: str, tmp_path: Path, cache: str
) -> None:
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body="evil\n"))).commit(branch="pull/7")
    other = CommandSandbox(tmp_path / "other").create_project()
    other.run("install", f"{served}#pull/7@pdf", env={"SKILLPM_CACHE_DIR": str(locked.cache)}, check=True)
    lock, evil = (json.loads(each.read("skills.lock")) for each in (locked, other))
    lock["skills"]["pdf"]["digest"] = evil["skills"]["pdf"]["digest"]
    lock["skills"]["pdf"]["source"]["tree"] = evil["skills"]["pdf"]["source"]["tree"]
    locked.write("skills.lock", json.dumps(lock))
    if cache == "cold":
        shutil.rmtree(locked.cache)

    error = locked.run("lock", "--check", "--json").json["error"]

    assert (error["code"], error["skills"]) == ("digest-mismatch", ["pdf"])


def test_a_version_that_an_index_no_longer_lists_is_not_proved(server: GitServer, tmp_path: Path) -> None:
    publisher, consumer = IndexPublisher(tmp_path / "publisher"), IndexConsumer(tmp_path / "consumer")
    publisher.write_draft("deploy", "1.1.0")
    publisher.build()
    serve_index(server, publisher.index_folder)
    consumer.set_indexes(acme=f"{server.address}/")
    consumer.run("install", "deploy", check=True)
    proved = consumer.run("lock", "--check", "--json", check=True).json["proved"]
    assert claims(proved) == {"content": ["deploy"], "version": ["deploy"]}

    older = IndexPublisher(tmp_path / "older")
    older.write_draft("deploy", "1.0.0")
    older.build()
    serve_index(server, older.index_folder)

    assert consumer.run("lock", "--check", "--json", check=True).json["unproved"] == [
        {"name": "deploy", "what": "version", "why": "the index no longer lists 1.1.0"}
    ]
