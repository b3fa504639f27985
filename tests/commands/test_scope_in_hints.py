"""A message that names a command names it with the scope that was typed: word for word, it works there."""

import pytest
from commands.scene import CommandSandbox, expected_output

from skillpm.cli.scope_hints import add_scope_flags, find_scope_flags


@pytest.fixture
def edited(scene: CommandSandbox) -> CommandSandbox:
    """Give a project beside a user scope whose one skill was edited."""
    scene.create_project()
    scene.run("install", "-g", "code-review", check=True)
    scene.write(
        "../home/.agent-skills/code-review/SKILL.md",
        scene.read("../home/.agent-skills/code-review/SKILL.md") + "\nMine.\n",
    )
    return scene


def test_the_ways_out_of_an_edit_in_user_scope_work_from_within_a_project(edited: CommandSandbox) -> None:
    assert edited.output("sync", "-g") == expected_output("""\
! error: your edits are in the way; nothing was changed
!   code-review: edited since it was installed (SKILL.md modified)
!   try: `skillpm diff -g code-review` shows it, `skillpm sync -g --keep code-review` goes on without it, \
`--force` sets it aside as a backup first
[1]
""")
    assert "+Mine." in edited.run("diff", "-g", "code-review", check=True).stdout


def test_what_force_set_aside_is_brought_back_where_it_was(edited: CommandSandbox) -> None:
    said = edited.run("sync", "-g", "--force", "--json", check=True).stdout
    assert "`skillpm backup restore -g code-review-1` brings it back" in said
    assert edited.run("backup", "restore", "-g", "code-review-1").code == 0


def test_a_project_that_was_named_is_named_again(scene: CommandSandbox) -> None:
    scene.write("my app/skills.json", '{"skills": {"code-review": {"bundled": true}}}\n')
    assert scene.output("sync", "--frozen", "--project", "my app") == expected_output("""\
! error: there is no lockfile
!   where: WORK/my app/skills.lock
!   try: make it with `skillpm lock --project 'my app'`
[1]
""")


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("run `skillpm lock`", "run `skillpm lock -g`"),
        ("`skillpm sync --force` does", "`skillpm sync -g --force` does"),
        ("`skillpm sync --keep pdf -g` does", "`skillpm sync --keep pdf -g` does"),
        (
            "`skillpm diff pdf`, `skillpm sync -g` and `skillpm show pdf`",
            "`skillpm diff -g pdf`, `skillpm sync -g` and `skillpm show -g pdf`",
        ),
        ("uninstall what needs it too: skillpm uninstall a b", "uninstall what needs it too: skillpm uninstall -g a b"),
        ("`skillpm init` and `skillpm config set`", "`skillpm init` and `skillpm config set`"),
        ("`skillpm list-all`, /opt/skillpm list", "`skillpm list-all`, /opt/skillpm list"),
    ],
)
def test_only_commands_that_look_for_a_scope_and_have_none_get_it(said: str, then: str) -> None:
    assert (add_scope_flags(said, " -g"), add_scope_flags(said, "")) == (then, said)


def test_words_behind_two_hyphens_name_no_scope() -> None:
    assert find_scope_flags(["sync", "--global"]) == " -g"
    assert find_scope_flags(["show", "--project=a b", "x"]) == " --project 'a b'"
    assert find_scope_flags(["show", "--", "-g"]) == find_scope_flags(["show", "--project"]) == ""


@pytest.mark.parametrize("flag", ["--locked", "--frozen"])
def test_a_spec_is_not_added_strictly_and_the_answer_is_no_circle(scene: CommandSandbox, flag: str) -> None:
    """It said `run skillpm lock`, which had nothing to lock, since the manifest was as before."""
    scene.create_project()
    before = scene.full_snapshot

    assert scene.output("install", "testing", flag) == expected_output(f"""\
! error: {flag} adds nothing, and a SPEC is to be added
!   try: `skillpm sync {flag}` installs what is locked; `skillpm install` with the SPEC alone adds it
[2]
""")
    assert scene.full_snapshot == before
