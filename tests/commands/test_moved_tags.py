"""A tag that moved is reported by every command that takes the new commit, with the skill, the tag and both commits."""

import pytest
from commands.scene import CommandSandbox
from kit import Repository, make_skill, prefix_paths

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.kinds.git import GitPin
from skillpm.locking.moved_refs import find_moved_tags


@pytest.fixture
def moved(project: CommandSandbox, upstream: Repository, url: str) -> str:
    """A project whose skill is locked to a tag that has moved since; return the message."""
    project.run("install", f"{url}#v1.0.0@docx", check=True)
    first = upstream.resolve("v1.0.0")
    upstream.write(prefix_paths("skills/docx", make_skill("docx", body="Other.\n"))).commit()
    upstream.tag("v1.0.0", force=True)
    return f"docx: tag v1.0.0 moved {first[:7]} → {upstream.resolve('v1.0.0')[:7]}"


def test_commits_with_the_same_first_digits_are_different() -> None:
    """Anyone can make a commit whose short id is that of another one."""
    before, after = (
        Lockfile(
            skills={
                SkillName("docx"): LockedSkill(
                    pin=GitPin(url="https://x/y", commit=f"1234567{digit * 33}", tree="a" * 40, ref="refs/tags/v1"),
                    digest=Digest(f"sha256:{digit * 64}"),
                )
            }
        )
        for digit in "ab"
    )

    assert find_moved_tags(before, after) == {"docx": "tag v1 moved 1234567 → 1234567"}


COMMANDS = [
    ["update"],
    ["update", "docx", "--dry-run"],
    ["update", "--force"],
    ["lock", "--upgrade"],
    ["lock", "--upgrade", "--dry-run"],
    ["lock", "--upgrade-skill", "docx"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_moved_tag_is_reported(project: CommandSandbox, moved: str, command: list[str]) -> None:
    if "--force" in command:
        project.write(".agent-skills/docx/SKILL.md", "my own words\n")

    warnings = [line for line in project.run(*command, check=True).stderr.splitlines() if "moved" in line]

    assert warnings == [f"warning: {moved}"]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_moved_tag_is_reported_as_json(project: CommandSandbox, moved: str, command: list[str]) -> None:
    assert [each for each in project.json_output(*command)["warnings"] if "moved" in each] == [moved]


CHANGES = {
    "install": ["install"],
    "sync": ["sync"],
    "sync --dry-run": ["sync", "--dry-run"],
    "sync --force": ["sync", "--force"],
    "install of another skill": ["install", "testing"],
    "lock": ["lock"],
}


@pytest.mark.parametrize("command", CHANGES.values(), ids=list(CHANGES))
def test_a_moved_tag_is_reported_where_a_changed_requirement_leads_to_it(
    project: CommandSandbox, moved: str, command: list[str]
) -> None:
    if "--force" in command:
        project.write(".agent-skills/docx/SKILL.md", "my own words\n")
    project.write("skills.json", project.read("skills.json").replace('"path": "skills/docx"', '"skill": "docx"'))

    assert [each for each in project.json_output(*command)["warnings"] if "moved" in each] == [moved]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("ref", ["#main", ""])
def test_a_branch_that_goes_back_to_an_older_commit_is_reported(
    project: CommandSandbox, upstream: Repository, url: str, ref: str, command: list[str]
) -> None:
    first = upstream.resolve("main")
    second = upstream.write(prefix_paths("skills/docx", make_skill("docx", body="Newer.\n"))).commit()
    project.run("install", f"{url}{ref}@docx", check=True)
    assert "went back" not in project.output(*command)
    upstream.reset(first)
    if "--force" in command:
        project.write(".agent-skills/docx/SKILL.md", "my own words\n")

    warnings = [each for each in project.json_output(*command)["warnings"] if "went back" in each]

    branch = "branch main" if ref else "the default branch"
    assert warnings == [f"docx: {branch} went back {second[:7]} → {first[:7]}, an older commit"]
