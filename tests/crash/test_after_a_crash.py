"""Between a crash and the next command people go on working: nothing of that is lost, and nothing planted is obeyed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, create_two_skills, expected_output
from crash.sweep import TRACER
from crash.tracer import CANNOT_TRACE
from kit import Repository, Sandbox, make_skill, prefix_paths
from kit.disks import folder_on_another_disk
from kit.journals import write_journal

from skillpm.core.digest import content_hash
from skillpm.locks import hold_lock

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CANNOT_TRACE, reason="killing needs Linux's ptrace")]
HERE = ".agent-skills"
JOURNAL = f"{HERE}/.skillpm/journal.json"
FINISHED = "! warning: finished an interrupted change first\n"


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return create_two_skills(tmp_path / "upstream")


@pytest.fixture
def project(tmp_path: Path, upstream: Repository) -> CommandSandbox:
    scene = CommandSandbox(tmp_path / "scene").create_project('{"skills": {}, "agents": ["claude-code"]}\n')
    scene.git_config("[safe]\n\tdirectory = *\n")
    scene.run("install", f"{upstream.file_url}@pdf", check=True)
    return scene


def killed(scene: Sandbox, *words: str) -> None:
    """Run a command that dies just when its journal is there."""
    command = [*TRACER, "journal.json", str(scene.root / "calls.json"), *scene.command, *words]
    subprocess.run(command, cwd=scene.work, env=scene.environment(), check=True, capture_output=True)
    assert scene.exists(JOURNAL)


def test_an_edit_becomes_a_backup(project: CommandSandbox, upstream: Repository) -> None:
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    killed(project, "update")
    project.write(f"{HERE}/pdf/SKILL.md", "my own words")

    output = project.output("sync")

    kept = "! warning: backed up your version of pdf as pdf-1; restore it with `skillpm backup restore pdf-1`\n"
    assert output == "nothing to do: 1 skill in WORK/.agent-skills\n" + kept + FINISHED
    assert project.read(f"{HERE}/.skillpm/backup/pdf-1/SKILL.md") == "my own words"
    assert project.read(f"{HERE}/pdf/notes.md") == "Second.\n"


SAVING = f"""
import os, sys
done = []
def save(event, arguments):
    if event == "open" and str(arguments[0]).endswith("/z.md") and os.path.exists("{JOURNAL}") and not done:
        done.append(True)
        try:
            with open("{HERE}/pdf/SKILL.md", "a") as file:
                file.write("my last words")
        except FileNotFoundError:
            open("refused", "w").close()
sys.addaudithook(save)
"""


@pytest.mark.parametrize("words", [["update"], ["uninstall", "pdf"]])
def test_an_edit_saved_during_the_final_check_is_not_lost(
    project: CommandSandbox, upstream: Repository, words: list[str]
) -> None:
    upstream.write({"skills/pdf/z.md": "Z.\n"}).commit()
    project.run("update", check=True)
    upstream.write({"skills/pdf/z.md": "Other.\n"}).commit()
    project.write("site/sitecustomize.py", SAVING)

    project.run(*words, env={"PYTHONPATH": str(project.work / "site")}, check=True)

    files = [path for path in (project.work / HERE).rglob("*") if path.is_file()]
    assert project.exists("refused") or any(b"my last words" in path.read_bytes() for path in files)


SAVING_A_COPY = f"""
import os, sys
done = []
def save(event, arguments):
    is_looking = event == "open" and str(arguments[0]).endswith(".claude/skills/pdf/z.md")
    if is_looking and os.path.exists("{JOURNAL}") and not done:
        done.append(True)
        with open(".claude/skills/pdf/SKILL.md", "a") as file:
            file.write("my last words")
