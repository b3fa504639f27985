"""Local changes in an installed skill are never lost, and block nothing else."""

import json
import shutil

import pytest
from commands.scene import LINK_HINT, CommandSandbox, expected_output, mask_dates
from kit import Repository, git, make_skill, prefix_paths

BLOCKED = """\
! error: blocked by local changes; nothing was changed
!   pdf: edited since it was installed (SKILL.md modified)
!   hint: use `skillpm diff pdf` to see the changes, `--merge` to carry them over, `skillpm sync --keep pdf` to keep \
it as it is, or `--force` to back it up and continue; to keep it always, write "edits": {"pdf": "keep"} into skills.json
[1]
"""
EDITED = "! edited: pdf; it stays as it is, and `skillpm diff pdf` shows the changes\n"
MINE = make_skill("pdf", "Reads PDF files, my way.", body="My own words.\n")["SKILL.md"]


@pytest.fixture
def edited(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project with an edited skill, its upstream and another skill."""
    project.run("install", f"{url}@pdf", "testing", check=True)
    project.write(".agent-skills/pdf/SKILL.md", MINE)
    return project


def pull_update(edited: CommandSandbox, upstream: Repository) -> None:
    """Lock new content of the edited skill, as a colleague's commit does, without installing it."""
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    colleague = edited.root / "colleague"
    colleague.mkdir()
    for name in ("skills.json", "skills.lock"):
        shutil.copy(edited.work / name, colleague)
    edited.run("update", cwd=colleague, check=True)
    shutil.copy(colleague / "skills.lock", edited.work)


@pytest.mark.parametrize(
    "arguments",
    [["sync"], ["install"], ["update"], ["update", "pdf"], ["uninstall", "pdf"]],
    ids=" ".join,
)
def test_an_edited_skill_stops_its_own_change(
    edited: CommandSandbox, upstream: Repository, arguments: list[str]
) -> None:
    if arguments[0] == "update":
        upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    else:
        pull_update(edited, upstream)
    before = edited.full_snapshot

    expected = BLOCKED.replace("`skillpm sync --", f"`skillpm {' '.join(arguments)} --")
    if "pdf" in arguments:
        expected = expected.replace(f"`skillpm {' '.join(arguments)} --keep pdf` to keep it as it is, ", "")
    if arguments[0] in {"install", "uninstall"}:
        expected = expected.replace("`--merge` to carry them over, ", "")
    if arguments[0] == "uninstall":
        expected = expected.partition("; to keep it always")[0] + "\n[1]\n"
    assert edited.output(*arguments) == expected
    assert edited.full_snapshot == before


@pytest.mark.parametrize(
    "command", ["sync", "install", "update", "link claude-code", "install {}@docx", "update testing"]
)
def test_an_edit_with_nothing_to_do_for_it_stops_no_command(edited: CommandSandbox, url: str, command: str) -> None:
    mine = edited.snapshot(".agent-skills/pdf")
    shutil.rmtree(edited.work / ".agent-skills/testing")
    arguments = command.format(url).split()

    output = edited.output(*arguments)

    assert EDITED in output
    assert edited.exists(".agent-skills/testing/SKILL.md")
    assert edited.snapshot(".agent-skills/pdf") == mine
    assert edited.json_output(*arguments)["edited"] == [
        {"name": "pdf", "files": [{"path": "SKILL.md", "state": "modified"}]}
    ]


@pytest.mark.parametrize("is_updated", [False, True], ids=["same content", "new content"])
@pytest.mark.parametrize("option", ["--frozen", "--locked", "CI"])
def test_a_strict_sync_does_everything_else_and_then_names_the_edit(
    edited: CommandSandbox, upstream: Repository, option: str, *, is_updated: bool
) -> None:
    if is_updated:
        pull_update(edited, upstream)
    mine = edited.snapshot(".agent-skills/pdf")
    shutil.rmtree(edited.work / ".agent-skills/testing")
    arguments, env = (["sync"], {"CI": "true"}) if option == "CI" else (["sync", option], {})
    command = " ".join(["skillpm", *arguments])
    expected = BLOCKED.replace("skillpm sync", command)

    assert edited.output(*arguments, "--dry-run", env=env).splitlines()[0] == BLOCKED.splitlines()[0]
    assert not edited.exists(".agent-skills/testing")
    output = edited.output(*arguments, env=env)

    assert output == expected.replace("nothing was changed", "everything else was done")
    assert edited.exists(".agent-skills/testing/SKILL.md")
    assert edited.snapshot(".agent-skills/pdf") == mine
    assert edited.output(*arguments, env=env) == expected


def test_a_strict_sync_of_a_clone_with_an_edited_skill_installs_the_others(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", f"{url}@docx", check=True)
    clone = project.root / "clone"
    shutil.copytree(project.work, clone, ignore=shutil.ignore_patterns(".skillpm", "docx"))
    (clone / ".agent-skills/pdf/SKILL.md").write_bytes(MINE)
    (clone / ".claude").mkdir()
    manifest = json.loads((clone / "skills.json").read_text())
    (clone / "skills.json").write_text(json.dumps({**manifest, "agents": ["claude-code"], "edits": {"*": "keep"}}))

    for _ in range(2):
        assert project.output("sync", "--frozen", cwd=clone).splitlines()[1] == (
            "!   pdf: a folder that skillpm did not create"
        )
        assert [path.name for path in (clone / ".claude/skills").iterdir()] == ["docx"]


@pytest.mark.parametrize("place", ["manifest", "config"])
def test_edits_of_a_checkout_count_with_frozen_once_they_are_accepted(edited: CommandSandbox, place: str) -> None:
    if place == "manifest":
        manifest = json.loads(edited.read("skills.json"))
        edited.write("skills.json", json.dumps({**manifest, "edits": {"pdf": "keep"}}))
        for _ in range(2):  # the first one accepts nothing
            assert edited.output("sync", "--frozen").startswith("! error: blocked by local changes")
        edited.run("sync", check=True)
    else:
        edited.write("../home/.config/skillpm/config.toml", '[edits]\npdf = "keep"\n')

    assert edited.run("sync", "--frozen").code == 0
    edited.write(".agent-skills/pdf/SKILL.md", MINE.decode() + "More.\n")
    assert edited.run("sync", "--frozen").code == (1 if place == "manifest" else 0)


@pytest.mark.parametrize("is_link", [True, False], ids=["link", "file"])
def test_what_took_the_place_of_a_skill_is_called_that(edited: CommandSandbox, *, is_link: bool) -> None:
    place = edited.work / ".agent-skills/pdf"
    shutil.rmtree(place)
    place.symlink_to("testing") if is_link else place.write_text("mine")

    assert edited.output("sync") == expected_output("""\
! error: blocked by a skill; nothing was changed
!   pdf: replaced by something else
!   hint: use `skillpm sync --keep pdf` to keep it as it is, or `--force` to back it up and continue
[1]
""")


def test_every_file_that_differs_is_named_in_the_message(edited: CommandSandbox, upstream: Repository) -> None:
    edited.write(".agent-skills/pdf/new.md", "New.\n")
    (edited.work / ".agent-skills/pdf/scripts/read.sh").unlink()
    pull_update(edited, upstream)

    assert edited.output("sync") == BLOCKED.replace(
        "(SKILL.md modified)", "(SKILL.md modified, new.md extra, scripts/read.sh missing)"
    )


def test_two_edited_skills_are_reported_together(edited: CommandSandbox) -> None:
    edited.write(".agent-skills/testing/references/flaky.md", "Mine.\n")

    assert edited.output("sync", "--frozen") == expected_output("""\
! error: blocked by local changes; everything else was done
!   pdf: edited since it was installed (SKILL.md modified)
!   testing: edited since it was installed (references/flaky.md modified)
!   hint: use `skillpm diff pdf` to see the changes, `--merge` to carry them over, `skillpm sync --frozen --keep pdf \
--keep testing` to keep them as they are, or `--force` to back them up and continue; to keep them always, write \
"edits": {"pdf": "keep", "testing": "keep"} into skills.json
[1]
""")
    assert edited.output("sync").splitlines()[1] == (
        "! edited: pdf, testing; they stay as they are, and `skillpm diff` shows the changes"
    )


def test_an_edited_skill_blocks_no_other_skill(edited: CommandSandbox, upstream: Repository, url: str) -> None:
    upstream.write({"skills/docx/notes.md": "Second.\n"}).commit()
    mine = edited.snapshot(".agent-skills/pdf")

    for arguments in (
        ["install", f"{url}@docx"],
        ["install", "code-review"],
        ["update", "docx", "testing"],
        ["uninstall", "testing"],
        ["link", "claude-code"],
        ["unlink", "claude-code"],
    ):
        assert edited.run(*arguments).code == 0, arguments
        assert edited.snapshot(".agent-skills/pdf") == mine, arguments


def test_an_edit_stops_no_update_that_brings_nothing_for_it(
    edited: CommandSandbox, upstream: Repository, url: str
) -> None:
    edited.run("install", f"{url}@docx", check=True)
    upstream.write({"skills/docx/notes.md": "Second.\n"}).commit()
    mine = edited.snapshot(".agent-skills/pdf")

    result = edited.run("update", check=True)

    assert result.stdout.splitlines()[-1] == f"updated 1; total: 3 skills in {edited.work}/.agent-skills"
    assert edited.snapshot(".agent-skills/pdf") == mine
    assert edited.output("update", "pdf").splitlines()[0].startswith(" = pdf ")
    assert edited.output("sync").endswith(EDITED)


def test_keep_leaves_it_as_it_is(edited: CommandSandbox, upstream: Repository, url: str) -> None:
    edited.run("install", f"{url}@docx", check=True)
    upstream.write({"skills/pdf/notes.md": "Second.\n", "skills/docx/notes.md": "Second.\n"}).commit()
    mine = edited.snapshot(".agent-skills/pdf")

    kept = edited.run("update", "--keep", "pdf", check=True)

    assert kept.stdout.splitlines()[-1] == f"updated 1, kept 1; total: 3 skills in {edited.work}/.agent-skills"
    assert edited.snapshot(".agent-skills/pdf") == mine
    assert edited.exists(".agent-skills/docx/notes.md")
    assert edited.output("sync").endswith(EDITED)


def test_what_is_kept_stays_locked_as_it_is_so_that_diff_shows_nothing_but_the_edit(
    edited: CommandSandbox, upstream: Repository
) -> None:
    locked = edited.read_json("skills.lock")["skills"]["pdf"]
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()

    edited.run("update", "--keep", "pdf", check=True)

    assert edited.read_json("skills.lock")["skills"]["pdf"] == locked
    assert "notes.md" not in edited.output("diff", "pdf")
    edited.run("sync", "--force", check=True)
    assert edited.run("update", check=True).stdout.startswith(" ~ pdf ")


def test_the_suggested_command_can_be_pasted(edited: CommandSandbox, upstream: Repository) -> None:
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    output = edited.run("update", "--json").json["error"]["hint"]

    typed = output.partition("to carry them over, `skillpm ")[2].partition("`")[0].split()

    assert typed == ["update", "--json", "--keep", "pdf"]
    assert edited.run(*typed).code == 0


def test_the_hint_for_many_edited_skills_is_one_line(edited: CommandSandbox) -> None:
    edited.run("install", "--bundled", check=True)
    for folder in (edited.work / ".agent-skills").iterdir():
        if folder.is_dir() and folder.name != ".skillpm":
            (folder / "SKILL.md").write_text("mine\n")

    assert edited.output("sync", "--frozen").splitlines()[-2] == (
        "!   hint: use `skillpm diff api-design` to see the changes, `--merge` to carry them over, `--keep NAME` to "
        'keep one as it is, or `--force` to back them up and continue; to keep them always, write "edits": '
        '{"NAME": "keep"} into skills.json'
    )


def test_what_is_to_be_removed_cannot_be_kept(edited: CommandSandbox) -> None:
    before = edited.full_snapshot

    assert edited.output("uninstall", "pdf", "testing", "--keep", "pdf") == expected_output("""\
! error: `pdf` cannot be both removed and kept
!   hint: run `skillpm uninstall pdf --force` to remove it and keep a backup
[2]
""")
    assert edited.full_snapshot == before


def test_force_backs_it_up_and_restore_restores_it(edited: CommandSandbox) -> None:
    mine = edited.snapshot(".agent-skills/pdf")

    forced = edited.output("sync", "--force")

    assert forced.splitlines()[0].startswith(" ~ pdf ")
    assert forced.splitlines()[0].endswith("  (edited since it was installed; backed up first)")
    assert forced.splitlines()[1:3] == [
        "updated 1; total: 2 skills in WORK/.agent-skills",
        "! warning: backed up your version of pdf as pdf-1; restore it with `skillpm backup restore pdf-1`",
    ]
    assert edited.output("verify") == "! 2 of 2 skills match the lockfile\n"
    listed = "pdf-1  WORK/.agent-skills/.skillpm/backup/pdf-1  (backed up DAY)\n"
    assert mask_dates(edited.output("backup", "list")) == listed
    assert edited.snapshot(".agent-skills/.skillpm/backup/pdf-1") == mine

    assert edited.output("backup", "restore", "pdf-1") == expected_output("""\
 ~ pdf pdf-1  (restored from a backup)
restored 1; total: 2 skills in WORK/.agent-skills
""")
    assert edited.snapshot(".agent-skills/pdf") == mine
    assert edited.output("backup", "list") == "! no backups\n"
    assert not edited.exists(".agent-skills/.skillpm/backup")
    assert edited.output("registry", "check") == "! the registry is up to date\n"


def test_a_forced_removal_keeps_a_backup_too(edited: CommandSandbox) -> None:
    mine = edited.snapshot(".agent-skills/pdf")

    edited.run("uninstall", "pdf", "--force", check=True)

    assert not edited.exists(".agent-skills/pdf")
    assert edited.snapshot(".agent-skills/.skillpm/backup/pdf-1") == mine


def test_each_forced_edit_has_a_backup_of_its_own(edited: CommandSandbox) -> None:
    edited.run("sync", "--force", check=True)
    edited.write(".agent-skills/pdf/SKILL.md", "second")
    edited.run("sync", "--force", check=True)

    assert mask_dates(edited.output("backup", "list")) == expected_output("""\
pdf-1  WORK/.agent-skills/.skillpm/backup/pdf-1  (backed up DAY)
pdf-2  WORK/.agent-skills/.skillpm/backup/pdf-2  (backed up DAY)
""")
    assert edited.output("backup", "restore", "pdf-3") == expected_output("""\
! error: backup `pdf-3` not found
!   hint: did you mean `pdf-2` or `pdf-1`?
[1]
""")


def test_the_name_of_a_skill_is_enough_where_there_is_one_backup(edited: CommandSandbox) -> None:
    edited.run("sync", "--force", check=True)
    assert (
        edited.output("backup", "restore", "pdf", "--dry-run").splitlines()[0]
        == " ~ pdf pdf-1  (restored from a backup)"
    )

    edited.write(".agent-skills/pdf/SKILL.md", "a newer edit")
    edited.run("sync", "--force", check=True)
    assert edited.output("backup", "restore", "pdf") == expected_output("""\
! error: there are 2 backups of `pdf`
!   hint: choose one: pdf-1, pdf-2
[1]
""")


def test_a_backup_does_not_overrun_a_newer_edit(edited: CommandSandbox) -> None:
    edited.run("sync", "--force", check=True)
    edited.write(".agent-skills/pdf/SKILL.md", "a newer edit")
    before = edited.full_snapshot

    assert edited.output("backup", "restore", "pdf-1") == expected_output("""\
! error: pdf has local changes again; nothing was changed
!   where: WORK/.agent-skills/pdf
!   hint: use `skillpm diff pdf` to see them, or `--force` to back them up and continue
[1]
""")
    assert edited.full_snapshot == before

    edited.run("backup", "restore", "pdf-1", "--force", check=True)
    assert edited.read(".agent-skills/pdf/SKILL.md") == MINE.decode()
    assert edited.read(".agent-skills/.skillpm/backup/pdf-2/SKILL.md") == "a newer edit"


def test_diff_shows_the_edit(edited: CommandSandbox) -> None:
    assert edited.output("diff", "pdf") == expected_output("""\
--- a/SKILL.md
+++ b/SKILL.md
@@ -1,5 +1,5 @@
 ---
 name: pdf
-description: Reads PDF files.
+description: Reads PDF files, my way.
 ---
-Do it well.
+My own words.
""")


def test_list_show_and_verify_call_it_modified(edited: CommandSandbox) -> None:
    assert "[modified] Reads PDF files, my way." in edited.output("list")
    assert "SKILL.md  [modified]" in edited.output("show", "pdf")
    assert edited.output("verify") == expected_output("""\
modified: pdf: edited since it was installed
    modified: SKILL.md
! 1 of 2 skills matches the lockfile
[1]
""")


def test_a_reverted_edit_is_not_an_edit(edited: CommandSandbox) -> None:
    edited.write(".agent-skills/pdf/SKILL.md", make_skill("pdf", "Reads PDF files.")["SKILL.md"])

    assert edited.output("sync") == "nothing to do: 2 skills in WORK/.agent-skills\n"


def test_a_folder_made_by_hand_is_never_replaced(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(".agent-skills/code-review", make_skill("code-review", body="Mine.\n")))
    before = project.full_snapshot

    output = project.output("install", "code-review")

    assert output == expected_output("""\
! error: blocked by a skill; nothing was changed
!   code-review: a folder that skillpm did not create
!   hint: use `skillpm install code-review --keep code-review` to keep it as it is, or `--force` to back it up and \
continue
[1]
""")
    assert project.full_snapshot == before

    assert project.output("install", "code-review", "--force") == expected_output(f"""\
 + code-review 1.0.0  (a folder that skillpm did not create; backed up first)
added 1; total: 1 skill in WORK/.agent-skills
! warning: backed up your version of code-review as code-review-1; restore it with `skillpm backup restore \
code-review-1`
{LINK_HINT}""")
    assert project.read(".agent-skills/.skillpm/backup/code-review-1/SKILL.md").endswith("Mine.\n")


@pytest.fixture
def committed(project: CommandSandbox) -> CommandSandbox:
    """Return a project whose skills directory is in git."""
    project.run("install", "code-review", "git-release", check=True)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "skills"]):
        git(*command, cwd=project.work)
    return project


