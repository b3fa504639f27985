"""Groups of the manifest: install or list some of the skills."""

import shutil

import pytest
from commands.scene import CommandSandbox, expected_output


@pytest.fixture
def grouped(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project that requires docx, and pdf in the group `read`; nothing is installed."""
    project.run("install", f"{url}@docx", check=True)
    project.run("install", f"{url}@pdf", "--group", "read", check=True)
    shutil.rmtree(project.work / ".agent-skills")
    return project


def test_install_adds_to_the_group(grouped: CommandSandbox, url: str) -> None:
    assert grouped.read_json("skills.json")["groups"] == {"read": ["pdf"]}

    grouped.run("install", f"{url}@docx", "--group", "read", check=True)

    assert grouped.read_json("skills.json")["groups"] == {"read": ["pdf", "docx"]}


@pytest.mark.parametrize("policy", [[], ["--frozen"], ["--locked"]])
def test_sync_installs_only_the_group_and_removes_nothing(grouped: CommandSandbox, policy: list[str]) -> None:
    assert grouped.run("sync", "--group", "read", *policy, check=True).stdout.startswith(" + pdf ")
    assert not grouped.exists(".agent-skills/docx")

    grouped.run("sync", check=True)
    assert grouped.exists(".agent-skills/docx")
    assert grouped.output("sync", "--group", "read", *policy) == "nothing to do: 2 skills in WORK/.agent-skills\n"


def test_dependencies_belong_to_the_group(project: CommandSandbox) -> None:
    for name, needs in (("a", "metadata:\n  skill-dependencies: testing\n"), ("b", "")):
        project.write(f"mine/{name}/SKILL.md", f"---\nname: {name}\ndescription: d\n{needs}---\nDo it.\n")
    project.write(
        "skills.json",
        '{"skills": {"a": {"path": "mine/a"}, "b": {"path": "mine/b"}}, "groups": {"first": ["a"]}}\n',
    )

    project.run("sync", "--group", "first", check=True)

    assert [project.exists(f".agent-skills/{name}") for name in ("a", "testing", "b")] == [True, True, False]


def test_list_shows_only_the_group(grouped: CommandSandbox) -> None:
    grouped.run("sync", check=True)

    assert [skill["name"] for skill in grouped.json_output("list", "--group", "read")["skills"]] == ["pdf"]
    assert [skill["name"] for skill in grouped.json_output("list")["skills"]] == ["docx", "pdf"]


@pytest.mark.parametrize("command", ["sync", "list"])
def test_an_unknown_group(grouped: CommandSandbox, command: str) -> None:
    assert grouped.output(command, "--group", "raed") == expected_output("""\
! error: no group `raed`
!   where: WORK/skills.json
!   hint: did you mean `read`?
[1]
""")


def test_a_name_that_is_not_required(grouped: CommandSandbox) -> None:
    grouped.write("skills.json", grouped.read("skills.json").replace('["pdf"]', '["pdff"]'))

    assert grouped.output("sync", "--group", "read") == expected_output("""\
! error: `pdff` is not a required skill
!   where: WORK/skills.json:1:13: groups.read
!   hint: did you mean `pdf`?
[1]
""")


def test_uninstall_removes_the_name_from_groups(grouped: CommandSandbox) -> None:
    grouped.run("sync", check=True)
    grouped.run("uninstall", "pdf", check=True)

    assert grouped.read_json("skills.json")["groups"] == {}


def test_groups_are_lists_of_names(project: CommandSandbox) -> None:
    project.write("skills.json", '{"skills": {}, "groups": {"read": "pdf"}}\n')

    assert project.run("sync", "--json").json["error"]["message"] == 'expected an array, got "pdf"'