sys.addaudithook(save)
"""


@pytest.mark.parametrize("words", [["update"], ["uninstall", "pdf"], ["unlink", "claude-code"]])
def test_an_edit_saved_in_a_copy_during_its_check_becomes_a_backup(
    project: CommandSandbox, upstream: Repository, words: list[str]
) -> None:
    copies = {"SKILLPM_LINK_MODE": "copy"}
    project.run("unlink", "claude-code", check=True)
    upstream.write({"skills/pdf/z.md": "Z.\n"}).commit()
    project.run("update", check=True)
    project.run("link", "claude-code", env=copies, check=True)
    upstream.write({"skills/pdf/z.md": "Other.\n"}).commit()
    project.write("site/sitecustomize.py", SAVING_A_COPY)

    result = project.run(*words, env={**copies, "PYTHONPATH": str(project.work / "site")}, check=True)

    place = project.work / ".claude/skills/pdf"
    kept = f"backed up {place} as pdf-1; restore it with `skillpm backup restore pdf-1`\n"
    assert result.stderr.endswith(kept)
    assert project.read(f"{HERE}/.skillpm/backup/pdf-1/SKILL.md").endswith("my last words")
    assert project.exists(".claude/skills/pdf") == (words == ["update"])


def test_a_copy_moved_away_before_a_crash_is_still_checked(project: CommandSandbox, upstream: Repository) -> None:
    project.write(".claude/skills/.pdf.skillpm-old/SKILL.md", "my own words")
    project.write(".claude/skills/.pdf.skillpm-new/SKILL.md", "half a co")
    project.write(".claude/skills/.pdf.skillpm-gone/SKILL.md", "the other half")

    project.run("install", f"{upstream.file_url}@docx", check=True)

    assert project.read(f"{HERE}/.skillpm/backup/pdf-1/SKILL.md") == "my own words"
    assert sorted(os.listdir(project.work / HERE / ".skillpm/backup")) == ["pdf-1", "pdf-1.from"]
    assert sorted(os.listdir(project.work / ".claude/skills")) == ["docx", "pdf"]


@pytest.mark.parametrize("edited", [True, False])
@pytest.mark.parametrize("written", [True, False], ids=["after the receipt", "before the receipt"])
def test_a_folder_moved_away_before_a_crash_is_checked_exactly_once(
    project: CommandSandbox, upstream: Repository, *, written: bool, edited: bool
) -> None:
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    killed(project, "update")
    ours = project.work / HERE / ".skillpm"
    place, staged, between = project.work / HERE / "pdf", ours / "staging/pdf", project.work / "between"
    if edited:
        (place / "SKILL.md").write_text("my own words")
    place.rename(between)
    staged.rename(place)
    between.rename(staged)
    if written:
        (ours / "receipt.json").write_bytes((ours / "staging/.documents/receipt").read_bytes())

    project.run("sync", check=True)

    kept = edited and not written
    assert project.exists(f"{HERE}/.skillpm/backup/pdf-1/SKILL.md") == kept
    assert project.read(f"{HERE}/pdf/notes.md") == "Second.\n"
    assert project.run("verify").code == 0


def test_a_manifest_that_was_edited_is_left_as_it_is(project: CommandSandbox, upstream: Repository) -> None:
    killed(project, "install", f"{upstream.file_url}@docx")
    mine = project.read("skills.json").replace("{", '{"exclude-newer": "2100-01-01", ', 1)
    project.write("skills.json", mine)

    result = project.run("sync", check=True)

    report = "skills.json was changed while a command was running or interrupted; it was not updated"
    assert f"warning: {project.work}/{report}" in result.stderr
    assert project.read("skills.json") == mine
    assert project.run("verify").code == 0


def test_a_change_without_its_staged_folder_is_abandoned_only_with_force(
    project: CommandSandbox, upstream: Repository
) -> None:
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    killed(project, "update")
    subprocess.run(["rm", "-r", str(project.work / HERE / ".skillpm/staging/pdf")], check=True)

    assert project.output("sync") == expected_output("""\
