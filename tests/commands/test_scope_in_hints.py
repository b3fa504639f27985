"""Commands in messages select the scope of the command that prints them, so that they can be pasted."""

from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output

from skillpm.scope.scope import find_scope, project_scope, user_scope
from skillpm.settings import read_settings


@pytest.fixture
def edited(scene: CommandSandbox) -> CommandSandbox:
    """Return a project next to a user scope whose only skill was edited."""
    scene.create_project()
    scene.run("install", "-g", "code-review", check=True)
    scene.write(
        "../home/.agent-skills/code-review/SKILL.md",
        scene.read("../home/.agent-skills/code-review/SKILL.md") + "\nMine.\n",
    )
    return scene


def test_hints_for_an_edit_in_user_scope_work_inside_a_project(edited: CommandSandbox) -> None:
    edited.run("sync", "-g", check=True)
    assert edited.output("sync", "-g", "--frozen") == expected_output("""\
! error: blocked by local changes; nothing was changed
!   code-review: edited since it was installed (SKILL.md modified)
!   hint: use `skillpm diff -g code-review` to see the changes, `--merge` to carry them over, `skillpm \
sync -g --frozen --keep code-review` to keep it as it is, or `--force` to back it up and continue; to keep it always, \
write "edits": {"code-review": "keep"} into skills.json
[1]
""")
    assert "+Mine." in edited.run("diff", "-g", "code-review", check=True).stdout


def test_the_restore_command_after_force_restores_into_the_same_scope(edited: CommandSandbox) -> None:
    output = edited.run("sync", "-g", "--force", "--json", check=True).stdout
    assert "restore it with `skillpm backup restore -g code-review-1`" in output
    assert edited.run("backup", "restore", "-g", "code-review-1").code == 0


def test_hints_repeat_the_project_option(scene: CommandSandbox) -> None:
    scene.write("my app/skills.json", '{"skills": {"code-review": {"bundled": true}}}\n')
    assert scene.output("sync", "--frozen", "--project", "my app") == expected_output("""\
! error: there is no lockfile
!   where: WORK/my app/skills.lock
!   hint: create it with `skillpm lock --project 'my app'`
[1]
""")


def test_commands_are_suggested_for_the_scope_at_work(tmp_path: Path) -> None:
    settings = read_settings({"HOME": str(tmp_path)})
    (tmp_path / "my app").mkdir()
    (tmp_path / "my app" / "skills.json").write_text('{"skills": {}}\n')

    assert user_scope(settings).command("diff", "pdf") == "skillpm diff -g pdf"
    assert project_scope(settings, str(tmp_path / "my app")).command("sync", "--force") == "skillpm sync --force"
    named = find_scope(settings, project=str(tmp_path / "my app"))
    assert named.command("lock") == f"skillpm lock --project '{tmp_path}/my app'"


@pytest.mark.parametrize("flag", ["--locked", "--frozen"])
def test_install_refuses_a_spec_with_locked_or_frozen(scene: CommandSandbox, flag: str) -> None:
    """The hint was once `skillpm lock`, which does nothing here: the manifest is unchanged."""
    scene.create_project()
    before = scene.full_snapshot

    assert scene.output("install", "testing", flag) == expected_output(f"""\
! error: {flag} does not allow adding a SPEC
!   hint: use `skillpm sync {flag}` to install what is locked, or `skillpm install` without {flag} to add the SPEC
[2]
""")
    assert scene.full_snapshot == before
