"""A message that names a command names it with the scope that was typed: word for word, it works there."""

import pytest
from commands.scene import Scene, text

from skillpm.cli.scope_hints import pointed, scope_in


@pytest.fixture
def edited(scene: Scene) -> Scene:
    """Give a project beside a user scope whose one skill was edited."""
    scene.project()
    scene.run("install", "-g", "code-review", check=True)
    scene.write(
        "../home/.agent-skills/code-review/SKILL.md",
        scene.read("../home/.agent-skills/code-review/SKILL.md") + "\nMine.\n",
    )
    return scene


def test_the_ways_out_of_an_edit_in_user_scope_work_from_within_a_project(edited: Scene) -> None:
    assert edited.tell("sync", "-g") == text("""\
! error: your edits are in the way; nothing was changed
!   code-review: edited since it was installed (SKILL.md modified)
!   try: `skillpm diff -g code-review` shows it, `skillpm sync -g --keep code-review` goes on without it, \
`--force` sets it aside as a backup first
[1]
""")
    assert "+Mine." in edited.run("diff", "-g", "code-review", check=True).stdout


def test_what_force_set_aside_is_brought_back_where_it_was(edited: Scene) -> None:
    said = edited.run("sync", "-g", "--force", "--json", check=True).stdout
    assert "`skillpm backup restore -g code-review-1` brings it back" in said
    assert edited.run("backup", "restore", "-g", "code-review-1").code == 0


def test_a_project_that_was_named_is_named_again(scene: Scene) -> None:
    scene.write("my app/skills.json", '{"skills": {"code-review": {"bundled": true}}}\n')
    assert scene.tell("sync", "--frozen", "--project", "my app") == text("""\
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
    assert (pointed(said, " -g"), pointed(said, "")) == (then, said)


def test_words_behind_two_hyphens_name_no_scope() -> None:
    assert scope_in(["sync", "--global"]) == " -g"
    assert scope_in(["show", "--project=a b", "x"]) == " --project 'a b'"
    assert scope_in(["show", "--", "-g"]) == scope_in(["show", "--project"]) == ""


@pytest.mark.parametrize("flag", ["--locked", "--frozen"])
def test_a_spec_is_not_added_strictly_and_the_answer_is_no_circle(scene: Scene, flag: str) -> None:
    """It said `run skillpm lock`, which had nothing to lock, since the manifest was as before."""
    scene.project()
    before = scene.everything

    assert scene.tell("install", "testing", flag) == text(f"""\
! error: {flag} adds nothing, and a SPEC is to be added
!   try: `skillpm sync {flag}` installs what is locked; `skillpm install` with the SPEC alone adds it
[2]
""")
    assert scene.everything == before