def test_a_fresh_clone_takes_over_what_was_committed(committed: CommandSandbox) -> None:
    clone = committed.root / "clone"
    git("clone", "-q", str(committed.work), str(clone))

    first = committed.run("sync", "--frozen", cwd=clone, check=True)
    second = committed.run("sync", "--frozen", cwd=clone, check=True)

    assert first.stdout == f"receipt brought up to date: 2 skills in {clone}/.agent-skills\n"
    assert second.stdout == f"nothing to do: 2 skills in {clone}/.agent-skills\n"
    assert git("status", "--short", cwd=clone) == ""
    assert committed.run("verify", cwd=clone).code == 0
    (clone / ".agent-skills/code-review/SKILL.md").write_text("edited")
    assert committed.run("sync", "--frozen", cwd=clone).code == 1


def test_doctor_says_of_a_fresh_clone_that_nothing_is_installed_yet(committed: CommandSandbox) -> None:
    clone = committed.root / "clone"
    git("clone", "-q", str(committed.work), str(clone))

    found = committed.run("doctor", cwd=clone)

    assert (found.code, found.stdout) == (1, expected_output(f"""\
problem: not installed yet, as in a fresh clone: code-review, git-release
    where: {clone}/.agent-skills
    hint: run `skillpm sync` to adopt the skills that match the lockfile
"""))  # fmt: skip
    committed.run("sync", cwd=clone, check=True)
    assert committed.run("doctor", cwd=clone).code == 0
    assert git("status", "--short", cwd=clone) == ""


