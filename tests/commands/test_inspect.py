"""`list`, `show`, `diff --update`, `verify`, `registry`: commands that change nothing."""

import os
import shutil

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths


@pytest.fixture
def full(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project with a git, a bundled and a local skill."""
    project.run("install", f"{url}@pdf", "testing", check=True)
    project.write_files(prefix_paths(".agent-skills/mine", make_skill("mine", "By hand.")))
    project.run("registry", "build", check=True)
    return project


def test_list_shows_name_version_state_and_description(full: CommandSandbox, upstream: Repository) -> None:
    assert full.output("list") == expected_output(f"""\
mine             [unmanaged] By hand.
pdf     {upstream.resolve("main")[:7]}  Reads PDF files.
testing 1.0.0    Writes, repairs and reviews automated tests that fail when the…
""")


def test_an_empty_list_has_a_hint(scene: CommandSandbox) -> None:
    assert scene.output("list") == "! no skills in HOME/.agent-skills; try `skillpm install code-review`\n"


def test_list_in_a_fresh_clone_suggests_sync(full: CommandSandbox) -> None:
    shutil.rmtree(full.work / ".agent-skills")

    assert full.output("list") == "! no skills in WORK/.agent-skills; 2 locked: `skillpm sync` installs them\n"


def test_show_prints_everything_about_a_skill(full: CommandSandbox, upstream: Repository) -> None:
    commit = upstream.resolve("main")
    digest = full.read_json("skills.lock")["skills"]["pdf"]["digest"]
    full.run("link", "claude-code", check=True)

    assert full.output("show", "pdf") == expected_output(f"""\
pdf
  version      {commit[:7]}
  state        installed
  description  Reads PDF files.
  source       git+URL@{commit}#subdirectory=skills/pdf
  digest       {digest}
  path         WORK/.agent-skills/pdf
  links        .claude/skills/pdf
  tokens       about 3
  files        2
           60  SKILL.md
           20  scripts/read.sh *
""")


def test_show_of_a_skill_with_many_files_keeps_its_head_in_view(full: CommandSandbox) -> None:
    full.write_files({f".agent-skills/mine/notes/{number:02}.md": "x" for number in range(40)})

    lines = full.output("show", "mine").splitlines()
    assert (len(lines), lines[-1]) == (28, "    and 21 more; -v shows all")
    assert full.output("show", "mine", "-v").count("notes/") == 40
    assert len(full.json_output("show", "mine")["files"]) == 41


def test_show_of_a_local_skill(full: CommandSandbox) -> None:
    assert full.output("show", "mine") == expected_output("""\
mine
  state        unmanaged
  description  By hand.
  source       local
  path         WORK/.agent-skills/mine
  tokens       about 3
  files        1
           53  SKILL.md
""")


def test_show_reports_a_missing_program(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine", make_skill("mine", requires="git no-such-program")))
    project.run("install", "./mine", check=True)

    output = project.output("show", "mine")

    assert "  requires     git, no-such-program\n  missing here no-such-program\n" in output


def test_show_prints_every_kind_of_requirement(project: CommandSandbox) -> None:
    needs = "requires: {bins: [git], anyBins: [no-such-a, no-such-b], env: TOKEN, os: linux, notes: a quiet room}"
    project.write_files({"mine/SKILL.md": f"---\nname: mine\ndescription: d\n{needs}\n---\n"})
    project.run("install", "./mine", check=True)

    output = project.output("show", "mine")
    assert (
        "  requires     git\n  any of       no-such-a, no-such-b\n  environment  TOKEN\n  systems      linux\n"
        in output
    )
    assert "  needs        a quiet room\n  missing here one of no-such-a, no-such-b, $TOKEN\n" in output
    shown = project.json_output("show", "mine")
    assert (shown["requires"], shown["available"]) == (["git"], False)
    assert shown["missing"] == ["one of no-such-a, no-such-b", "$TOKEN"]
    assert shown["needs"] == {
        "anyBins": ["no-such-a", "no-such-b"],
        "env": ["TOKEN"],
        "config": [],
        "os": ["linux"],
        "mcp": [],
        "notes": ["a quiet room"],
    }
    assert project.json_output("show", "mine")["available"] is False


@pytest.mark.parametrize("command", ["show", "diff"])
def test_an_unknown_name_is_reported_with_a_suggestion(full: CommandSandbox, command: str) -> None:
    assert full.output(command, "testin") == expected_output("""\
! error: `testin` is not in WORK/.agent-skills
!   hint: did you mean `testing`?
[1]
""")
    assert full.output(command, "Bad Name") == expected_output("""\
! error: `Bad Name` is not in WORK/.agent-skills
!   hint: run `skillpm list` to see all skills
[1]
""")


def test_diff_update_shows_what_an_update_would_change(full: CommandSandbox, upstream: Repository) -> None:
    upstream.write({"skills/pdf/SKILL.md": make_skill("pdf", "Reads and writes PDF files.")["SKILL.md"]})
    upstream.write({"skills/pdf/logo.png": b"\x89PNG\xff"}).remove(["skills/pdf/scripts"]).commit()
    before = full.full_snapshot

    assert full.output("diff", "pdf", "--update") == expected_output("""\
--- a/SKILL.md
+++ b/SKILL.md
@@ -1,5 +1,5 @@
 ---
 name: pdf
-description: Reads PDF files.
+description: Reads and writes PDF files.
 ---
 Do it well.
added: logo.png (binary or too large to compare)
--- a/scripts/read.sh
+++ /dev/null
@@ -1,2 +0,0 @@
-#!/bin/sh
-echo read
""")
    assert full.full_snapshot == before


def test_diff_without_changes(full: CommandSandbox) -> None:
    assert full.output("diff", "testing") == "! testing is unchanged since it was installed (1.0.0)\n"
    assert full.output("diff", "testing", "--update") == "! an update would not change testing (1.0.0)\n"
    assert full.output("diff", "mine") == expected_output("""\
! error: `mine` was not installed by skillpm, so there is nothing to compare it with
!   hint: run `skillpm show mine` to inspect it
[1]
""")


def test_verify_reports_differences_from_the_lockfile(full: CommandSandbox) -> None:
    assert full.output("verify") == "! 2 of 2 skills match the lockfile\n"
    shutil.rmtree(full.work / ".agent-skills/testing")
    full.write(".agent-skills/pdf/notes.md", "Mine.\n")
    before = full.full_snapshot

    assert full.output("verify") == expected_output("""\
modified: pdf: edited since it was installed
    extra: notes.md
missing: testing: locked, but not installed; `skillpm sync` installs it
! 0 of 2 skills match the lockfile
[1]
""")
    assert full.full_snapshot == before


def test_verify_detects_a_change_with_the_same_size_and_time(full: CommandSandbox) -> None:
    file = full.work / ".agent-skills/pdf/SKILL.md"
    state = file.stat()
    file.write_bytes(file.read_bytes().replace(b"well", b"ill."))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))

    assert full.run("verify").code == 1
    assert full.run("sync", "--frozen").code == 1


def test_verify_detects_another_digest_in_the_lockfile(full: CommandSandbox) -> None:
    digest = full.read_json("skills.lock")["skills"]["pdf"]["digest"]
    other = digest[:-4] + ("0000" if digest[-4:] != "0000" else "1111")
    full.write("skills.lock", full.read("skills.lock").replace(digest, other))
    n = next(at for at in range(len(digest)) if digest[at] != other[at]) + 1  # so many digits tell them apart

    assert full.output("verify") == expected_output(f"""\
other-version: pdf: {digest[:n]}… is installed, {other[:n]}… is locked; `skillpm sync` installs the locked version
! 1 of 2 skills matches the lockfile
[1]
""")


def test_registry_check_compares_the_registry_with_the_disk(full: CommandSandbox) -> None:
    assert full.output("registry", "check") == "! the registry is up to date\n"
    full.write_files(prefix_paths(".agent-skills/new", make_skill("new")))
    full.write_files(prefix_paths(".agent-skills/mine", make_skill("mine", "Changed.")))
    shutil.rmtree(full.work / ".agent-skills/testing")
    before = full.full_snapshot

    assert full.output("registry", "check") == expected_output("""\
missing: new
stale: mine
extra: testing
! the registry is out of date; run `skillpm registry build`
[1]
""")
    assert full.full_snapshot == before

    assert full.output("registry", "build") == "WORK/.agent-skills/skills.json written: 3 skills\n"
    assert full.output("registry", "check") == "! the registry is up to date\n"
    assert full.output("registry", "build") == "WORK/.agent-skills/skills.json is up to date: 3 skills\n"


def test_registry_check_detects_an_edited_registry(full: CommandSandbox) -> None:
    full.write(".agent-skills/skills.json", full.read(".agent-skills/skills.json").replace("By hand.", "By foot."))

    assert full.output("registry", "check").splitlines()[0] == "stale: mine"
    assert full.output("list").splitlines()[0] == "mine             [unmanaged] By hand."


def test_building_a_registry_leaves_the_work_tree_clean(scene: CommandSandbox) -> None:
    scene.create_project()
    scene.write_files(prefix_paths(".agent-skills/mine", make_skill("mine")))

    scene.run("registry", "build", check=True)

    assert scene.read(".agent-skills/.skillpm/.gitignore") == "*\n"


def test_reading_commands_take_no_lock_and_write_nothing_at_all(full: CommandSandbox) -> None:
    def state() -> dict[str, tuple[int, int]]:
        found = ((path, path.lstat()) for path in sorted(full.root.rglob("*")) if full.cache not in path.parents)
        return {str(path): (entry.st_mtime_ns, entry.st_ino) for path, entry in found}

    before = state()

    for arguments in (
        ["list"], ["list", "--json"], ["show", "pdf"], ["diff", "pdf"], ["diff", "pdf", "--update"], ["verify"],
        ["registry", "check"], ["lock", "--check"], ["agents"], ["backup", "list"], ["sync", "--dry-run"],
        ["update", "--dry-run"], ["install", "--list", "URL"],
    ):  # fmt: skip
        words = [word.replace("URL", next(iter(full.placeholders))) for word in arguments]
        assert full.run(*words).code == 0, arguments
        assert state() == before, arguments
