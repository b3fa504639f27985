"""A skills directory that came with a checkout is reported once, by the first command that writes."""

import shutil
from pathlib import Path

from commands.scene import CommandSandbox

NOTE = (
    "WORK/.agent-skills came with the checkout: agents read its skills before any command has checked them; "
    "`skillpm verify` does"
)


def test_committed_skills_are_reported_once(project: CommandSandbox, tmp_path: Path) -> None:
    project.run("install", "testing", check=True)
    shutil.copytree(project.work, tmp_path / "clone/work")
    clone = CommandSandbox(tmp_path / "clone")
    shutil.rmtree(clone.work / ".agent-skills/.skillpm")

    assert clone.json_output("sync", "--dry-run").get("notes") is None
    assert clone.json_output("sync")["notes"] == [NOTE]
    assert clone.json_output("sync").get("notes") is None
    assert clone.json_output("install", "code-review").get("notes") is None


def test_a_clone_without_them_and_own_skills_are_not(project: CommandSandbox) -> None:
    project.write(".agent-skills/mine/SKILL.md", "---\nname: mine\ndescription: Mine.\n---\n")

    assert project.json_output("install", "testing").get("notes") is None
    shutil.rmtree(project.work / ".agent-skills")
    assert project.json_output("sync").get("notes") is None
