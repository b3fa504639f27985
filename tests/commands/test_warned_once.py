"""A warning about a skill is printed when it is installed, and not again while its lock entry is unchanged."""

import pytest
from commands.scene import CommandSandbox
from kit import Repository, make_skill, prefix_paths

INNER = "warning: outer: contains another skill at more/inner/SKILL.md, which some hosts also load\n"
HOLDING = make_skill("outer") | prefix_paths("more/inner", make_skill("inner"))


@pytest.mark.parametrize("flags", [[], ["--link"]])
def test_a_local_skill_is_warned_of_when_it_comes_and_not_at_each_sync(
    project: CommandSandbox, flags: list[str]
) -> None:
    project.write_files(prefix_paths("mine/outer", HOLDING))

    assert INNER in project.run("install", "./mine/outer", *flags, check=True).stderr

    for words in (["sync"], ["sync", "--frozen"], ["sync", "--locked"], ["lock"], ["lock", "--check"]):
        assert "warning" not in project.run(*words, check=True).stderr
    assert project.json_output("sync")["warnings"] == []
    assert INNER.removeprefix("warning: ") in project.run("sync", "-v", check=True).stderr


def test_a_local_skill_that_changed_is_warned_of_again(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine/outer", HOLDING))
    project.run("install", "./mine/outer", check=True)
    project.write("mine/outer/notes.md", "more")

    assert project.run("sync", check=True).stderr.startswith(INNER)


def test_an_update_that_brings_nothing_warns_of_nothing(
    project: CommandSandbox, upstream: Repository, url: str
) -> None:
    upstream.write(prefix_paths("skills/outer", HOLDING)).commit()
    assert INNER in project.run("install", f"{url}@outer", check=True).stderr

    assert "warning" not in project.run("update", check=True).stderr
    assert "warning" not in project.run("outdated", check=True).stderr


def test_many_local_skills_that_hold_others_are_one_warning(project: CommandSandbox) -> None:
    for name in "abcd":
        project.write_files(
            prefix_paths(f"mine/{name}", make_skill(name) | prefix_paths("more/inner", make_skill("inner")))
        )

    output = project.run("install", "./mine", "--all", check=True).stderr

    assert output.splitlines()[0] == (
        "warning: 4 skills contain nested skills, which some hosts also load: a, b, c and 1 more (-v lists the files)"
    )
