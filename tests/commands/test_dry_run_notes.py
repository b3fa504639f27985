"""A dry run has the same warnings as the run: backups that `--force` makes, and files that stay."""

import re

import pytest
from commands.scene import CommandSandbox
from kit import make_skill, prefix_paths


def reported_lines(scene: CommandSandbox, *words: str) -> list[str]:
    return [line for line in scene.run(*words, check=True).stderr.splitlines() if line.startswith("warning: ")]


def as_predicted(line: str) -> str:
    """Return the warning of a dry run for each backup that the run reports."""
    return re.sub(r"backed up (?:your version of )?(\S+) as .*", r"\1 would be backed up", line)


@pytest.fixture
def linked(scene: CommandSandbox) -> CommandSandbox:
    """Return a project of two linked skills, one of them edited, and another folder in an agent's folder."""
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
def test_dry_run_warns_of_the_backups_that_force_makes(linked: CommandSandbox, words: list[str]) -> None:
    before = reported_lines(linked, *words, "--dry-run")
    after = reported_lines(linked, *words)
    assert before == [as_predicted(line) for line in after]
    assert before == [line for line in before if "would be backed up" in line] != []


def test_dry_run_warns_of_a_second_backup(linked: CommandSandbox) -> None:
    linked.run("sync", "--force", check=True)
    linked.write(".agent-skills/testing/SKILL.md", linked.read(".agent-skills/testing/SKILL.md") + "\nAgain.\n")
    words = ["backup", "restore", "testing-1", "--force"]

    before = reported_lines(linked, *words, "--dry-run")

    assert before == ["warning: testing would be backed up"]
    assert before == [as_predicted(line) for line in reported_lines(linked, *words)]


def test_dry_run_warns_that_an_edited_copy_stays(linked: CommandSandbox) -> None:
    env = {"SKILLPM_LINK_MODE": "copy"}
    linked.run("sync", "--force", check=True)
    linked.run("link", "codex", env=env, check=True)
    linked.write(".agents/skills/testing/SKILL.md", make_skill("testing", body="Mine.\n")["SKILL.md"])

    before = linked.run("unlink", "codex", "--dry-run", env=env, check=True).stderr
    after = linked.run("unlink", "codex", env=env, check=True).stderr

    assert before == after
    assert linked.add_placeholders(before) == "warning: WORK/.agents/skills/testing was edited; it is left as it is\n"
    assert "Mine." in linked.read(".agents/skills/testing/SKILL.md")


def test_a_dry_run_without_conflicts_has_no_warnings(scene: CommandSandbox) -> None:
    scene.create_project()
    scene.run("install", "testing", check=True)
    assert reported_lines(scene, "link", "claude-code", "--force", "--dry-run") == []
