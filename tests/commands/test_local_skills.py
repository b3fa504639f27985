"""`skillpm install ./folder`: copied, or linked live."""

import shutil

import pytest
from commands.scene import LINK_HINT, CommandSandbox, expected_output, manifest_text
from kit import git, make_skill, prefix_paths


@pytest.fixture
def mine(project: CommandSandbox) -> CommandSandbox:
    """Return a project with two skills of its own."""
    project.write_files(
        prefix_paths("mine/style", make_skill("style", body="First.\n"))
        | prefix_paths("mine/rules", make_skill("rules"))
    )
    return project


def test_a_folder_is_copied_and_shown_relative_to_the_project(mine: CommandSandbox) -> None:
    mine.write("deep/er/here", "")

    output = mine.output("install", "../../mine/style", cwd="deep/er")
    assert output.splitlines()[1] == "added 1; total: 1 skill in WORK/.agent-skills"
    assert mine.read_json("skills.json") == {"skills": {"style": {"path": "./mine/style"}}}
    assert mine.snapshot(".agent-skills/style") == mine.snapshot("mine/style")


def test_an_edit_of_the_source_reaches_a_copy_with_the_next_sync(mine: CommandSandbox) -> None:
    mine.run("install", "./mine/style", check=True)
    mine.write("mine/style/SKILL.md", make_skill("style", body="Second.\n")["SKILL.md"])

    assert mine.output("verify") == "! 1 of 1 skill matches the lockfile\n"
    assert mine.output("lock", "--check") == expected_output("""\
! error: the lockfile is not up to date: the content of `style` has changed
!   where: WORK/skills.lock
!   hint: run `skillpm lock`
[1]
""")
    assert mine.output("sync", "--locked") == expected_output("""\
! error: the lockfile is not up to date: the content of `style` has changed
!   where: WORK/skills.lock
!   hint: run `skillpm lock` and commit skills.lock
[1]
""")
    assert (
        mine.run("sync", check=True).stdout.splitlines()[1] == f"updated 1; total: 1 skill in {mine.work}/.agent-skills"
    )
    assert mine.read(".agent-skills/style/SKILL.md").endswith("Second.\n")


def test_a_live_link_is_what_the_folder_is(mine: CommandSandbox) -> None:
    output = mine.output("install", "./mine/style", "--link")

    assert output == " + style (live link)\nadded 1; total: 1 skill in WORK/.agent-skills\n" + LINK_HINT
    assert mine.read_json("skills.json") == {"skills": {"style": {"path": "./mine/style", "link": True}}}
    assert mine.read_json("skills.lock")["skills"] == {"style": {"source": {"path": "./mine/style", "link": True}}}
    assert (
        mine.render_tree(".agent-skills", ignore=[".skillpm"])
        == ".gitattributes\nskills.json\nstyle -> ../mine/style\n"
    )

    mine.write("mine/style/SKILL.md", make_skill("style", "Changed.", body="Second.\n")["SKILL.md"])
    assert mine.output("sync", "--locked") in {
        "nothing to do: 1 skill in WORK/.agent-skills\n",
        "registry brought up to date: 1 skill in WORK/.agent-skills\n",
    }
    assert mine.output("list") == "style   Changed.\n"
    assert mine.output("verify") == "! 0 of 0 skills match the lockfile, 1 live link skipped\n"


def test_every_command_reports_a_live_link_whose_folder_is_missing(mine: CommandSandbox) -> None:
    mine.run("install", "./mine/style", "--link", check=True)
    shutil.rmtree(mine.work / "mine/style")

    assert mine.output("list") == "style   [missing]\n"
    assert mine.output("verify") == expected_output("""\
missing: style: the target of its live link is not a folder
! 0 of 1 skill matches the lockfile
[1]
""")
    assert mine.output("show", "style") == expected_output("""\
! error: `style` is a link to a folder that no longer exists
!   where: WORK/.agent-skills/style
!   hint: `skillpm uninstall style` removes the link
[1]
""")
    assert mine.output("uninstall", "style", "-q") == ""
    assert not mine.exists(".agent-skills/style")


@pytest.mark.parametrize("what", ["nothing", "a file", "a folder", "a link to nothing"])
def test_a_checkout_without_the_folder_of_a_live_link_names_the_skill(mine: CommandSandbox, what: str) -> None:
    mine.run("install", "./mine/style", "--link", check=True)
    mine.run("install", "code-review", check=True)
    shutil.rmtree(mine.work / ".agent-skills")
    shutil.rmtree(mine.work / "mine/style")
    style = mine.work / "mine/style"
    match what:
        case "a file":
            style.write_text("x")
        case "a folder":
            style.mkdir()
        case "a link to nothing":
            style.symlink_to("gone")
    missing = """\
! error: `style`: its folder ./mine/style does not exist
!   where: WORK/mine/style
!   hint: restore it, or remove the skill with `skillpm uninstall style`
[1]
"""
    if what == "a link to nothing":
        missing = missing.replace("WORK/mine/style", "WORK/mine/gone")
    elif what == "a folder":
        missing = "! error: ./mine/style has no SKILL.md\n!   hint: a skill is a folder that contains a SKILL.md\n[1]\n"

    for words in (["sync", "--frozen"], ["sync", "-q"], ["install", "testing", "-q"]):
        assert mine.output(*words) == expected_output(missing), words
        assert not mine.exists(".agent-skills/code-review")
    mine.run("uninstall", "style", check=True)
    mine.run("sync", check=True)
    assert mine.exists(".agent-skills/code-review")


