"""Merge conflicts and checkouts of a project whose skills are committed."""

import json

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import GitError, Repository, git, make_skill, prefix_paths

from skillpm.core.conflict_markers import split_sides

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
    assert project.output("search", "--triggers", "mine") == f"mine\n{says}"

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


def merge_branches(project: CommandSandbox, *, style: str = "merge") -> None:
    """Merge two branches of which each installed a skill and changed another, and take both sides of the manifest."""
    folder = str(project.work)
    git("init", "-q", "-b", "main", folder)
    git("-C", folder, "config", "merge.conflictStyle", style)
    project.write(".gitignore", ".agent-skills\n")

    def commit(message: str) -> None:
        git("-C", folder, "add", "-A")
        git("-C", folder, "commit", "-q", "-m", message)

    project.run("install", "./shared", check=True)
    commit("base")
    git("-C", folder, "checkout", "-q", "-b", "feature")
    project.write_files(prefix_paths("shared", make_skill("shared", "Theirs.")))
    project.run("install", "testing", check=True)
    project.run("update", check=True)
    commit("theirs")
    git("-C", folder, "checkout", "-q", "main")
    project.write_files(prefix_paths("shared", make_skill("shared", "Ours.")))
    project.run("install", "code-review", check=True)
    project.run("update", check=True)
    commit("ours")
    with pytest.raises(GitError):
        git("-C", folder, "merge", "-q", "feature")
    skills = {"shared": {"path": "shared"}, "testing": {"bundled": True}, "code-review": {"bundled": True}}
    project.write("skills.json", json.dumps({"skills": skills}))
    project.write_files(prefix_paths("shared", make_skill("shared", "Both.")))


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_lock_merges_both_sides_of_a_conflict(project: CommandSandbox, style: str) -> None:
    project.write_files(prefix_paths("shared", make_skill("shared", "Base.")))
    merge_branches(project, style=style)
    ours = split_sides(project.read("skills.lock"))
    assert ours is not None
    label = json.loads(ours[0])["skills"]["shared"]["digest"].removeprefix("sha256:")[:12]

    assert project.output("lock") == expected_output(f"""\
 ~ shared {label} → 2b32ec5dfb1b
WORK/skills.lock written
! warning: WORK/skills.lock: merged both sides of its conflict; resolved again, since they lock it differently: shared
""")
    lockfile = json.loads(project.read("skills.lock"))
    assert sorted(lockfile["skills"]) == ["code-review", "shared", "testing"]
    assert project.run("lock", "--check").stdout == f"{project.work}/skills.lock is up to date\n"


def test_a_dry_run_of_lock_keeps_the_conflict(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("shared", make_skill("shared", "Base.")))
    merge_branches(project)
    before = project.read("skills.lock")

    assert "WORK/skills.lock would change\n" in project.output("lock", "--dry-run")
    assert project.read("skills.lock") == before


@pytest.mark.parametrize(
    "words", [["sync"], ["sync", "--frozen"], ["lock", "--check"], ["update"], ["CI"]], ids=" ".join
)
def test_no_other_command_decides_a_conflict_and_none_in_ci(project: CommandSandbox, words: list[str]) -> None:
    project.write_files(prefix_paths("shared", make_skill("shared", "Base.")))
    merge_branches(project)
    before = project.read("skills.lock")

    result = project.run("lock", env={"CI": "true"}) if words == ["CI"] else project.run(*words)

    assert result.code == 1
    line = before[: before.index("<<<<<<<")].count("\n") + 1
    assert result.stderr == (
        "error: unresolved merge conflict\n"
        f"  where: {project.work}/skills.lock:{line}\n"
        "  hint: `skillpm lock` merges both sides, except in CI; "
        "or take one: `git checkout --ours skills.lock`, then `skillpm lock`\n"
    )
    assert project.read("skills.lock") == before


def test_a_conflict_with_half_a_side_is_not_merged(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    text = project.read("skills.lock")
    project.write("skills.lock", f"<<<<<<< HEAD\n{text}=======\n{text[:40]}\n>>>>>>> feature\n")

    assert project.output("lock") == expected_output("""\
! error: unresolved merge conflict
!   where: WORK/skills.lock:1
!   hint: git has mixed the two sides; take one: `git checkout --ours skills.lock`, then `skillpm lock`
[1]
""")


def test_lock_merges_sides_whose_lines_git_has_mixed(project: CommandSandbox, upstream: Repository, url: str) -> None:
    for name in ("a", "b", "report"):
        upstream.write(prefix_paths(f"skills/{name}", make_skill(name)))
    upstream.commit("all")
    folder = str(project.work)
    git("init", "-q", "-b", "main", folder)
    project.write(".gitignore", ".agent-skills\n")

    def commit(message: str) -> None:
        git("-C", folder, "add", "-A")
        git("-C", folder, "commit", "-q", "-m", message)

    project.run("install", f"{url}@report", check=True)
    commit("base")
    git("-C", folder, "checkout", "-q", "-b", "feature")
    project.run("install", f"{url}@a", check=True)
    upstream.write(prefix_paths("skills/report", make_skill("report", body="New.\n"))).commit("new")
    project.run("update", "report", check=True)
    commit("theirs")
    theirs = json.loads(project.read("skills.lock"))["skills"]["a"]
    git("-C", folder, "checkout", "-q", "main")
    project.run("sync", check=True)
    project.run("install", f"{url}@b", check=True)
    commit("ours")
    with pytest.raises(GitError):
        git("-C", folder, "merge", "-q", "feature")
    sides = split_sides(project.read("skills.lock"))
    assert sides is not None
    assert max(side.count('"report": {') for side in sides) > 1  # so that no side is a lockfile
    skills = {name: {"git": url, "path": f"skills/{name}"} for name in ("a", "b", "report")}
    project.write("skills.json", json.dumps({"skills": skills}))

    result = project.run("lock")

    merged = "merged both sides of its conflict; resolved again, since they lock it differently: report\n"
    assert (result.code, result.stderr) == (0, f"warning: {project.work}/skills.lock: {merged}")
    locked = json.loads(project.read("skills.lock"))["skills"]
    assert (sorted(locked), locked["a"]) == (["a", "b", "report"], theirs)
    assert project.run("sync", "--frozen").code == 0
