"""Dependencies of a local skill in the folders beside it."""

from typing import Any

import pytest
from commands.scene import CommandSandbox
from kit import make_skill, prefix_paths


@pytest.fixture
def drafts(project: CommandSandbox) -> CommandSandbox:
    """A project with `review`, which requires `style` and `testing`, and `style`, which requires `words`."""
    write(project, "words")
    write(project, "style", "words")
    write(project, "review", "style>=1; testing")
    return project


def write(project: CommandSandbox, name: str, dependencies: str = "") -> None:
    metadata: dict[str, Any] = {"version": "1.0.0"}
    metadata |= {"skill-dependencies": dependencies} if dependencies else {}
    project.write_files(prefix_paths(f"skills/{name}", make_skill(name, metadata=metadata)))


def required(project: CommandSandbox) -> Any:
    return project.read_json("skills.json")["skills"]


@pytest.mark.parametrize("flags", [[], ["--link"]])
def test_dependencies_are_found_beside_a_local_skill(drafts: CommandSandbox, flags: list[str]) -> None:
    result = drafts.run("install", "./skills/review", *flags, check=True)

    value = {"link": True} if flags else {}
    assert required(drafts) == {name: {"path": f"./skills/{name}", **value} for name in ("review", "style", "words")}
    assert [line for line in result.stderr.splitlines() if "comes from" in line] == [
        "style, which review requires, comes from ./skills/style",
        "words, which style requires, comes from ./skills/words",
    ]
    assert drafts.read(".agent-skills/words/SKILL.md") == drafts.read("skills/words/SKILL.md")
    assert drafts.exists(".agent-skills/testing/SKILL.md")  # bundled: none is beside it
    assert drafts.run("sync", "--locked").code == 0
    again = drafts.run("install", "./skills/review", *flags, check=True)
    assert again.stdout.startswith("nothing to do: 4 skills")
    assert "comes from" not in again.stderr


def test_from_inside_of_a_skill(drafts: CommandSandbox) -> None:
    project = ("--project", str(drafts.work))
    drafts.run("install", ".", "--link", *project, cwd=drafts.work / "skills/review", check=True)

    assert [*required(drafts)] == ["review", "style", "words"]


def test_what_the_manifest_has_stays_as_it_is(drafts: CommandSandbox) -> None:
    project = drafts
    project.write_files(prefix_paths("other/style", make_skill("style", metadata={"version": "3.0.0"})))
    project.run("install", "./other/style", check=True)

    project.run("install", "./skills/review", check=True)

    assert required(project) == {"style": {"path": "./other/style"}, "review": {"path": "./skills/review"}}


def test_a_folder_that_does_not_fit_is_a_conflict(drafts: CommandSandbox) -> None:
    write(drafts, "review", "style>=2")
    before = drafts.read("skills.json")

    refused = drafts.run("install", "./skills/review")

    assert (refused.code, refused.error_output) == (
        1,
        "error: you require `style` from ./skills/style and `review` 1.0.0 (you require `review` from ./skills/review) "
        "requires `style` >=2; no version of `style` satisfies both; available: 1.0.0\n"
        '  hint: require another version, or override what the skills require: "overrides": {"style": "…"} '
        "in skills.json\n",
    )
    assert drafts.read("skills.json") == before