! error: pdf: the staged folder is missing
!   where: WORK/.agent-skills/.skillpm/staging/pdf
!   hint: run `skillpm sync --force` to abandon that change and install what the lockfile specifies
[1]
""")
    project.run("sync", "--force", check=True)
    assert project.output("verify") == "! 1 of 1 skill matches the lockfile\n"
    assert not project.exists(JOURNAL)


REJECTED = (
    "! warning: ignored the journal of a change that did not start in this directory: it was copied, or came with a "
    "checkout; the journal is kept as WORK/.agent-skills/.skillpm/rejected/journal-1.json\n"
)


@pytest.mark.parametrize("words", [["update"], ["uninstall", "pdf"]])
def test_a_copy_of_an_interrupted_directory_continues_from_manifest_and_lockfile(
    project: CommandSandbox, upstream: Repository, words: list[str]
) -> None:
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    project.write(f"{HERE}/pdf/SKILL.md", "my own words")
    killed(project, *words, "--force")
    copy = CommandSandbox(project.copy(project.root.parent / "copy").root)
    assert [row["state"] for row in copy.run("list", "--json").json["skills"]] == ["modified"]

    output = copy.run("sync", "--force", check=True).stderr

    assert REJECTED.removeprefix("! ") in output.replace(str(copy.work), "WORK")
    assert copy.output("verify") == "! 1 of 1 skill matches the lockfile\n"
    kept = [path.read_text() for path in (copy.work / HERE / ".skillpm/backup").glob("pdf-*/SKILL.md")]
    assert kept == ["my own words"]
    assert project.output("sync").endswith(FINISHED)


FORGED_BINDINGS = ["17:1700000000000000001", "0:0", ""]
PROJECT_FILES = (("manifest", "skills.json"), ("lockfile", "skills.lock"))


def forge_change(project: CommandSandbox, *, binding: str = FORGED_BINDINGS[0], **parts: object) -> None:
    """Plant what a clone can contain: another manifest and lockfile in staging, and a journal that installs them."""
    documents = dict.fromkeys(("manifest", "lockfile"), "{}\n")
    project.write_files({f"{HERE}/.skillpm/staging/.documents/{role}": text for role, text in documents.items()})
    hashes = {role: [content_hash(project.read(path).encode()), content_hash(b"{}\n")] for role, path in PROJECT_FILES}
    write_journal(project.work / HERE, binding=binding, documents=hashes, **parts)


@pytest.mark.parametrize("binding", FORGED_BINDINGS)
@pytest.mark.parametrize(
    "words", [["sync", "--frozen"], ["sync"], ["update"], ["link", "claude-code"], ["registry", "build"]]
)
def test_the_journal_of_a_checkout_is_never_executed(project: CommandSandbox, words: list[str], binding: str) -> None:
    forge_change(project, binding=binding)
    before = (project.read("skills.json"), project.read("skills.lock"))

    output = project.run(*words, check=True).stderr

    assert output.replace(str(project.work), "WORK").count(REJECTED.removeprefix("! ")) == 1
    assert (project.read("skills.json"), project.read("skills.lock")) == before
    assert not project.exists(JOURNAL)


@pytest.mark.parametrize("folder", ["rejected", "left", "staging", "trash", "backup"])
def test_a_link_in_a_checkout_leads_no_journal_out_of_the_project(project: CommandSandbox, folder: str) -> None:
    forge_change(project)
    outside = project.root / "outside"
    outside.mkdir()
    place = project.work / HERE / ".skillpm" / folder
    subprocess.run(["rm", "-rf", str(place)], check=True)
    place.symlink_to(outside, target_is_directory=True)

    assert "is a link that points outside the project" in project.output("sync")
    assert list(outside.iterdir()) == []


def test_readers_do_not_see_what_the_journal_of_a_checkout_promises(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(f"{HERE}/.skillpm/staging/pdf", make_skill("pdf", "Evil.")))
    inode = (project.work / HERE / ".skillpm/staging/pdf").stat().st_ino
    forge_change(project, puts={"pdf": [inode, 0, False, ""]})

    assert "Evil." not in project.output("load", "pdf") + project.output("prompt") + project.output("list")


def test_an_interrupted_change_that_has_to_write_the_manifest_is_not_finished_under_frozen(
    project: CommandSandbox, upstream: Repository
) -> None:
    killed(project, "install", f"{upstream.file_url}@docx")
    before = (project.read("skills.json"), project.read("skills.lock"))

    assert project.output("sync", "--frozen") == expected_output("""\
