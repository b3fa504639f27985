"""Hints for beginners' mistakes: misspelled names, wrong order of arguments, wrong folder."""

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths


@pytest.mark.parametrize("words", [["link", "claude"], ["unlink", "claude"], ["link"]])
def test_an_unknown_agent_is_a_usage_error(project: CommandSandbox, words: list[str]) -> None:
    assert project.run(*words).code == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["pdf", "1.0.0", "public"], "pdf@1.0.0 public"),
        (["public", "pdf", "1.0.0"], "pdf@1.0.0 public"),
        (["public", "pdf@1.0.0"], "pdf@1.0.0 public"),
    ],
)
@pytest.mark.parametrize("verb", ["yank", "unyank"])
def test_arguments_in_another_order_get_the_right_command_as_a_hint(
    scene: CommandSandbox, verb: str, words: list[str], expected: str
) -> None:
    assert scene.output("index", verb, *words) == expected_output(f"""\
! error: `{words[0]}` does not name a version
!   hint: did you mean `skillpm index {verb} {expected}`?
[2]
""")


def test_a_missing_version_gets_an_example_as_a_hint(scene: CommandSandbox) -> None:
    assert scene.output("index", "yank", "pdf", "public") == expected_output("""\
! error: `pdf` does not name a version
!   hint: use NAME@VERSION, e.g. pdf@1.2.0
[2]
""")
    assert scene.output("index", "yank", "pdf@1.0.0", "public", "more") == expected_output("""\
! error: unexpected argument `more`
!   hint: run `skillpm index yank --help`
[2]
""")


def test_a_missing_source_folder_gets_similar_folders_as_a_hint(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("skills/pdf", make_skill("pdf")))

    assert scene.output("index", "build", "skils", "--out", "public") == expected_output("""\
! error: skils does not exist
!   hint: did you mean `skills`?
[1]
""")
    assert scene.output("index", "build", "nope", "--out", "public") == expected_output("""\
! error: nope does not exist
!   hint: name a skill's folder, or a folder of skills
[1]
""")


def test_a_sync_without_a_manifest_reports_that_it_used_the_user_scope(scene: CommandSandbox) -> None:
    scene.run("install", "-g", "code-review", check=True)

    assert scene.output("sync") == expected_output("""\
nothing to do: 1 skill in HOME/.agent-skills
! no skills.json found here or above; used the user scope (as -g does)
""")
    assert scene.output("sync", "-g") == "nothing to do: 1 skill in HOME/.agent-skills\n"


def test_outdated_reports_skills_that_differ_from_the_lockfile(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    project.run("install", f"{url}@pdf", f"{url}@docx", check=True)
    old = project.read_json("skills.lock")["skills"]["pdf"]["source"]["commit"][:7]
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", "Reads better.")))
    upstream.commit("second")
    project.run("lock", "--upgrade", check=True)
    new = project.read_json("skills.lock")["skills"]["pdf"]["source"]["commit"][:7]

    assert project.output("outdated") == expected_output(f"""\
! everything is up to date
! pdf: {old} is installed, {new} is locked (`skillpm sync` installs what is locked)
""")
    assert project.output("outdated", "docx") == "! docx is up to date\n"
