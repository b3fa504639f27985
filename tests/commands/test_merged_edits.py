"""Edits of installed skills that are merged into new content, or kept, as options and `edits` say."""

import json
import os

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill

from skillpm.installer.disk.disk_state import MAX_READ_SIZE

BODY = "".join(f"Line {number}.\n" for number in range(1, 21))
TEXT = make_skill("pdf", body=BODY)["SKILL.md"].decode()
FILE = ".agent-skills/pdf/SKILL.md"


@pytest.fixture
def edited(project: CommandSandbox, upstream: Repository, url: str) -> CommandSandbox:
    """Return a project with a skill of which the user changed line 2."""
    upstream.write({"skills/pdf/SKILL.md": TEXT}).commit()
    project.run("install", f"{url}@pdf", check=True)
    project.write(FILE, TEXT.replace("Line 2.", "Mine."))
    return project


def publish(upstream: Repository, line: int, text: str = "Theirs.") -> tuple[str, str]:
    """Change a line upstream; return the short commits before and after."""
    old = upstream.resolve("main")[:7]
    upstream.write({"skills/pdf/SKILL.md": TEXT.replace(f"Line {line}.", text)})
    return old, upstream.commit()[:7]


def test_an_update_that_edits_block_names_the_way_to_carry_them_over(
    edited: CommandSandbox, upstream: Repository
) -> None:
    publish(upstream, 18)

    assert edited.output("update") == expected_output("""\
! error: blocked by local changes; nothing was changed
!   pdf: edited since it was installed (SKILL.md modified)
!   hint: use `skillpm diff pdf` to see the changes, `--merge` to carry them over, `skillpm update \
--keep pdf` to keep it as it is, or `--force` to back it up and continue; to keep it always, write "edits": \
{"pdf": "keep"} into skills.json
[1]
""")


def test_edits_are_merged_and_stay_edits(edited: CommandSandbox, upstream: Repository) -> None:
    old, new = publish(upstream, 18)

    assert edited.output("update", "--merge") == expected_output(f"""\
 ~ pdf {old} → {new}  (your edits merged; backed up first)
updated 1; total: 1 skill in WORK/.agent-skills
! warning: backed up your version of pdf as pdf-1; restore it with `skillpm backup restore pdf-1`
""")

    assert edited.read(FILE) == TEXT.replace("Line 2.", "Mine.").replace("Line 18.", "Theirs.")
    diff = edited.output("diff", "pdf").splitlines()
    assert [line for line in diff if line[:1] in {"-", "+"}] == [
        "--- a/SKILL.md",
        "+++ b/SKILL.md",
        "-Line 2.",
        "+Mine.",
    ]
    assert edited.run("verify").code == 1
    assert edited.read_json("skills.lock")["skills"]["pdf"]["source"]["commit"][:7] == new
    # Again, on top of the new base.
    publish(upstream, 10)
    edited.run("update", "--merge", check=True)
    assert edited.read(FILE) == TEXT.replace("Line 2.", "Mine.").replace("Line 10.", "Theirs.")


def test_an_overlap_changes_nothing_and_lays_out_the_versions(edited: CommandSandbox, upstream: Repository) -> None:
    publish(upstream, 2)
    before = edited.full_snapshot

    assert edited.output("update", "--merge", "--dry-run").splitlines()[-1] == (
        "! warning: pdf: your edits overlap: SKILL.md changed on both sides"
    )
    assert edited.output("update", "--merge") == expected_output("""\
! error: your edits overlap with what is new; nothing was changed
!   pdf: SKILL.md changed on both sides
!   hint: compare the versions in WORK/.agent-skills/.skillpm/merge/pdf; `--conflicts` \
writes conflict marks into the files; `--keep pdf` keeps your version; `--force` backs it up \
and takes the new one
[1]
""")

    after = edited.full_snapshot
    laid_out = {path: entry for path, entry in after.items() if "/.skillpm/merge" in path}
    assert {path: entry for path, entry in after.items() if path not in laid_out} == before
    folder = ".agent-skills/.skillpm/merge/pdf"
    assert edited.read(f"{folder}/installed/SKILL.md") == TEXT
    assert edited.read(f"{folder}/yours/SKILL.md") == TEXT.replace("Line 2.", "Mine.")
    assert edited.read(f"{folder}/new/SKILL.md") == TEXT.replace("Line 2.", "Theirs.")
    # Once they agree with each other, the merge is clean, and the versions are gone.
    edited.write(FILE, TEXT.replace("Line 2.", "Theirs.").replace("Line 20.", "Mine."))
    edited.run("update", "--merge", check=True)
    assert not edited.exists(".agent-skills/.skillpm/merge")
    assert edited.read(FILE) == TEXT.replace("Line 2.", "Theirs.").replace("Line 20.", "Mine.")


