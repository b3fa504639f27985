"""`backup`: each can be known again by version and date, and bringing one back says what it brings."""

import re
from datetime import UTC, datetime, timedelta

from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths


def versions(upstream: Repository, number: str) -> None:
    """Publish a version of `pdf` that says its number itself."""
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", metadata={"version": number})))
    upstream.commit(number)


def test_a_backup_is_listed_with_its_version_and_since_when(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    versions(upstream, "1.0.0")
    project.run("install", f"{url}@pdf", check=True)
    versions(upstream, "2.0.0")
    project.write(".agent-skills/pdf/notes.md", "mine")
    project.run("update", "--force", check=True)

    output = project.output("backup", "list")
    row = project.json_output("backup", "list")["backups"][0]

    place = "WORK/.agent-skills/.skillpm/backup/pdf-1"
    assert re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "DAY", output) == f"pdf-1  1.0.0  {place}  (backed up DAY UTC)\n"
    since = datetime.fromisoformat(row.pop("since"))
    assert row == {"id": "pdf-1", "name": "pdf", "path": place, "origin": "", "version": "1.0.0"}
    assert timedelta(seconds=-2) < datetime.now(UTC) - since < timedelta(minutes=5)


def test_restoring_another_version_than_the_locked_one_says_so(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    versions(upstream, "1.0.0")
    project.run("install", f"{url}@pdf", check=True)
    versions(upstream, "2.0.0")
    project.write(".agent-skills/pdf/notes.md", "mine")
    project.run("update", "--force", check=True)
    other = (
        "! warning: pdf-1 is 1.0.0, but pdf is locked to 2.0.0: it is treated as a local change, so `skillpm "
        "sync --frozen` will stop at it\n"
        "! warning: pdf-1 was made of 1.0.0, and 2.0.0 is installed: it also restores the old content; `skillpm "
        "backup restore pdf-1 --merge` restores only your edits\n"
    )

    assert project.output("backup", "restore", "pdf-1", "--dry-run") == expected_output(f"""\
 ~ pdf pdf-1  (restored from a backup)
would have restored 1; total: 1 skill in WORK/.agent-skills
{other}""")
    assert project.output("backup", "restore", "pdf-1") == expected_output(f"""\
 ~ pdf pdf-1  (restored from a backup)
restored 1; total: 1 skill in WORK/.agent-skills
{other}""")
    assert project.run("sync", "--frozen").code == 1


def test_skills_made_by_hand_are_counted_when_one_comes_back(project: CommandSandbox) -> None:
    project.write_files(
        prefix_paths(".agent-skills/mine", make_skill("mine")) | prefix_paths(".agent-skills/ours", make_skill("ours"))
    )
    project.run("registry", "build", check=True)
    project.run("uninstall", "mine", "--force", check=True)

    assert project.output("backup", "restore", "mine") == expected_output("""\
 ~ mine mine-1  (restored from a backup)
restored 1; total: 2 skills in WORK/.agent-skills
! mine is not in the manifest, so it is a local skill now and is never updated; to turn it into local changes of its \
source, run `skillpm install SPEC --force`, then `skillpm backup restore mine`
""")

    assert (
        project.run("list").stdout
        == "mine   [unmanaged] Use when a test needs a skill.\nours   [unmanaged] Use when a test needs a skill.\n"
    )


def test_a_skill_that_is_no_longer_required_is_restored_as_a_local_skill(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    project.write(".agent-skills/pdf/notes.md", "mine")
    project.run("uninstall", "pdf", "--force", check=True)

    assert project.json_output("backup", "restore", "pdf")["notes"] == [
        "pdf is not in the manifest, so it is a local skill now and is never updated; to turn it into local changes of "
        "its source, run `skillpm install SPEC --force`, then `skillpm backup restore pdf`"
    ]
    assert project.json_output("list")["skills"][0]["state"] == "unmanaged"

    project.run("install", f"{url}@pdf", "--force", check=True)
    assert "local skill now" not in project.output("backup", "restore", "pdf")
    assert project.json_output("list")["skills"][0]["state"] == "modified"
    assert project.read(".agent-skills/pdf/notes.md") == "mine"
