"""A dry run warns of all that the run then warns of: what `--force` sets aside, and what is left where it lies."""

import re

import pytest
from commands.scene import CommandSandbox
from kit import make_skill, prefix_paths


def told(scene: CommandSandbox, *words: str) -> list[str]:
    return [line for line in scene.run(*words, check=True).stderr.splitlines() if line.startswith("warning: ")]


def as_foretold(line: str) -> str:
    """Give what a dry run says where the run says that something is kept."""
    return re.sub(r"what lay at (\S+) is kept as backup .*", r"what lies at \1 would be kept as a backup", line)


@pytest.fixture
def linked(scene: CommandSandbox) -> CommandSandbox:
    """Give a project of two linked skills, one of them edited, and a folder of somebody's in a host's folder."""
    scene.create_project()
    scene.run("install", "code-review", "testing", check=True)
    scene.write(".agent-skills/testing/SKILL.md", scene.read(".agent-skills/testing/SKILL.md") + "\nMine.\n")
    scene.write_files(prefix_paths(".claude/skills/code-review", make_skill("code-review", body="Mine.\n")))
    return scene


@pytest.mark.parametrize(
    "words",
    [
        ["link", "claude-code", "--force"],
        ["sync", "--force"],
        ["uninstall", "testing", "--force"],
        ["update", "testing", "--force"],
    ],
    ids=" ".join,
)
def test_what_force_would_set_aside_is_foretold(linked: CommandSandbox, words: list[str]) -> None:
    before = told(linked, *words, "--dry-run")
    after = told(linked, *words)
    assert before == [as_foretold(line) for line in after]
    assert before == [line for line in before if "would be kept as a backup" in line] != []


def test_a_backup_that_would_be_made_for_another_is_foretold(linked: CommandSandbox) -> None:
    linked.run("sync", "--force", check=True)
    linked.write(".agent-skills/testing/SKILL.md", linked.read(".agent-skills/testing/SKILL.md") + "\nAgain.\n")
    words = ["backup", "restore", "testing-1", "--force"]

    before = told(linked, *words, "--dry-run")

    assert before == ["warning: what lies at testing would be kept as a backup"]
    assert before == [as_foretold(line) for line in told(linked, *words)]


def test_a_copy_that_was_edited_is_foretold_to_stay(linked: CommandSandbox) -> None:
    env = {"SKILLPM_LINK_MODE": "copy"}
    linked.run("sync", "--force", check=True)
    linked.run("link", "codex", env=env, check=True)
    linked.write(".agents/skills/testing/SKILL.md", make_skill("testing", body="Mine.\n")["SKILL.md"])

    before = linked.run("unlink", "codex", "--dry-run", env=env, check=True).stderr
    after = linked.run("unlink", "codex", env=env, check=True).stderr

    assert before == after
    assert linked.add_placeholders(before) == "warning: WORK/.agents/skills/testing was edited; it is left as it is\n"
    assert "Mine." in linked.read(".agents/skills/testing/SKILL.md")


def test_a_dry_run_with_nothing_in_the_way_warns_of_nothing(scene: CommandSandbox) -> None:
    scene.create_project()
    scene.run("install", "testing", check=True)
    assert told(scene, "link", "claude-code", "--force", "--dry-run") == []