def test_conflict_marks_are_written_on_request(edited: CommandSandbox, upstream: Repository) -> None:
    old, new = publish(upstream, 2)

    assert edited.output("update", "--merge", "--conflicts") == expected_output(f"""\
 ~ pdf {old} → {new}  (your edits merged; backed up first)
updated 1; total: 1 skill in WORK/.agent-skills
! warning: pdf: resolve the conflicts in SKILL.md; yours is backed up
! warning: backed up your version of pdf as pdf-1; restore it with `skillpm backup restore pdf-1`
""")
    marks = "<<<<<<< yours\nMine.\n=======\nTheirs.\n>>>>>>> new"
    assert edited.read(FILE) == TEXT.replace("Line 2.", marks)


def test_what_upstream_took_over_is_no_edit_any_more(edited: CommandSandbox, upstream: Repository) -> None:
    publish(upstream, 2, "Mine.")

    edited.run("update", "--merge", check=True)

    assert edited.output("verify") == "! 1 of 1 skill matches the lockfile\n"


def test_files_that_only_one_side_has(edited: CommandSandbox, upstream: Repository) -> None:
    edited.write(".agent-skills/pdf/mine.md", "Mine.\n")
    upstream.write({"skills/pdf/theirs.md": "Theirs.\n"})
    upstream.remove(["skills/pdf/scripts/read.sh"]).commit()

    edited.run("update", "--merge", check=True)

    files = {path.name for path in (edited.work / ".agent-skills/pdf").rglob("*") if path.is_file()}
    assert files == {"SKILL.md", "mine.md", "theirs.md"}
    assert edited.read(FILE) == TEXT.replace("Line 2.", "Mine.")


def test_a_file_that_one_side_removed_and_the_other_changed_is_an_overlap(
    edited: CommandSandbox, upstream: Repository
) -> None:
    edited.write(".agent-skills/pdf/scripts/read.sh", "#!/bin/sh\necho mine\n")
    upstream.remove(["skills/pdf/scripts/read.sh"]).commit()

    error = edited.output("update", "--merge").splitlines()[1]

    assert error == "!   pdf: scripts/read.sh changed on both sides"


def test_a_merge_that_could_not_be_loaded_is_refused(edited: CommandSandbox, upstream: Repository) -> None:
    edited.write(FILE, TEXT.removeprefix("---\n"))
    publish(upstream, 18)

    assert edited.output("update", "--merge").splitlines()[:2] == [
        "! error: your edits overlap with what is new; nothing was changed",
        "!   pdf: its SKILL.md cannot be loaded: the file does not begin with a `---` line",
    ]


def test_a_merged_skill_passes_the_checks_of_an_install(edited: CommandSandbox, upstream: Repository) -> None:
    edited.write(".agent-skills/pdf/aux.md", "A name that Windows reserves.\n")
    publish(upstream, 18)

    assert edited.output("update", "--merge").splitlines()[1] == (
        "!   pdf: the path 'aux.md' has a name that Windows reserves"
    )


def test_an_edit_of_the_same_size_is_still_an_edit(edited: CommandSandbox, upstream: Repository) -> None:
    edited.write(FILE, TEXT.replace("Line 2.", "LINE 2."))
    publish(upstream, 18, "LINE 18.")
    edited.run("update", "--merge", check=True)

    assert edited.json_output("list")["skills"][0]["state"] == "modified"


@pytest.mark.parametrize("place", ["manifest", "config"])
def test_edits_says_it_for_good(edited: CommandSandbox, upstream: Repository, place: str) -> None:
    if place == "manifest":
        manifest = json.loads(edited.read("skills.json"))
        edited.write("skills.json", json.dumps({**manifest, "edits": {"*": "merge"}}))
    else:
        edited.write("../home/.config/skillpm/config.toml", '[edits]\n"*" = "merge"\n')
    publish(upstream, 18)

    edited.run("update", check=True)

    assert edited.read(FILE) == TEXT.replace("Line 2.", "Mine.").replace("Line 18.", "Theirs.")
    # And without anything new, edits stop no command.
    assert edited.output("sync") == expected_output("""\
nothing to do: 1 skill in WORK/.agent-skills
! edited: pdf; it stays as it is, and `skillpm diff pdf` shows the changes
""")


def test_keep_in_the_manifest_keeps_what_is_edited(edited: CommandSandbox, upstream: Repository, url: str) -> None:
    edited.run("install", f"{url}@docx", "--keep", "pdf", check=True)
    manifest = json.loads(edited.read("skills.json"))
    edited.write("skills.json", json.dumps({**manifest, "edits": {"pdf": "keep", "docx": "keep"}}))
    locked = edited.read_json("skills.lock")["skills"]
    upstream.write({"skills/docx/notes.md": "New.\n"})
    publish(upstream, 18)

    edited.run("update", check=True)

    assert edited.read(FILE) == TEXT.replace("Line 2.", "Mine.")
    after = edited.read_json("skills.lock")["skills"]
    assert (after["pdf"] == locked["pdf"], after["docx"] == locked["docx"]) == (True, False)
    assert edited.run("sync").code == 0