def test_a_fresh_clone_of_a_skill_that_was_edited_is_blocked_and_can_be_compared(committed: CommandSandbox) -> None:
    clone = committed.root / "clone"
    committed.write(".agent-skills/code-review/SKILL.md", "edited\n")
    git("commit", "-qam", "edit", cwd=committed.work)
    git("clone", "-q", str(committed.work), str(clone))

    assert committed.output("sync", cwd=clone) == expected_output("""\
! error: blocked by a skill; nothing was changed
!   code-review: a folder that skillpm did not create
!   hint: use `skillpm diff code-review` to see the changes, `skillpm sync --keep code-review` to keep it as it is, \
or `--force` to back it up and continue
[1]
""")
    assert committed.run("diff", "code-review", cwd=clone).stdout.endswith("+edited\n")


def test_a_clone_that_ignores_the_skills_gets_the_same_ones(committed: CommandSandbox) -> None:
    clone = committed.root / "clone"
    git("clone", "-q", str(committed.work), str(clone))
    shutil.rmtree(clone / ".agent-skills")

    committed.run("sync", "--frozen", cwd=clone, check=True)

    assert git("status", "--short", cwd=clone) == ""


@pytest.fixture
def scripted(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project with an installed script that has lost its executable bit."""
    project.run("install", f"{url}@pdf", "testing", check=True)
    (project.work / ".agent-skills/pdf/scripts/read.sh").chmod(0o644)
    return project


def test_an_executable_bit_that_was_lost_is_put_back(scripted: CommandSandbox, upstream: Repository) -> None:
    assert scripted.output("verify") == expected_output("""\
modified: pdf: only executable bits differ; `skillpm sync` restores them
    modified: scripts/read.sh
! 1 of 2 skills matches the lockfile
[1]
""")
    assert "[modified]" in scripted.output("list")
    assert scripted.output("diff", "pdf") == expected_output("""\
--- a/scripts/read.sh
+++ b/scripts/read.sh
old mode 100755
new mode 100644
""")

    assert scripted.output("sync") == expected_output(f"""\
 ~ pdf {upstream.resolve()[:7]}  (executable bits restored)
updated 1; total: 2 skills in WORK/.agent-skills
""")
    assert (scripted.work / ".agent-skills/pdf/scripts/read.sh").stat().st_mode & 0o111
    assert not scripted.exists(".agent-skills/.skillpm/backup")
    assert scripted.output("verify") == "! 2 of 2 skills match the lockfile\n"
    assert scripted.output("sync") == "nothing to do: 2 skills in WORK/.agent-skills\n"


@pytest.mark.parametrize("words", [["uninstall", "pdf"], ["update"], ["sync", "--frozen"]], ids=" ".join)
def test_an_executable_bit_blocks_nothing(scripted: CommandSandbox, upstream: Repository, words: list[str]) -> None:
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()

    scripted.run(*words, check=True)

    assert scripted.output("verify").endswith(" the lockfile\n")
    assert not scripted.exists(".agent-skills/.skillpm/backup")


def test_a_skill_that_is_not_selected_keeps_its_modes(scripted: CommandSandbox) -> None:
    before = scripted.snapshot(".agent-skills/pdf")

    scripted.run("install", "code-review", check=True)
    scripted.run("sync", "--keep", "pdf", check=True)

    assert scripted.snapshot(".agent-skills/pdf") == before


def test_an_edited_skill_that_is_no_longer_required_blocks_no_other(edited: CommandSandbox) -> None:
    manifest = edited.read_json("skills.json")
    del manifest["skills"]["pdf"]
    edited.write("skills.json", json.dumps(manifest))
    mine = edited.snapshot(".agent-skills/pdf")

    edited.run("uninstall", "testing", check=True)

    assert edited.snapshot(".agent-skills/pdf") == mine
    assert not edited.exists(".agent-skills/testing")
    assert edited.output("sync").splitlines()[:2] == [
        "! error: blocked by local changes; nothing was changed",
        "!   pdf: edited since it was installed (SKILL.md modified)",
    ]


def test_a_kept_skill_is_reported(edited: CommandSandbox, upstream: Repository) -> None:
    short = upstream.resolve()[:7]
    assert edited.output("sync", "--keep", "pdf") == expected_output(f"""\
 = pdf {short}  (edited)
kept 1; total: 2 skills in WORK/.agent-skills
""")
    assert [action["action"] for action in edited.json_output("sync", "--keep", "pdf")["actions"]] == ["keep", "keep"]


def test_an_unknown_name_to_keep_is_reported(edited: CommandSandbox) -> None:
    before = edited.full_snapshot

    assert edited.output("sync", "--keep", "pfd") == expected_output("""\
! error: --keep: skill `pfd` not found
!   hint: did you mean `pdf`?
[1]
""")
    assert edited.full_snapshot == before