! error: finishing an interrupted change would write the manifest, which --frozen and --locked forbid
!   where: WORK/skills.json
!   hint: run `skillpm sync` without them to finish that change
[1]
""")
    assert (project.read("skills.json"), project.read("skills.lock")) == before
    assert project.output("sync").endswith(FINISHED)
    assert "docx" in project.read("skills.json")


def test_a_change_without_its_staged_folder_moves_nothing_else(project: CommandSandbox, upstream: Repository) -> None:
    project.run("install", f"{upstream.file_url}@docx", check=True)
    upstream.write({"skills/docx/notes.md": "Second.\n", "skills/pdf/notes.md": "Second.\n"}).commit()
    killed(project, "update")
    project.write(f"{HERE}/docx/SKILL.md", "my own words")
    subprocess.run(["rm", "-r", str(project.work / HERE / ".skillpm/staging/pdf")], check=True)

    assert project.run("sync").code == 1

    assert project.read(f"{HERE}/docx/SKILL.md") == "my own words"
    project.run("sync", "--force", check=True)
    assert project.read(f"{HERE}/.skillpm/backup/docx-1/SKILL.md") == "my own words"


@pytest.mark.parametrize(
    ("way", "words"),
    [("staging/pdf", ["sync", "--force"]), ("trash/pdf-1", ["sync", "--force"]), ("staging/pdf", ["doctor", "--fix"])],
)
def test_an_edit_moved_away_survives_abandoning_the_change(
    project: CommandSandbox, upstream: Repository, way: str, words: list[str]
) -> None:
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    killed(project, "update")
    place, ours = project.work / HERE / "pdf", project.work / HERE / ".skillpm"
    (place / "SKILL.md").write_text("my own words")
    (ours / "staging/pdf").rename(project.work / "new")
    (ours / "trash").mkdir(exist_ok=True)
    place.rename(ours / way)
    (project.work / "new").rename(place)
    project.write(JOURNAL, project.read(JOURNAL).replace("pdf", "pdg"))

    result = project.run(*words)

    assert "backed up your version of pdf as pdf-1; restore it with `skillpm backup restore pdf-1`" in result.stderr
    assert project.read(f"{HERE}/.skillpm/backup/pdf-1/SKILL.md") == "my own words"
    assert not project.exists(JOURNAL)


def test_a_journal_from_a_checkout_reaches_agent_folders_only(project: CommandSandbox) -> None:
    ours = f"{HERE}/.skillpm"
    project.write(f"{ours}/backup/pre-commit-1", "#!/bin/sh\necho evil\n")
    write_journal(project.work / HERE, returns={".git/hooks": {"pre-commit": "pre-commit-1"}})

    assert project.output("sync") == expected_output("""\
! error: the interrupted change writes to .git/hooks, where no agent reads skills
!   where: WORK/.agent-skills/.skillpm/journal.json
!   hint: run `skillpm sync --force` to abandon that change and install what the lockfile specifies
[1]
""")
    assert not project.exists(".git")
    project.run("sync", "--force", check=True)
    assert not project.exists(".git")


def test_even_force_leaves_the_change_of_a_newer_skillpm_alone(project: CommandSandbox) -> None:
    write_journal(project.work / HERE, version=3)
    before = project.full_snapshot
    newer = expected_output("""\
