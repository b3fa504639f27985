"""A skill that has vanished upstream is named, with where it went; the others are updated."""

import json

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths

PDF = make_skill("pdf") | {"scripts/read.sh": b"#!/bin/sh\necho read more\n"}


@pytest.fixture
def both(project: CommandSandbox, upstream: Repository, url: str) -> CommandSandbox:
    """Return a project with two skills of a repository, of which one moves and the other changes."""
    upstream.write(prefix_paths("skills/pdf", PDF)).commit()
    project.run("install", url, "-s", "docx", "pdf", check=True)
    upstream.remove(["skills/pdf"])
    upstream.write(prefix_paths("office/portable", PDF))
    upstream.write({"skills/docx/notes.md": "New.\n"}).commit()
    return project


def test_the_others_are_updated_and_the_new_folder_is_named(both: CommandSandbox, upstream: Repository) -> None:
    old, new = both.read_json("skills.lock")["skills"]["docx"]["source"]["commit"][:7], upstream.resolve("main")[:7]
    before = both.read_json("skills.lock")["skills"]["pdf"]

    assert both.output("update") == expected_output(f"""\
 ~ docx {old} → {new}
updated 1; total: 2 skills in WORK/.agent-skills
! error: pdf was not updated: URL has no folder `skills/pdf`; the same content is in `office/portable`
!   hint: to follow it, run `skillpm install URL --path office/portable --as pdf --force`
[1]
""")

    assert both.read(".agent-skills/docx/notes.md") == "New.\n"
    assert both.read_json("skills.lock")["skills"]["pdf"] == before
    assert both.output("verify") == "! 2 of 2 skills match the lockfile\n"
    # It is said again, and nothing else happens.
    assert both.output("update").splitlines()[0] == "nothing to do: 2 skills in WORK/.agent-skills"
    assert both.run("update").code == 1


def test_the_hint_follows_the_skill(both: CommandSandbox, url: str) -> None:
    both.run("update")

    both.run("install", url, "--path", "office/portable", "--as", "pdf", "--force", check=True)

    assert both.output("update").splitlines()[0] == "nothing to do: 2 skills in WORK/.agent-skills"
    assert both.read_json("skills.json")["skills"]["pdf"]["path"] == "office/portable"


def test_lock_and_json_say_the_same(both: CommandSandbox) -> None:
    failed = [
        {
            "skills": ["pdf"],
            "message": "URL has no folder `skills/pdf`; the same content is in `office/portable`",
            "hint": "to follow it, run `skillpm install URL --path office/portable --as pdf --force`",
        }
    ]
    for command in (["update", "--dry-run"], ["lock", "--upgrade", "--dry-run"], ["update"]):
        result = both.run(*command, "--json")
        assert (result.code, result.stderr) == (1, "")
        assert json.loads(both.add_placeholders(result.stdout))["failed"] == failed
    assert both.output("lock", "--upgrade") == expected_output("""\
WORK/skills.lock is up to date
! error: pdf was not updated: URL has no folder `skills/pdf`; the same content is in `office/portable`
!   hint: to follow it, run `skillpm install URL --path office/portable --as pdf --force`
[1]
""")


def test_outdated_reports_both(both: CommandSandbox, upstream: Repository) -> None:
    old, new = both.read_json("skills.lock")["skills"]["docx"]["source"]["commit"][:7], upstream.resolve("main")[:7]

    assert both.output("outdated") == expected_output(f"""\
skill  current  wanted   latest
docx   {old}  {new}  {new}
pdf    {old}  {old}  ?
! pdf: could not be checked: URL has no folder `skills/pdf`; the same content is in `office/portable`
[1]
""")


def test_a_folder_in_the_hint_cannot_leave_its_argument(both: CommandSandbox, upstream: Repository) -> None:
    upstream.remove(["office/portable"])
    upstream.write(prefix_paths("office/$(touch owned) `x`", PDF)).commit()

    assert both.output("update").splitlines()[3] == (
        "!   hint: to follow it, run `skillpm install URL --path 'office/$(touch owned) `x`' --as pdf --force`"
    )


def test_several_that_vanished_in_one_commit_are_named_at_once(
    project: CommandSandbox, upstream: Repository, url: str
) -> None:
    upstream.write({"skills/xlsx/SKILL.md": make_skill("xlsx")["SKILL.md"]}).commit()
    project.run("install", url, "-s", "docx", "pdf", "xlsx", check=True)
    upstream.remove(["skills/pdf", "skills/xlsx"])
    upstream.write({"moved/xlsx/SKILL.md": make_skill("xlsx")["SKILL.md"], "moved/xlsx/more.md": "x"}).commit()

    assert project.output("update") == expected_output("""\
nothing to do: 3 skills in WORK/.agent-skills
! error: pdf was not updated: URL has no folder `skills/pdf`
!   hint: its skills are in: moved/xlsx, skills/docx; \
to replace it: `skillpm install URL@NAME`, then `skillpm uninstall pdf`
! error: xlsx was not updated: URL has no folder `skills/xlsx`
!   hint: did you mean `URL@xlsx`? its folder is moved/xlsx; \
to replace it: `skillpm install URL@xlsx`, then `skillpm uninstall xlsx`
[1]
""")
    # What installs them again says the same of both at once.
    (project.work / "skills.lock").unlink()
    assert project.output("sync") == expected_output("""\
! error: 2 skills were not found
!   pdf: URL has no folder `skills/pdf`
!   xlsx: URL has no folder `skills/xlsx`
[1]
""")


def test_a_branch_that_is_gone_stops_only_its_skills(project: CommandSandbox, upstream: Repository, url: str) -> None:
    upstream.branch("next")
    project.run("install", f"{url}@docx", f"{url}#next@pdf", check=True)
    upstream.delete_branch("next")
    upstream.write({"skills/docx/notes.md": "New.\n"}).commit()

    output = project.output("update").splitlines()

    assert (
        output[2:]
        == expected_output("""\
! error: pdf was not updated: URL has no branch `next`
!   hint: its branches: main
[1]
""").splitlines()
    )
    assert project.exists(".agent-skills/docx/notes.md")


def test_a_skill_that_cannot_be_loaded_any_more_stops_only_itself(both: CommandSandbox, upstream: Repository) -> None:
    upstream.write(prefix_paths("skills/pdf", {"SKILL.md": "No frontmatter.\n"})).commit()

    output = both.output("update").splitlines()

    assert (
        output[1:]
        == expected_output("""\
updated 1; total: 2 skills in WORK/.agent-skills
! error: pdf was not updated: its SKILL.md cannot be loaded: the file does not begin with a `---` line
!   hint: report it to its author; nothing was installed
[1]
""").splitlines()
    )


def test_the_difference_to_a_skill_that_is_gone_is_an_error(both: CommandSandbox) -> None:
    assert both.output("diff", "pdf", "--update") == expected_output("""\
! error: URL has no folder `skills/pdf`
!   hint: its skills are in: office/portable, skills/docx
[1]
""")


def test_install_stays_all_or_nothing(both: CommandSandbox, url: str) -> None:
    before = both.full_snapshot

    assert both.run("install", f"{url}@docx", f"{url}@none").code == 1
    assert both.full_snapshot == before
