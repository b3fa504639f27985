"""Merge conflicts and checkouts of a project whose skills are committed."""

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import make_skill, prefix_paths

UNMERGED = """\
---
name: mine
<<<<<<< HEAD
description: Ours.
=======
description: Theirs.
>>>>>>> feature
---
Do it.
<<<<<<< HEAD
Our way.
=======
Their way.
>>>>>>> feature
"""
TOLD = "warning: mine/SKILL.md: unresolved merge conflict, lines 3 to 7"
MARKED = '<<<<<<< HEAD\n{"version": "1"}\n=======\n{"version": "1"}\n>>>>>>> feature\n'


@pytest.fixture
def merged(project: CommandSandbox) -> CommandSandbox:
    """Return a project after a merge of two branches that changed a skill of its own."""
    project.write_files(prefix_paths(".agent-skills/mine", make_skill("mine", "Ours.")))
    project.run("sync", check=True)
    project.write(".agent-skills/mine/SKILL.md", UNMERGED)
    return project


def test_every_reader_reports_a_skill_with_conflict_markers(merged: CommandSandbox) -> None:
    for _ in range(2):
        assert merged.output("list") == f"mine   [unmanaged] Theirs.\n! {TOLD}\n"
        assert f"! {TOLD}\n" in merged.output("sync")
        assert f"! {TOLD}\n" in merged.output("registry", "build")
        assert f"! {TOLD}\n" in merged.output("registry", "check")
        assert f"! {TOLD}\n" in merged.output("prompt")

    merged.write_files(prefix_paths(".agent-skills/mine", make_skill("mine", "Both.")))
    assert "merge" not in merged.output("prompt")

    assert merged.output("sync") == "registry brought up to date: 1 skill in WORK/.agent-skills\n"
    assert merged.output("list") == "mine   [unmanaged] Both.\n"


def test_validate_names_the_conflict_and_what_to_do(merged: CommandSandbox) -> None:
    merged.write(".agent-skills/mine/SKILL.md", f"---\nname: mine\ndescription: x\n---\n{UNMERGED.split('it.')[1]}")

    assert merged.output("validate", ".agent-skills/mine") == expected_output("""\
.agent-skills/mine/SKILL.md:6: error: unresolved merge conflict, up to line 10; keep one side, or combine \
both, and delete the lines with <<<<<<<, ======= and >>>>>>> [merge-conflict]
       6 | <<<<<<< HEAD
! 0 of 1 skill valid
[1]
""")


def test_marks_above_the_frontmatter_are_reported_as_a_conflict(merged: CommandSandbox) -> None:
    merged.write(".agent-skills/mine/SKILL.md", f"<<<<<<< HEAD\n{UNMERGED}")

    assert merged.output("list") == expected_output("""\
! warning: mine/SKILL.md: line 1: unresolved merge conflict; keep one side, or combine both, and delete the \
lines with <<<<<<<, ======= and >>>>>>>
! no skills in WORK/.agent-skills; try `skillpm install code-review`
""")


def test_a_skill_that_teaches_merging_is_in_no_conflict(merged: CommandSandbox) -> None:
    body = "```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> feature\n```\n\nLook for `<<<<<<<`.\n\n<<<<<<< HEAD\n"
    merged.write_files(prefix_paths(".agent-skills/mine", make_skill("mine", "Merges.", body)))

    assert merged.output("validate", ".agent-skills/mine") == "! 1 of 1 skill valid\n"
    assert merged.output("list") == "mine   [unmanaged] Merges.\n"


def test_a_registry_with_conflict_markers_is_reported_and_rebuilt(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(".agent-skills/mine", make_skill("mine", "Mine.", triggers=["mine"])))
    project.write(".agent-skills/skills.json", MARKED)
    says = "! warning: skills.json: unresolved merge conflict; `skillpm registry build` regenerates it\n"

    assert project.output("list") == f"mine   [unmanaged] Mine.\n{says}"
    assert says in project.output("registry", "check")
    assert project.output("match", "mine") == f"mine\n{says}"

    project.run("registry", "build", check=True)
    assert project.output("list") == "mine   [unmanaged] Mine.\n"
    assert project.output("registry", "check") == "! the registry is up to date\n"


def test_a_clone_with_committed_skills_lists_them_as_what_they_are(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    project.write_files(prefix_paths(".agent-skills/mine", make_skill("mine", "Mine.")))
    project.run("sync", check=True)
    (project.work / ".agent-skills/.skillpm").rename(project.work.parent / "not-committed")

    listed = project.output("list").splitlines()

    assert listed[0] == "mine           [unmanaged] Mine."
    assert listed[1].startswith("testing 1.0.0  [locked] ")
    assert listed[2] == "! 1 skill on disk matches the lockfile, not installed yet: `skillpm sync` adopts it"
    row = project.json_output("list")["skills"][1]
    assert (row["state"], row["source"], row["digest"][:7]) == ("locked", "bundled:testing", "sha256:")

    with (project.work / ".agent-skills/testing/SKILL.md").open("a") as file:
        file.write("more\n")
    assert project.output("list").splitlines()[1].startswith("testing 1.0.0  [unmanaged] [lock: 1.0.0] ")

    project.run("sync", "--force", check=True)
    assert project.json_output("list")["skills"][1]["state"] == "installed"