! error: unsupported format 3; this version of skillpm reads up to 2
!   where: WORK/.agent-skills/.skillpm/journal.json
!   hint: upgrade skillpm: pip install --upgrade agent-skillpm
[1]
""")

    assert project.output("sync") == newer
    assert project.output("sync", "--force") == newer
    checks = project.run("doctor", "--fix", "--json").json["checks"]
    assert [check["hint"] for check in checks if check["id"] == "journal"] == [
        "upgrade skillpm: pip install --upgrade agent-skillpm"
    ]
    assert project.full_snapshot == before


@pytest.mark.parametrize("slot", ["../../../evil-1", "pre-commit", "pre-commit-x", "-1"])
def test_a_journal_names_backups_and_never_paths(project: CommandSandbox, slot: str) -> None:
    write_journal(project.work / HERE, spent=[slot])
    before = project.full_snapshot

    assert project.run("sync").code == 1
    assert project.full_snapshot == before


def test_a_journal_from_a_checkout_uses_up_no_backup(project: CommandSandbox) -> None:
    project.write(f"{HERE}/pdf/SKILL.md", "my own words")
    project.run("sync", "--force", check=True)
    write_journal(project.work / HERE, spent=["pdf-1"])

    project.run("sync", check=True)

    assert project.read(f"{HERE}/.skillpm/backup/pdf-1/SKILL.md") == "my own words"


@pytest.mark.parametrize("there", ["folder", "file"])
def test_a_backup_that_is_edited_while_it_is_restored_stays(project: CommandSandbox, there: str) -> None:
    place = project.work / HERE / "pdf"
    if there == "file":
        subprocess.run(["rm", "-r", str(place)], check=True)
        place.write_text("my own words")
    else:
        (place / "SKILL.md").write_text("my own words")
    project.run("sync", "--force", check=True)
    killed(project, "backup", "restore", "pdf")
    kept = f"{HERE}/.skillpm/backup/pdf-1"
    project.write(kept if there == "file" else f"{kept}/SKILL.md", "my last words")

    output = project.output("registry", "build")

    stays = f"! warning: backup pdf-1 differs from what was restored, so it is kept: WORK/{kept}\n"
    assert stays + FINISHED in output
    assert project.read(kept if there == "file" else f"{kept}/SKILL.md") == "my last words"
    assert (place if there == "file" else place / "SKILL.md").read_text() == "my own words"


def test_waiting_longer_than_a_second_reports_the_lock_holder(project: CommandSandbox, upstream: Repository) -> None:
    with hold_lock(str(project.work / HERE / ".skillpm/lock"), 5, "the test"):
        waiting = project.spawn("install", "testing")
        assert waiting.stderr is not None
        report = waiting.stderr.readline().decode()

    assert report == f"warning: waiting for {project.work}/{HERE}, locked by process {os.getpid()}\n"
    waiting.communicate(timeout=60)
    assert waiting.returncode == 0


def test_a_lock_is_released_however_its_process_ends(project: CommandSandbox) -> None:
    lock = str(project.work / HERE / ".skillpm/lock")
    hold = "import sys; from skillpm.locks import locked\nwith locked(sys.argv[1], 5, ''): print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=project.environment()
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        holder.kill()

    assert project.run("install", "testing", "--lock-timeout", "0.1").code == 0


@pytest.fixture
def other_disk(project: CommandSandbox) -> Iterator[Path]:
    with folder_on_another_disk(project.home) as folder:
        if folder is None:
            pytest.skip("there is no second file system to write into")
        yield folder


def test_backups_move_to_and_from_an_agent_folder_on_another_file_system(
    project: CommandSandbox, other_disk: Path
) -> None:
    (project.home / ".claude").symlink_to(other_disk)
    (other_disk / "skills/testing/deep").mkdir(parents=True)
    (other_disk / "skills/testing/SKILL.md").write_text("mine")
    (other_disk / "skills/testing/deep/key").write_text("secret")
    (other_disk / "skills/testing/deep/key").chmod(0o600)
    before = project.snapshot(str(other_disk))
    project.run("install", "-g", "testing", check=True)

    project.run("link", "-g", "claude-code", "--force", check=True)
    assert (other_disk / "skills/testing").is_symlink()
    project.run("unlink", "-g", "claude-code", check=True)
    project.run("backup", "restore", "-g", "testing-1", check=True)

    assert project.snapshot(str(other_disk)) == before
    assert project.output("backup", "list", "-g") == "! no backups\n"


def test_restoring_preserves_owner_only_permissions(project: CommandSandbox) -> None:
    place = project.write(f"{HERE}/testing/key", "secret")
    place.chmod(0o600)
    project.write(f"{HERE}/testing/SKILL.md", "mine")
    before = project.snapshot(f"{HERE}/testing")
    project.run("install", "testing", "--force", check=True)
    project.run("uninstall", "testing", check=True)

    project.run("backup", "restore", "testing-1", check=True)

    assert project.snapshot(f"{HERE}/testing") == before


@pytest.mark.parametrize("words", ["update", "sync", "lock --upgrade"])
def test_a_process_with_the_pid_of_a_killed_one_cleans_up_after_it(
    project: CommandSandbox, upstream: Repository, words: str
) -> None:
    """In a container each command is process 7, and so was the one that was killed."""
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    half = [f"{HERE}/.skillpm/{name}" for name in ("journal.json", "receipt.json", "scan.json")]
    half += ["skills.json", "skills.lock", f"{HERE}/skills.json"]
    script = f'for half in {" ".join(half)}; do echo half > "$half.$$.tmp"; done; exec "$@"'

    done = subprocess.run(
        ["sh", "-c", script, "sh", *project.command, *words.split()],
        cwd=project.work, env=project.environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    left = [str(path) for path in project.work.rglob("*.tmp")]
    assert left == []


def test_an_incomplete_store_entry_blocks_nothing(project: CommandSandbox) -> None:
    (entry,) = (path for path in project.cache.rglob("v1/store/*/*") if path.is_file())
    content = entry.read_bytes()
    code = (
        "import os, sys, threading; from skillpm import cachedir; path = sys.argv[1];"
        "open(f'{path}.{os.getpid()}-{threading.get_ident()}.new', 'w').close();"
        "cachedir.write_cache_file(path, sys.stdin.buffer.read())"
    )
    entry.unlink()

    subprocess.run([sys.executable, "-c", code, str(entry)], input=content, check=True)

    assert [path.name for path in entry.parent.iterdir()] == [entry.name]
    assert entry.read_bytes() == content


def test_a_change_to_a_skill_committed_with_litter_is_finished(project: CommandSandbox, upstream: Repository) -> None:
    upstream.write({"skills/pdf/.DS_Store": "\0Bud1"}).commit()
    killed(project, "update")

    assert FINISHED in project.output("sync")
    assert project.read(f"{HERE}/pdf/.DS_Store") == "\0Bud1"
    assert project.output("verify") == "! 1 of 1 skill matches the lockfile\n"
