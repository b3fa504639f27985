"""`skillpm lock` and `lock --check`: the lockfile and nothing else."""

import pytest
from commands.scene import Scene, asking, text
from kit import Repository

ONE = '{"skills": {"code-review": {"bundled": true}}}\n'


def test_lock_writes_the_lockfile_and_installs_nothing(scene: Scene) -> None:
    scene.project(ONE)

    assert scene.tell("lock") == " + code-review 1.0.0\nWORK/skills.lock written\n"

    assert scene.tree_text() == "skills.json\nskills.lock\n"
    assert scene.read("skills.json") == ONE
    assert scene.tell("lock") == "WORK/skills.lock is up to date\n"
    assert scene.tell("sync", "--frozen").splitlines()[0] == " + code-review 1.0.0"


def test_check_without_a_lockfile_is_an_error_and_writes_nothing(scene: Scene) -> None:
    scene.project(ONE)
    before = scene.snapshot("..")

    assert scene.tell("lock", "--check") == text("""\
! error: the lockfile is not up to date: there is no lockfile
!   where: WORK/skills.lock
!   try: run `skillpm lock`
[1]
""")
    assert scene.snapshot("..") == before


def test_check_names_everything_that_differs(scene: Scene, url: str) -> None:
    pdf = {"git": url, "path": "skills/pdf"}
    scene.project(asking(**{"code-review": {"bundled": True}, "pdf": pdf})).run("lock", check=True)
    assert scene.tell("lock", "--check") == "WORK/skills.lock is up to date\n"
    scene.write("skills.json", asking(testing={"bundled": True}, pdf=pdf | {"path": "skills/docx"}))
    before = scene.snapshot()

    assert scene.tell("lock", "--check") == text("""\
! error: the lockfile is not up to date: `pdf` is asked for differently than it was locked; `testing` is not locked; \
`code-review` is locked and no longer asked for
!   where: WORK/skills.lock
!   try: run `skillpm lock`
[1]
""")
    assert scene.snapshot() == before


def test_the_same_meaning_written_otherwise_is_up_to_date(scene: Scene) -> None:
    scene.project(ONE).run("lock", check=True)
    scene.write("skills.json", '{"agents": ["codex"],\n\n "skills": {"code-review": {"bundled":true}}}')

    assert scene.tell("lock", "--check") == "WORK/skills.lock is up to date\n"
    assert scene.tell("lock") == "WORK/skills.lock is up to date\n"


def test_a_moved_branch_is_not_taken_without_update(scene: Scene, upstream: Repository, url: str) -> None:
    scene.project(asking(pdf={"git": url, "path": "skills/pdf", "branch": "main"}))
    scene.run("lock", check=True)
    before = scene.read("skills.lock")
    upstream.write({"skills/pdf/notes.md": "Later.\n"}).commit()

    assert scene.tell("lock") == "WORK/skills.lock is up to date\n"
    assert scene.tell("lock", "--check") == "WORK/skills.lock is up to date\n"
    assert scene.read("skills.lock") == before


def test_a_changed_requirement_is_locked_anew(scene: Scene, upstream: Repository, url: str) -> None:
    manifest = asking(pdf={"git": url, "path": "skills/pdf"})
    scene.project(manifest).run("lock", check=True)
    commit = upstream.resolve("main")[:7]
    scene.write("skills.json", manifest.replace('pdf"}', 'pdf", "tag": "v1.0.0"}'))

    assert scene.tell("lock", "--dry-run") == f" ~ pdf {commit} → 1.0.0\nWORK/skills.lock would change\n"
    assert scene.tell("lock") == f" ~ pdf {commit} → 1.0.0\nWORK/skills.lock written\n"
    assert scene.document("skills.lock")["requirements"]["pdf"]["tag"] == "v1.0.0"


def locked_at(scene: Scene) -> str:
    """Give the commit at which `pdf` is locked, as messages show it."""
    return str(scene.document("skills.lock")["skills"]["pdf"]["source"]["commit"][:7])


@pytest.mark.parametrize(
    ("changes", "asks"),
    [
        ({"tag": "v1.0.0"}, "tag v1.0.0"),
        ({"branch": "next"}, "branch next"),
        ({"rev": "0123456789012345678901234567890123456789"}, "commit 0123456"),
        ({"path": "skills/docx"}, "the folder `skills/docx`"),
    ],
)
def test_a_frozen_lockfile_of_another_ref_is_told_as_that_and_not_as_another_place(
    scene: Scene, url: str, changes: dict[str, str], asks: str
) -> None:
    pdf = {"git": url, "path": "skills/pdf"}
    scene.project(asking(pdf=pdf)).run("lock", check=True)
    scene.write("skills.json", asking(pdf=pdf | changes))
    before = scene.everything

    assert scene.tell("sync", "--frozen") == text(f"""\
! error: `pdf` is locked to URL at {locked_at(scene)}, but the manifest now asks for {asks}
!   where: WORK/skills.lock: skills.pdf.source
!   try: run `skillpm lock` and commit skills.lock
[1]
""")
    assert scene.everything == before


def test_a_frozen_lockfile_of_another_ref_under_an_unchanged_manifest_was_changed_by_somebody(
    scene: Scene, url: str
) -> None:
    scene.project(asking(pdf={"git": url, "path": "skills/pdf"})).run("lock", check=True)
    scene.write("skills.lock", scene.read("skills.lock").replace('"ref": "HEAD"', '"ref": "refs/heads/evil"'))

    assert scene.tell("sync", "--frozen") == text(f"""\
! error: `pdf` is locked to URL at {locked_at(scene)}, but the manifest asks for the default branch
!   where: WORK/skills.lock: skills.pdf.source
!   try: if the manifest was changed, run `skillpm lock`; if not, see who changed the lockfile
[1]
""")
