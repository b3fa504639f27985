"""Staged content that is corrupted before it is installed is never installed silently."""

import subprocess
import sys

import pytest
from commands.scene import CommandSandbox, expected_output

pytestmark = pytest.mark.slow

OURS = ".agent-skills/.skillpm"
KILLED = (
    "import os, sys\nfrom skillpm.installer import transaction\n"
    "transaction.finish = lambda *_: os._exit(9)\n"
    "from skillpm.cli.main import main\nmain(sys.argv[1:])\n"
)


def killed(scene: CommandSandbox, *words: str) -> None:
    """Run a command, and kill it right after it wrote its journal."""
    whole = [sys.executable, "-c", KILLED, *words]
    done = subprocess.run(whole, cwd=scene.work, env=scene.environment(), capture_output=True, check=False)
    assert done.returncode == 9, done.stderr


@pytest.fixture
def interrupted(project: CommandSandbox) -> CommandSandbox:
    """Return a project in which an install was killed when everything was staged."""
    project.run("install", "testing", check=True)
    killed(project, "install", "code-review")
    return project


def test_a_staged_skill_with_a_wrong_byte_is_not_installed(interrupted: CommandSandbox) -> None:
    staged = interrupted.work / OURS / "staging/code-review/SKILL.md"
    staged.write_bytes(staged.read_bytes().replace(b"a", b"b", 1))

    assert interrupted.output("sync") == expected_output("""\
! error: code-review: the staged folder is damaged
!   where: WORK/.agent-skills/.skillpm/staging/code-review
!   hint: run `skillpm sync --force` to abandon that change and install what the lockfile specifies
[1]
""")
    assert not interrupted.exists(".agent-skills/code-review")
    assert interrupted.run("sync", "--force").code == 0
    assert interrupted.run("verify").code == 0
    interrupted.run("install", "code-review", check=True)
    assert interrupted.run("verify").code == 0


@pytest.mark.parametrize("role", ["receipt", "lockfile", "manifest", "registry"])
def test_a_staged_document_with_a_wrong_byte_moves_nothing(interrupted: CommandSandbox, role: str) -> None:
    staged = interrupted.work / OURS / "staging/.documents" / role
    staged.write_bytes(staged.read_bytes().replace(b"e", b"f", 1))
    before = interrupted.full_snapshot

    assert interrupted.output("sync").splitlines()[0] == f"! error: the staged {role} is missing or damaged"
    assert interrupted.full_snapshot == before
    assert interrupted.run("sync", "--force").code == 0
    assert interrupted.run("verify").code == 0


def test_a_binary_registry_is_rebuilt(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    whole = project.read(".agent-skills/skills.json")
    damaged = whole.encode().replace(b"testing", b"\xffesting", 1)
    project.write(".agent-skills/skills.json", damaged)

    assert project.output("list").splitlines()[0].startswith("testing")
    assert project.run("load", "testing").code == 0
    assert project.run("registry", "check").code == 1
    assert project.run("sync").code == 0
    assert project.read(".agent-skills/skills.json") == whole


def test_a_whole_one_is(interrupted: CommandSandbox) -> None:
    interrupted.run("sync", check=True)

    assert interrupted.run("verify").code == 0
    assert interrupted.exists(".agent-skills/code-review/SKILL.md")


def test_a_journal_with_a_wrong_byte_is_not_followed(interrupted: CommandSandbox) -> None:
    journal = interrupted.read(f"{OURS}/journal.json")
    interrupted.write(f"{OURS}/journal.json", journal.replace("false", "true", 1))

    assert interrupted.output("sync") == expected_output("""\
! error: the journal of an interrupted change is damaged: checksum mismatch
!   where: WORK/.agent-skills/.skillpm/journal.json
!   hint: run `skillpm doctor --fix` to abandon the change and keep the journal as a backup
[1]
""")
    assert interrupted.run("doctor", "--fix").code == 0
    assert interrupted.run("verify").code == 0
    assert not interrupted.exists(".agent-skills/code-review")


def test_a_backup_that_is_being_restored_is_checked_too(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    project.write(".agent-skills/testing/SKILL.md", "---\nname: testing\ndescription: Mine.\n---\n")
    project.run("sync", "--force", check=True)
    killed(project, "backup", "restore", "testing-1")
    project.write(f"{OURS}/staging/testing/SKILL.md", "---\nname: testing\ndescription: Mime.\n---\n")

    assert project.run("sync").code == 1
    assert "Mine." in project.read(f"{OURS}/backup/testing-1/SKILL.md")
    assert project.run("sync", "--force").code == 0
    assert project.run("verify").code == 0
