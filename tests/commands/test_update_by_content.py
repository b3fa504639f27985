"""What has the same content is up to date, and what has vanished upstream stops no other skill."""

import json
import os
import shutil
from typing import Any

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import GitServer, Repository, make_skill, prefix_paths

UP_TO_DATE = """\
nothing to do: 3 skills in WORK/.agent-skills
! pinned to a tag or a commit: docx (see `skillpm outdated`)
"""


@pytest.fixture
def following(project: CommandSandbox, upstream: Repository, url: str) -> CommandSandbox:
    """Return a project with a skill by branch, one by a range over tags, and one by a tag."""
    upstream.write(prefix_paths("skills/xlsx", make_skill("xlsx"))).commit()
    upstream.tag("v1.1.0")
    project.run("install", f"{url}#main@pdf", f"{url}#v1.1.0@docx", check=True)
    project.run("install", f"{url}@xlsx", "--version", "^1", check=True)
    return project


def move(upstream: Repository) -> None:
    """Commit a file outside of all skills, release it, and move a tag to it."""
    upstream.write({"README.md": "News.\n"}).commit()
    upstream.tag("v1.2.0")
    upstream.tag("v1.1.0", force=True)


def test_a_commit_of_other_files_is_no_update(following: CommandSandbox, upstream: Repository) -> None:
    before = following.full_snapshot
    move(upstream)

    assert following.output("outdated") == expected_output("! everything is up to date\n")
    assert following.run("outdated", "--exit-code", "--json").json == {"skills": [], "warnings": []}
    assert following.output("update") == expected_output(UP_TO_DATE)
    assert following.output("lock", "--upgrade") == expected_output("WORK/skills.lock is up to date\n")
    assert following.run("update", "--json").json["actions"] == following.run("sync", "--json").json["actions"]
    assert following.output("diff", "pdf", "--update").startswith("! an update would not change pdf (")
    assert following.output("lock", "--check") == expected_output("""\
WORK/skills.lock is up to date
! proved: content of docx, pdf, xlsx
! proved: tag of docx, xlsx
! proved: branch of pdf
""")
    assert following.full_snapshot == before


def test_only_what_changed_is_updated(following: CommandSandbox, upstream: Repository) -> None:
    move(upstream)
    upstream.write({"skills/pdf/notes.md": "New.\n"}).commit()
    before = following.read_json("skills.lock")["skills"]

    assert following.run("outdated").stdout.splitlines()[1].split()[0] == "pdf"
    assert len(following.run("outdated").stdout.splitlines()) == 2
    following.run("update", check=True)

    after = following.read_json("skills.lock")["skills"]
    assert {name for name in before if before[name] != after[name]} == {"pdf"}


def test_a_machine_without_a_cache_finds_the_same(following: CommandSandbox, upstream: Repository) -> None:
    locked = following.read("skills.lock")
    move(upstream)
    shutil.rmtree(following.cache)
    shutil.rmtree(following.work / ".agent-skills")

    assert following.output("lock", "--upgrade") == expected_output("WORK/skills.lock is up to date\n")
    following.run("update", check=True)

    assert following.read("skills.lock") == locked
    assert following.run("verify").code == 0


def test_a_commit_that_the_server_dropped_is_replaced(
    project: CommandSandbox, server: GitServer, upstream: Repository, url: str
) -> None:
    # A branch that was rewritten, with the same content in another commit: nobody else could install from the old one.
    del server
    old = upstream.resolve("main")
    upstream.write({"README.md": "A mistake.\n"}).commit()
    project.run("install", f"{url}@pdf", check=True)
    upstream.reset(old)
    new = upstream.write({"README.md": "Corrected.\n"}).commit()
    upstream.prune_unreachable()

    assert project.output("outdated") == "! everything is up to date\n"
    project.run("update", check=True)

    assert project.read_json("skills.lock")["skills"]["pdf"]["source"]["commit"] == new


def test_offline_no_server_is_asked_whether_it_still_has_a_commit(
    project: CommandSandbox, server: GitServer, upstream: Repository, served: str
) -> None:
    project.run("install", f"{served}@pdf", check=True)
    locked = project.read("skills.lock")
    upstream.write({"README.md": "News.\n"}).commit()
    project.run("outdated", check=True)  # the cache knows the new commit now
    server.remove("acme/skills")

    project.run("update", "--offline", check=True)

    assert project.read("skills.lock") == locked


@pytest.mark.parametrize("kind", ["rev", "tag"])
def test_a_skill_that_is_required_otherwise_is_locked_again(
    following: CommandSandbox, upstream: Repository, kind: str
) -> None:
    move(upstream)
    new = upstream.resolve("main")
    ref = {"rev": new, "tag": "v1.2.0"}[kind]
    following.write("skills.json", following.read("skills.json").replace('"branch": "main"', f'"{kind}": "{ref}"'))

    following.run("update", check=True)

    assert following.read_json("skills.lock")["skills"]["pdf"]["source"]["commit"] == new


def test_an_executable_bit_is_content(following: CommandSandbox, upstream: Repository) -> None:
    files = {f"skills/pdf/{path}": data for path, data in {"scripts/read.sh": b"#!/bin/sh\necho read\n"}.items()}
    upstream.write(files).commit()  # no longer executable
    new = upstream.resolve("main")

    following.run("update", check=True)

    assert following.read_json("skills.lock")["skills"]["pdf"]["source"]["commit"] == new
    assert not os.access(following.work / ".agent-skills/pdf/scripts/read.sh", os.X_OK)


@pytest.mark.parametrize(
    "edit",
    [{"digest": f"sha256:{'0' * 64}"}, {"dependencies": {"docx": {"bundled": True}}}],
    ids=["digest", "needs"],
)
def test_a_lockfile_that_was_edited_is_not_kept(
    following: CommandSandbox, upstream: Repository, edit: dict[str, Any]
) -> None:
    locked = json.loads(following.read("skills.lock"))
    locked["skills"]["pdf"] |= edit
    following.write("skills.lock", json.dumps(locked))
    move(upstream)

    following.run("lock", "--upgrade", check=True)

    entry = following.read_json("skills.lock")["skills"]["pdf"]
    assert (entry["source"]["commit"], entry.get("digest") == edit.get("digest")) == (upstream.resolve("main"), False)
    assert "dependencies" not in entry


def test_a_requirement_without_a_skill_is_an_error(following: CommandSandbox, url: str) -> None:
    manifest = json.loads(following.read("skills.json"))
    manifest["skills"]["gone"] = {"git": url, "path": "skills/gone"}
    following.write("skills.json", json.dumps(manifest))

    assert following.output("update") == expected_output("""\
! error: URL has no folder `skills/gone`
!   hint: its skills are in: skills/docx
[1]
""")
