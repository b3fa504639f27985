"""Folders that agents read: those that a user had stay when the last link goes, those made for links go with it."""

import pytest
from commands.scene import CommandSandbox


@pytest.fixture
def own(scene: CommandSandbox) -> CommandSandbox:
    """Return a user with one skill."""
    scene.run("install", "-g", "code-review", check=True)
    return scene


def test_a_folder_that_was_there_before_the_links_stays(own: CommandSandbox) -> None:
    (own.home / ".claude/skills").mkdir(parents=True)
    own.run("link", "-g", "claude-code", check=True)

    own.run("unlink", "-g", "claude-code", check=True)

    assert (own.home / ".claude/skills").is_dir()


def test_a_folder_that_was_made_for_links_goes_with_the_last_one(own: CommandSandbox) -> None:
    (own.home / ".claude").mkdir()
    own.run("link", "-g", "claude-code", check=True)
    assert own.read_json("../home/.agent-skills/.skillpm/receipt.json")["folders"] == ["~/.claude/skills"]

    own.run("install", "-g", "testing", check=True)
    own.run("uninstall", "-g", "testing", "code-review", check=True)

    assert not (own.home / ".claude/skills").exists()
    assert (own.home / ".claude").is_dir()
    assert "folders" not in own.read_json("../home/.agent-skills/.skillpm/receipt.json")


@pytest.mark.parametrize("there", ["", ".claude", ".claude/skills"])
def test_in_a_project_what_was_there_of_the_hosts_folders_stays(project: CommandSandbox, there: str) -> None:
    (project.work / there).mkdir(parents=True, exist_ok=True)
    project.run("install", "code-review", check=True)
    project.run("link", "claude-code", check=True)

    project.run("unlink", "claude-code", check=True)

    left = [path for path in (".claude", ".claude/skills") if (project.work / path).is_dir()]
    assert left == [path for path in (".claude", ".claude/skills") if there.startswith(path)]


def test_a_folder_from_before_receipts_knew_is_left(own: CommandSandbox) -> None:
    own.run("link", "-g", "claude-code", check=True)
    receipt = own.read("../home/.agent-skills/.skillpm/receipt.json")
    own.write("../home/.agent-skills/.skillpm/receipt.json", receipt.replace(FOLDERS, ""))

    own.run("unlink", "-g", "claude-code", check=True)

    assert (own.home / ".claude/skills").is_dir()


FOLDERS = ',\n  "folders": [\n    "~/.claude/skills"\n  ]'
