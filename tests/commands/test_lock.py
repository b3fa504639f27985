"""`skillpm lock` and `lock --check`: the lockfile and nothing else."""

import json

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import Repository

ONE = '{"skills": {"code-review": {"bundled": true}}}\n'
UP_TO_DATE = "WORK/skills.lock is up to date\n! proved: content of {}\n"


def test_lock_writes_the_lockfile_and_installs_nothing(scene: CommandSandbox) -> None:
    scene.create_project(ONE)

    assert scene.output("lock") == " + code-review 1.0.0\nWORK/skills.lock written\n"

    assert scene.render_tree(ignore=["bundled-skills"]) == "skills.json\nskills.lock\n"
    assert scene.read("skills.json") == ONE
    assert scene.output("lock") == "WORK/skills.lock is up to date\n"
    assert scene.output("sync", "--frozen").splitlines()[0] == " + code-review 1.0.0"


def test_check_without_a_lockfile_is_an_error_and_writes_nothing(scene: CommandSandbox) -> None:
    scene.create_project(ONE)
    before = scene.snapshot("..")

    assert scene.output("lock", "--check") == expected_output("""\
! error: the lockfile is not up to date: there is no lockfile
!   where: WORK/skills.lock
!   hint: run `skillpm lock`
[1]
""")
    assert scene.snapshot("..") == before


def test_check_names_everything_that_differs(scene: CommandSandbox, url: str) -> None:
    pdf = {"git": url, "path": "skills/pdf"}
    scene.create_project(manifest_text(**{"code-review": {"bundled": True}, "pdf": pdf})).run("lock", check=True)
    assert scene.output("lock", "--check") == UP_TO_DATE.format("code-review, pdf") + "! proved: branch of pdf\n"
    scene.write("skills.json", manifest_text(testing={"bundled": True}, pdf=pdf | {"path": "skills/docx"}))
    before = scene.snapshot()

    assert scene.output("lock", "--check") == expected_output("""\
! error: the lockfile is not up to date: the requirement on `pdf` has changed since it was locked; `testing` is not \
locked; \
`code-review` is locked but no longer required
!   where: WORK/skills.lock
!   hint: run `skillpm lock`
[1]
""")
    assert scene.snapshot() == before


def test_the_same_meaning_written_otherwise_is_up_to_date(scene: CommandSandbox) -> None:
    scene.create_project(ONE).run("lock", check=True)
    scene.write("skills.json", '{"agents": ["codex"],\n\n "skills": {"code-review": {"bundled":true}}}')

    assert scene.output("lock", "--check") == UP_TO_DATE.format("code-review")
    assert scene.output("lock") == "WORK/skills.lock is up to date\n"


def test_a_moved_branch_is_not_followed_without_update(scene: CommandSandbox, upstream: Repository, url: str) -> None:
    scene.create_project(manifest_text(pdf={"git": url, "path": "skills/pdf", "branch": "main"}))
    scene.run("lock", check=True)
    before = scene.read("skills.lock")
    upstream.write({"skills/pdf/notes.md": "Later.\n"}).commit()

    assert scene.output("lock") == "WORK/skills.lock is up to date\n"
    assert scene.output("lock", "--check") == UP_TO_DATE.format("pdf") + "! proved: branch of pdf\n"
    assert scene.read("skills.lock") == before


def test_a_changed_requirement_is_locked_again(scene: CommandSandbox, upstream: Repository, url: str) -> None:
    manifest = manifest_text(pdf={"git": url, "path": "skills/pdf"})
    scene.create_project(manifest).run("lock", check=True)
    commit = upstream.resolve("main")[:7]
    scene.write("skills.json", manifest.replace('pdf"}', 'pdf", "tag": "v1.0.0"}'))

    assert scene.output("lock", "--dry-run") == f" ~ pdf {commit} → 1.0.0\nWORK/skills.lock would change\n"
    assert scene.output("lock") == f" ~ pdf {commit} → 1.0.0\nWORK/skills.lock written\n"
    assert scene.read_json("skills.lock")["requirements"]["pdf"]["tag"] == "v1.0.0"


def locked_at(scene: CommandSandbox) -> str:
    """Return the commit at which `pdf` is locked, as messages show it."""
    return str(scene.read_json("skills.lock")["skills"]["pdf"]["source"]["commit"][:7])


@pytest.mark.parametrize(
    ("changes", "asks"),
    [
        ({"tag": "v1.0.0"}, "tag v1.0.0"),
        ({"branch": "next"}, "branch next"),
        ({"rev": "0123456789012345678901234567890123456789"}, "commit 0123456"),
        ({"path": "skills/docx"}, "the folder `skills/docx`"),
    ],
)
def test_a_frozen_lockfile_with_another_ref_is_reported_as_another_ref(
    scene: CommandSandbox, url: str, changes: dict[str, str], asks: str
) -> None:
    pdf = {"git": url, "path": "skills/pdf"}
    scene.create_project(manifest_text(pdf=pdf)).run("lock", check=True)
    scene.write("skills.json", manifest_text(pdf=pdf | changes))
    before = scene.full_snapshot

    assert scene.output("sync", "--frozen") == expected_output(f"""\
! error: `pdf` is locked to URL at {locked_at(scene)}, but the manifest now requires {asks}
!   where: WORK/skills.lock: skills.pdf.source
!   hint: run `skillpm lock` and commit skills.lock
[1]
""")
    assert scene.full_snapshot == before


def test_a_frozen_lockfile_that_follows_a_branch_is_refused_where_the_manifest_names_a_commit(
    scene: CommandSandbox, url: str
) -> None:
    pdf = {"git": url, "path": "skills/pdf"}
    scene.create_project(manifest_text(pdf=pdf)).run("lock", check=True)
    commit = json.loads((scene.work / "skills.lock").read_text())["skills"]["pdf"]["source"]["commit"]
    scene.write("skills.json", manifest_text(pdf=pdf | {"rev": commit}))
    scene.run("lock", check=True)
    scene.run("sync", "--frozen", check=True)
    lockfile = json.loads((scene.work / "skills.lock").read_text())
    lockfile["skills"]["pdf"]["source"]["ref"] = "refs/heads/main"
    scene.write("skills.lock", json.dumps(lockfile))

    assert scene.output("sync", "--frozen") == expected_output(f"""\
! error: `pdf` is locked to URL at {commit[:7]}, but the manifest requires commit {commit[:7]}
!   where: WORK/skills.lock: skills.pdf.source
!   hint: if the manifest was changed, run `skillpm lock`; otherwise, check who changed the lockfile
[1]
""")


def test_a_frozen_lockfile_with_another_ref_and_an_unchanged_manifest_was_edited(
    scene: CommandSandbox, url: str
) -> None:
    scene.create_project(manifest_text(pdf={"git": url, "path": "skills/pdf"})).run("lock", check=True)
    scene.write("skills.lock", scene.read("skills.lock").replace('"ref": "HEAD"', '"ref": "refs/heads/evil"'))

    assert scene.output("sync", "--frozen") == expected_output(f"""\
! error: `pdf` is locked to URL at {locked_at(scene)}, but the manifest requires the default branch
!   where: WORK/skills.lock: skills.pdf.source
!   hint: if the manifest was changed, run `skillpm lock`; otherwise, check who changed the lockfile
[1]
""")