def test_from_copy_to_live_link_and_back(mine: CommandSandbox) -> None:
    mine.run("install", "./mine/style", check=True)

    mine.run("install", "./mine/style", "--link", "--force", check=True)
    assert (mine.work / ".agent-skills/style").is_symlink()

    mine.run("install", "./mine/style", "--force", check=True)
    assert mine.snapshot(".agent-skills/style") == mine.snapshot("mine/style")
    assert not mine.exists(".agent-skills/.skillpm/backup")


def test_uninstalling_a_live_link_leaves_the_folder(mine: CommandSandbox) -> None:
    mine.run("install", "./mine/style", "--link", check=True)
    before = mine.snapshot("mine")

    mine.run("uninstall", "style", check=True)

    assert mine.snapshot("mine") == before


def test_a_folder_elsewhere_is_taken_with_a_warning(mine: CommandSandbox) -> None:
    mine.write_files(prefix_paths("../elsewhere/style", make_skill("style")))
    home = prefix_paths(str(mine.home / "skills/rules"), make_skill("rules"))
    mine.write_files(home)

    assert (
        "! warning: ROOT/elsewhere/style is outside this repository and your home folder, so others cannot \
install it\n"
        in (mine.output("install", "../elsewhere/style"))
    )
    assert "warning" not in mine.output("install", "~/skills/rules")
    assert mine.read_json("skills.json")["skills"] == {
        "rules": {"path": "~/skills/rules"},
        "style": {"path": "ROOT/elsewhere/style"},
    }


def test_files_that_git_ignores_are_not_part_of_a_local_skill(mine: CommandSandbox) -> None:
    git("init", "-q", str(mine.work))
    mine.write(".gitignore", "*.log\n")
    mine.write("mine/style/debug.log", "noise")
    mine.write("mine/style/__pycache__/x.pyc", "noise")

    mine.run("install", "./mine/style", check=True)

    assert mine.render_tree(".agent-skills/style") == "SKILL.md\n"


def test_the_project_itself_can_be_the_skill_of_the_user(scene: CommandSandbox) -> None:
    scene.write_files(make_skill("house"))

    assert scene.output("install", "-g", ".").splitlines()[1] == "added 1; total: 1 skill in HOME/.agent-skills"
    assert (scene.home / ".agent-skills/house/SKILL.md").read_bytes() == make_skill("house")["SKILL.md"]


def test_a_conflict_names_a_folder_as_it_is_written(mine: CommandSandbox) -> None:
    mine.run("install", "./mine/style", check=True)
    mine.run("install", "./mine/rules", "--link", check=True)

    for spec, name, output in (
        ("./mine/rules", "style", "./mine/style"),
        ("./mine/style", "rules", "./mine/rules (live link)"),
    ):
        assert mine.output("install", spec, "--as", name) == expected_output(f"""\
! error: `{name}` is already required from {output}
!   where: WORK/skills.json: skills.{name}
!   hint: use --as NAME to install the new one under another name, or --force to replace the existing one
[1]
""")


@pytest.fixture
def copied(mine: CommandSandbox) -> CommandSandbox:
    """Return a project with a copy of a folder of its own, and with a bundled skill."""
    mine.run("install", "./mine/style", "testing", check=True)
    return mine


def test_frozen_refuses_a_folder_that_is_not_as_it_was_locked(copied: CommandSandbox) -> None:
    assert copied.output("sync", "--frozen") == "nothing to do: 2 skills in WORK/.agent-skills\n"
    copied.write("mine/style/SKILL.md", make_skill("style", body="Second.\n")["SKILL.md"])
    before = copied.full_snapshot

    assert copied.output("sync", "--frozen") == expected_output("""\
! error: the lockfile is not up to date: the content of `style` has changed
!   where: WORK/skills.lock
!   hint: run `skillpm lock` and commit skills.lock
[1]
""")
    assert copied.full_snapshot == before


