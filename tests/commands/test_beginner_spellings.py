"""What is told to somebody who typed nearly the right thing, or stands in another place than he thinks."""

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths


@pytest.mark.parametrize("words", [["link", "claude"], ["unlink", "claude"], ["link"]])
def test_an_agent_that_is_not_named_rightly_is_wrong_usage(project: CommandSandbox, words: list[str]) -> None:
    assert project.run(*words).code == 2


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["pdf", "1.0.0", "public"], "pdf@1.0.0 public"),
        (["public", "pdf", "1.0.0"], "pdf@1.0.0 public"),
        (["public", "pdf@1.0.0"], "pdf@1.0.0 public"),
    ],
)
@pytest.mark.parametrize("verb", ["yank", "unyank"])
def test_words_in_another_order_are_told_with_the_line_that_is_meant(
    scene: CommandSandbox, verb: str, words: list[str], meant: str
) -> None:
    assert scene.output("index", verb, *words) == expected_output(f"""\
! error: `{words[0]}` names no version
!   try: did you mean `skillpm index {verb} {meant}`?
[2]
""")


def test_words_that_cannot_be_meant_are_told_how_they_are_written(scene: CommandSandbox) -> None:
    assert scene.output("index", "yank", "pdf", "public") == expected_output("""\
! error: `pdf` names no version
!   try: write NAME@VERSION, e.g. pdf@1.2.0
[2]
""")
    assert scene.output("index", "yank", "pdf@1.0.0", "public", "more") == expected_output("""\
! error: `more` is one word too many
!   try: skillpm index yank --help
[2]
""")


def test_a_folder_that_is_not_there_is_told_with_those_that_are(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("skills/pdf", make_skill("pdf")))

    assert scene.output("index", "build", "skils", "--out", "public") == expected_output("""\
! error: skils is not there
!   try: did you mean skills?
[1]
""")
    assert scene.output("index", "build", "nope", "--out", "public") == expected_output("""\
! error: nope is not there
!   try: name a skill's folder, or a folder of skills
[1]
""")


def test_a_sync_without_a_manifest_says_that_it_was_about_user_scope(scene: CommandSandbox) -> None:
    scene.run("install", "-g", "code-review", check=True)

    assert scene.output("sync") == expected_output("""\
nothing to do: 1 skill in HOME/.agent-skills
! no skills.json is here or above: this is user scope (-g says so; or --project DIR)
""")
    assert scene.output("sync", "-g") == "nothing to do: 1 skill in HOME/.agent-skills\n"


def test_outdated_says_what_is_installed_otherwise_than_locked(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    project.run("install", f"{url}@pdf", f"{url}@docx", check=True)
    old = project.read_json("skills.lock")["skills"]["pdf"]["source"]["commit"][:7]
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", "Reads better.")))
    upstream.commit("second")
    project.run("lock", "--upgrade", check=True)
    new = project.read_json("skills.lock")["skills"]["pdf"]["source"]["commit"][:7]

    assert project.output("outdated") == expected_output(f"""\
! everything is as new as it can be
! pdf: {old} is installed, {new} is locked (`skillpm sync` installs what is locked)
""")
    assert project.output("outdated", "docx") == "! docx is as new as it can be\n"
