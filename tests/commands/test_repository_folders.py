"""A folder of skills, each in a folder of its own: all of them at once, each written down by itself."""

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import make_skill, prefix_paths


@pytest.fixture
def many(project: CommandSandbox) -> CommandSandbox:
    """Return a project with a folder of two skills and of other files."""
    (project.work / ".git").mkdir()
    project.write_files(prefix_paths("many/one", make_skill("one")) | prefix_paths("many/two", make_skill("two")))
    project.write_files({"many/README.md": "# Many\n", "many/notes/x.md": "x\n"})
    project.write_files(prefix_paths("many/.old", make_skill("old")))
    return project


def test_all_of_them(many: CommandSandbox) -> None:
    many.run("install", "./many", "--all", check=True)

    assert many.read_json("skills.json")["skills"] == {"one": {"path": "./many/one"}, "two": {"path": "./many/two"}}
    assert many.output("sync", "--frozen") == "nothing to do: 2 skills in WORK/.agent-skills\n"


def test_all_of_them_as_live_links(many: CommandSandbox) -> None:
    many.run("install", "./many/", "--all", "--link", check=True)

    assert many.read_json("skills.json")["skills"] == {
        "one": {"path": "./many/one", "link": True},
        "two": {"path": "./many/two", "link": True},
    }


def test_without_a_word_they_are_named(many: CommandSandbox) -> None:
    assert many.output("install", "./many") == expected_output("""\
! error: ./many has no SKILL.md
!   hint: it contains folders that have one: WORK/many/one, WORK/many/two; to install all of them: \
skillpm install ./many --all
[1]
""")


def test_a_clone_of_a_repository_leads_to_the_folder_of_its_skills(many: CommandSandbox) -> None:
    many.write_files(prefix_paths("clone/skills/one", make_skill("one")))

    assert many.output("install", "./clone", "--all") == expected_output("""\
! error: ./clone has no SKILL.md
!   hint: its folder skills contains skills; to install all of them: skillpm install ./clone/skills --all
[1]
""")


def test_the_skills_of_a_folder_are_listed_by_a_dry_run(many: CommandSandbox) -> None:
    refused = many.run("install", "./many", "--list")

    assert refused.error_output == (
        "error: `./many` is not a repository, a registry, a site or a package, so there is nothing to list\n"
        "  hint: `skillpm install ./many --all --dry-run` shows its skills\n"
    )
    assert "one" in many.run("install", "./many", "--all", "--dry-run", check=True).stdout


def test_a_skill_is_one_skill_whatever_lies_in_it(many: CommandSandbox) -> None:
    many.write_files(prefix_paths("many", make_skill("many")))

    many.run("install", "./many", "--all", check=True)

    assert list(many.read_json("skills.json")["skills"]) == ["many"]


def test_a_folder_of_nothing(many: CommandSandbox) -> None:
    assert many.output("install", "./many/notes", "--all").startswith("! error: ./many/notes has no SKILL.md\n")
    assert many.output("install", "./many", "--all", "--as", "x") == expected_output("""\
! error: --as requires a single skill, but there are several
!   hint: run `skillpm install --help`
[2]
""")