def test_a_folder_that_is_away_stops_nothing_else(copied: CommandSandbox) -> None:
    shutil.rmtree(copied.work / "mine/style")
    away = "! warning: style: its folder ./mine/style is missing; it stays as it is locked\n"

    assert copied.output("sync") == "nothing to do: 2 skills in WORK/.agent-skills\n" + away
    assert copied.output("lock") == "WORK/skills.lock is up to date\n" + away
    assert copied.output("update") == "nothing to do: 2 skills in WORK/.agent-skills\n" + away
    assert copied.output("install", "code-review").splitlines()[1] == "added 1; total: 3 skills in WORK/.agent-skills"
    assert copied.output("uninstall", "testing").splitlines()[1] == "removed 1; total: 2 skills in WORK/.agent-skills"
    assert copied.run("link", "codex").code == 0
    shutil.rmtree(copied.work / ".agent-skills/style")
    copied.run("sync", check=True)  # from the store
    assert copied.read(".agent-skills/style/SKILL.md").endswith("First.\n")


def test_a_folder_that_is_away_is_named_with_its_skill_where_it_is_needed(copied: CommandSandbox) -> None:
    shutil.rmtree(copied.work / "mine/style")
    needed = expected_output("""\
! error: `style`: its folder ./mine/style does not exist
!   where: WORK/mine/style
!   hint: restore it, or remove the skill with `skillpm uninstall style`
[1]
""")

    for words in (["sync", "--locked"], ["sync", "--frozen"], ["update", "style"]):
        assert copied.output(*words) == needed, words
    (copied.work / "skills.lock").unlink()
    assert copied.output("sync") == needed
    assert copied.run("uninstall", "style").code == 0


def test_an_install_does_not_copy_other_skills_again(copied: CommandSandbox) -> None:
    copied.write("mine/style/SKILL.md", make_skill("style", body="Second.\n")["SKILL.md"])

    assert copied.output("install", "code-review") == expected_output("""\
 + code-review 1.0.0
added 1; total: 3 skills in WORK/.agent-skills
""")
    assert copied.read(".agent-skills/style/SKILL.md").endswith("First.\n")
    assert copied.run("sync", check=True).stdout.splitlines()[1].startswith("updated 1")


@pytest.mark.parametrize("spec", ["style", "style.tar.gz"])
def test_a_spec_without_its_dot_gets_a_hint_about_the_local_folder(mine: CommandSandbox, spec: str) -> None:
    mine.write("mine/style.tar.gz", "")
    messages = {
        "style": ("no index is configured, and skillpm bundles no skill named `style`", 1),
        "style.tar.gz": ("invalid SPEC `style.tar.gz`", 2),
    }
    message, code = messages[spec]

    assert mine.output("install", spec, cwd="mine") == (
        f"! error: {message}\n!   hint: to install the local one, use `./{spec}`\n[{code}]\n"
    )


def test_a_name_that_nothing_here_has_keeps_its_hint(mine: CommandSandbox) -> None:
    assert "./" not in mine.output("install", "style")


def test_the_skills_directory_cannot_be_a_source_for_itself(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(".agent-skills/mine", make_skill("mine")))
    before = project.full_snapshot

    output = [project.output("install", "./.agent-skills/mine", *more) for more in ([], ["--link"], ["--as", "other"])]

    assert output == 3 * [
        expected_output("""\
! error: ./.agent-skills/mine is inside a directory where skills are installed
!   hint: agents see it already (`skillpm list`); to manage it, move it elsewhere, for example `mv \
./.agent-skills/mine ~/my-skills/`, and install it from there
[2]
""")
    ]
    assert project.full_snapshot == before


@pytest.mark.parametrize("command", [["sync"], ["lock"], ["update"], ["sync", "--frozen"]], ids=" ".join)
def test_a_manifest_that_was_written_by_hand_may_not_say_so_either(project: CommandSandbox, command: list[str]) -> None:
    project.write_files(prefix_paths(".agent-skills/mine", make_skill("mine")))
    project.write("skills.json", manifest_text(mine={"path": "./.agent-skills/mine"}))
    project.write("skills.lock", '{"version": 1, "requirements": {}, "skills": {}}\n')
    before = project.full_snapshot

    assert project.output(*command) == expected_output("""\
! error: ./.agent-skills/mine is inside a directory where skills are installed
!   where: WORK/skills.json: skills.mine
!   hint: agents see it already (`skillpm list`); to manage it, move it elsewhere, for example `mv \
./.agent-skills/mine ~/my-skills/`, and install it from there
[2]
""")
    assert project.full_snapshot == before


def test_an_unloadable_skill_of_a_folder_is_left_out_and_reported_with_its_file(project: CommandSandbox) -> None:
    project.write_files({"mine/good/SKILL.md": make_skill("good")["SKILL.md"], "mine/bad/SKILL.md": "no frontmatter\n"})

    assert project.run("install", "./mine", "--all").stderr.splitlines()[0] == (
        "warning: left out bad of ./mine: its SKILL.md cannot be loaded: the file does not begin with a `---` line"
    )
    assert project.exists(".agent-skills/good/SKILL.md")
    assert not project.exists(".agent-skills/bad")