def test_wrong_values_are_named(edited: CommandSandbox) -> None:
    manifest = json.loads(edited.read("skills.json"))
    edited.write("skills.json", json.dumps({**manifest, "edits": {"*": "overwrite"}}, indent=2))

    assert edited.output("update").splitlines()[:2] == [
        '! error: expected block, merge or keep, got "overwrite"',
        "!   where: WORK/skills.json:9:5: edits.*",
    ]
    assert edited.output("update", "--conflicts") == expected_output("""\
! error: --conflicts requires --merge
!   hint: run `skillpm update --help`
[2]
""")


def test_a_merge_writes_temporary_files_in_the_cache_only(edited: CommandSandbox, upstream: Repository) -> None:
    publish(upstream, 18)
    # Left by a command that was killed; no process has this number.
    stale = edited.cache / "v1/git/merge-yours.4194305-1.new"
    stale.write_bytes(b"An edit.")

    # The folder for temporary files does not exist.
    edited.run("update", "--merge", check=True, env={"TMPDIR": str(edited.work / "none")})

    assert [path.name for path in (edited.cache / "v1/git").glob("merge-*")] == []


def test_a_link_in_place_of_the_versions_is_not_followed(edited: CommandSandbox, upstream: Repository) -> None:
    outside = edited.work.parent / "outside"
    outside.mkdir()
    (edited.work / ".agent-skills/.skillpm/merge").symlink_to(outside)
    publish(upstream, 2)

    assert edited.run("update", "--merge").code == 1

    assert list(outside.iterdir()) == []
    assert edited.exists(".agent-skills/.skillpm/merge/pdf/yours/SKILL.md")


def test_a_link_among_the_files_is_no_text(edited: CommandSandbox, upstream: Repository) -> None:
    (edited.work / ".agent-skills/pdf/link.md").symlink_to("SKILL.md")
    publish(upstream, 18)

    assert edited.output("update", "--merge").splitlines()[1] == "!   pdf: link.md changed on both sides"


def test_a_file_that_is_too_large_to_be_merged_is_not_cut(edited: CommandSandbox, upstream: Repository) -> None:
    large = edited.write(".agent-skills/pdf/model.bin", b"")
    os.truncate(large, MAX_READ_SIZE + 10)
    publish(upstream, 18)
    roomy = {f"SKILLPM_MAX_{name}": "100000000" for name in ("FILE", "SKILL")}

    result = edited.run("update", "--merge", env=roomy)

    assert (result.code, result.stderr.splitlines()[1]) == (1, "  pdf: model.bin changed on both sides")
    assert large.stat().st_size == MAX_READ_SIZE + 10


def test_force_and_keep_decide_before(edited: CommandSandbox, upstream: Repository) -> None:
    publish(upstream, 18)

    assert edited.run("update", "--merge", "--force").code == 2
    edited.run("update", "--merge", "--keep", "pdf", check=True)
    assert edited.read(FILE) == TEXT.replace("Line 2.", "Mine.")


def test_a_backup_knows_what_it_was_made_of(edited: CommandSandbox, upstream: Repository) -> None:
    old, new = publish(upstream, 18)
    edited.run("update", "--force", check=True)
    mine, theirs = TEXT.replace("Line 2.", "Mine."), TEXT.replace("Line 18.", "Theirs.")

    assert edited.output("backup", "restore", "pdf-1", "--dry-run") == expected_output(f"""\
 ~ pdf pdf-1  (restored from a backup)
would have restored 1; total: 1 skill in WORK/.agent-skills
! warning: pdf-1 was made of {old}, and {new} is installed: it also restores the old content; \
`skillpm backup restore pdf-1 --merge` restores only your edits
""")
    edited.run("backup", "restore", "pdf-1", "--merge", check=True)

    assert edited.read(FILE) == theirs.replace("Line 2.", "Mine.")
    assert edited.read(".agent-skills/.skillpm/backup/pdf-1/SKILL.md") == mine  # whose edits are in both now


def test_a_backup_that_overlaps_is_not_merged(edited: CommandSandbox, upstream: Repository) -> None:
    publish(upstream, 2)
    edited.run("update", "--force", check=True)
    before = edited.full_snapshot

    assert edited.output("backup", "restore", "pdf", "--merge").splitlines()[0] == (
        "! error: pdf-1 overlaps with what is installed: SKILL.md; nothing was changed"
    )
    assert edited.full_snapshot == before


def test_the_command_line_decides_before_the_manifest_and_that_before_the_configuration(
    edited: CommandSandbox, upstream: Repository
) -> None:
    manifest = json.loads(edited.read("skills.json"))
    edited.write("skills.json", json.dumps({**manifest, "edits": {"*": "merge"}}))
    edited.write("../home/.config/skillpm/config.toml", '[edits]\npdf = "keep"\n')
    publish(upstream, 18)
    edited.run("update", check=True)
    assert edited.read(FILE) == TEXT.replace("Line 2.", "Mine.").replace("Line 18.", "Theirs.")

    publish(upstream, 10)
    edited.run("update", "--force", check=True)
    assert edited.read(FILE) == TEXT.replace("Line 10.", "Theirs.")
