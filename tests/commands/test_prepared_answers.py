"""The second `list` or `sync` without changes is answered before click is imported, and says what the first one said.

Any change makes it read everything again: each answer here is compared with that of a run with an empty cache.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from kit import Result, Sandbox, make_skill, prefix_paths, wait_for

from skillpm.cli.answer_preparation import CannotPrepare, Watcher
from skillpm.cli.prepared_answers import ANSWERED
from skillpm.installer.disk.stat_cache import UNKNOWN_TICK

HERE = ".agent-skills"
SKILL = f"{HERE}/code-review/SKILL.md"
COMMANDS = [["list"], ["list", "--json"], ["sync"], ["sync", "--frozen"], ["sync", "--json"]]
Change = Callable[[Sandbox], object]


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path / "sandbox")


@pytest.fixture
def settled(sandbox: Sandbox) -> Sandbox:
    sandbox.write(".git/HEAD", "ref: refs/heads/main\n")
    sandbox.write("skills.json", '{"skills": {}, "agents": ["claude-code"]}\n')
    sandbox.run("install", "code-review", "testing", check=True)
    sandbox.write_files(prefix_paths(f"{HERE}/mine", make_skill("mine", "My own.")))
    sandbox.run("sync", check=True)
    newest = max(path.lstat().st_ctime_ns for path in sandbox.work.rglob("*"))
    wait_for(
        lambda: time.time_ns() > newest + UNKNOWN_TICK
    )  # what is younger than a tick of the clock prevents answers
    return sandbox


def prepared(sandbox: Sandbox) -> set[str]:
    folder = sandbox.cache / "v1/answers"
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def imports(sandbox: Sandbox, *words: str) -> set[str]:
    """Run a command and return the modules that it imported."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "skillpm", *words],
        cwd=sandbox.work,
        env=sandbox.environment({}),
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def run_afresh(sandbox: Sandbox, *words: str, machine: Sandbox | None = None) -> Result:
    """Run a command without the prepared answers; what this machine, or another one, has accepted is known."""
    return sandbox.run(*words, env={"SKILLPM_CACHE_DIR": without_answers(machine or sandbox)})


def without_answers(sandbox: Sandbox) -> str:
    """Return a cache with the same files, but no answers: links, since verdicts count only in their own file."""
    folder = sandbox.root / "afresh"
    shutil.rmtree(folder, ignore_errors=True)
    ignore = shutil.ignore_patterns("answers")
    shutil.copytree(sandbox.cache, folder, symlinks=True, ignore=ignore, copy_function=os.link)
    return str(folder)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_second_run_answers_without_click(settled: Sandbox, words: list[str]) -> None:
    first, second = settled.run(*words), settled.run(*words)

    assert first == second == run_afresh(settled, *words)
    assert "click" not in imports(settled, *words)


def test_the_version_needs_no_click(sandbox: Sandbox) -> None:
    assert "click" not in imports(sandbox, "--version")
    assert sandbox.run("--version").stdout == sandbox.run("version").stdout


@pytest.mark.parametrize(
    "words", [["list", "--tokens", "-v"], ["ls"], ["sync", "--dry-run"], ["sync", "--project", "."]]
)
def test_other_arguments_are_not_answered(settled: Sandbox, words: list[str]) -> None:
    before = prepared(settled)
    settled.run(*words, check=True)
    settled.run(*words, check=True)

    assert prepared(settled) == before


def rewrite_unnoticed(sandbox: Sandbox) -> None:
    """Change a letter, and set the time of the file back."""
    path = sandbox.work / SKILL
    state = path.stat()
    path.write_text(path.read_text().replace("description: R", "description: Q", 1))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def replace_by_link(sandbox: Sandbox) -> None:
    (sandbox.work / SKILL).unlink()
    (sandbox.work / SKILL).symlink_to("../testing/SKILL.md")


def replace_link(sandbox: Sandbox) -> None:
    (sandbox.work / ".claude/skills/testing").unlink()
    sandbox.write(".claude/skills/testing", "mine\n")


def add_outer_project(sandbox: Sandbox) -> None:
    (sandbox.work / ".git").rename(sandbox.root / ".git")
    sandbox.write("../skills.json", '{"skills": {}, "permissions": {"testing": "deny"}}\n')
    sandbox.write_files(prefix_paths("../.agent-skills/outer", make_skill("outer")))


def replace_folder(sandbox: Sandbox) -> None:
    folder = sandbox.work / HERE / "testing"
    folder.rename(sandbox.root / "aside")
    (sandbox.work / HERE / "code-review").rename(folder)


CHANGES: dict[str, Change] = {
    "a file edited, with its old time": rewrite_unnoticed,
    "a file added": lambda sandbox: sandbox.write(f"{HERE}/testing/more.md", "more\n"),
    "a file removed": lambda sandbox: (sandbox.work / SKILL).unlink(),
    "a file made executable": lambda sandbox: (sandbox.work / SKILL).chmod(0o755),
    "a file replaced by a link": replace_by_link,
    "a folder replaced": replace_folder,
    "a local skill added": lambda sandbox: sandbox.write_files(prefix_paths(f"{HERE}/new", make_skill("new"))),
    "a local skill edited": lambda sandbox: sandbox.write_files(prefix_paths(f"{HERE}/mine", make_skill("mine", "N."))),
    "a flat file": lambda sandbox: sandbox.write(f"{HERE}/old.md", "# Old\n\nDo it.\n"),
    "the manifest": lambda sandbox: sandbox.write("skills.json", '{"skills": {"testing": {"bundled": true}}}\n'),
    "no manifest": lambda sandbox: (sandbox.work / "skills.json").unlink(),
    "the lockfile": lambda sandbox: sandbox.write(
        "skills.lock", sandbox.read("skills.lock").replace('"version": "1.0.0"', '"version": "9.9.9"')
    ),
    "no lockfile": lambda sandbox: (sandbox.work / "skills.lock").unlink(),
    "the receipt": lambda sandbox: (sandbox.work / HERE / ".skillpm/receipt.json").unlink(),
    "the registry": lambda sandbox: sandbox.write(f"{HERE}/skills.json", "{}"),
    "a journal": lambda sandbox: sandbox.write(f"{HERE}/.skillpm/journal.json", "{}"),
    "leftovers": lambda sandbox: sandbox.write(f"{HERE}/.skillpm/trash/x", "x"),
    "a link": lambda sandbox: (sandbox.work / ".claude/skills/testing").unlink(),
    "a file in a link's place": replace_link,
    "the agent's folder": lambda sandbox: os.rename(sandbox.work / ".claude", sandbox.work / ".other"),
    "the user's configuration": lambda sandbox: sandbox.write(
        "../home/.config/skillpm/config.toml", "[skills]\nenabled = false\n"
    ),
    "the user's manifest": lambda sandbox: sandbox.write(
        "../home/.config/skillpm/skills.json", '{"skills": {}, "permissions": {"testing": "deny"}}\n'
    ),
    "another project around": add_outer_project,
}


@pytest.mark.parametrize("words", [["list"], ["sync", "--json"]], ids=" ".join)
@pytest.mark.parametrize("change", CHANGES)
def test_after_any_change_everything_is_read_again(
    settled: Sandbox, tmp_path: Path, change: str, words: list[str]
) -> None:
    settled.run(*words, check=True)
    assert prepared(settled)
    CHANGES[change](settled)
    root = tmp_path / "other"
    subprocess.run(["cp", "-a", str(settled.root), str(root)], check=True)
    other = Sandbox(root)
    expected = run_afresh(other, *words, machine=settled)

    result = settled.run(*words)

    for text in (expected.stdout, expected.stderr):
        assert str(settled.root) not in text
    assert (result.code, result.stdout, result.stderr) == (
        expected.code,
        expected.stdout.replace(str(root), str(settled.root)),
        expected.stderr.replace(str(root), str(settled.root)),
    )


@pytest.mark.parametrize(
    "variables",
    [{"COLUMNS": "60"}, {"CI": "1"}, {"SKILLPM_MAX_FILE": "10"}, {"HOME": "/nowhere"}, {"CLAUDE_CONFIG_DIR": "/x"}],
    ids="".join,
)
def test_another_environment_has_another_answer(settled: Sandbox, variables: dict[str, str]) -> None:
    settled.run("list", check=True)

    assert settled.run("list", env=variables) == settled.run(
        "list", env={**variables, "SKILLPM_CACHE_DIR": without_answers(settled)}
    )


def test_with_variables_of_an_index_nothing_is_prepared(settled: Sandbox) -> None:
    """They may hold a login, which no file may contain."""
    before = prepared(settled)
    settled.run(
        "list", env={"SKILLPM_INDEX_ACME_URL": "https://user:secret@acme.example/", "COLUMNS": "99"}, check=True
    )

    assert prepared(settled) == before


def test_answers_are_readable_by_their_owner_only(settled: Sandbox) -> None:
    settled.run("list", check=True)

    assert (settled.cache / "v1/answers").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damage", ["cut off", "of all users", "a link", "noise", "another format"])
def test_a_file_that_is_no_answer_is_ignored(settled: Sandbox, damage: str) -> None:
    settled.run("list", check=True)
    for path in (settled.cache / "v1/answers").iterdir():
        parts = path.read_bytes().split(b"\0")
        printed = 3 + 2 * int(parts[2])
        forged = [part.replace(b"testing", b"forged!") for part in parts[printed:]]
        path.write_bytes(b"\0".join([*parts[:printed], *forged]))
        if damage == "cut off":
            path.write_bytes(b"\0".join([*parts[:printed], *forged[:-2]]))
        elif damage == "another format":
            path.write_bytes(b"\0".join([b"2", *parts[1:printed], *forged]))
        elif damage == "of all users":
            path.chmod(0o666)
        elif damage == "a link":
            path.rename(settled.root / path.name)
            path.symlink_to(settled.root / path.name)
        elif damage == "noise":
            path.write_bytes(os.urandom(1000))

    assert settled.run("list") == run_afresh(settled, "list")


def test_a_file_that_was_changed_during_the_command_prevents_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("text")
    changed = max(path.stat().st_ctime_ns, path.stat().st_mtime_ns)
    Watcher(changed + 1).watch_file(str(path))

    with pytest.raises(CannotPrepare):
        Watcher(changed).watch_file(str(path))


def test_a_file_that_may_have_been_removed_during_the_command_prevents_an_answer(tmp_path: Path) -> None:
    changed = tmp_path.stat().st_ctime_ns
    Watcher(changed + 1).watch_file(str(tmp_path / "missing"))

    with pytest.raises(CannotPrepare):
        Watcher(changed).watch_file(str(tmp_path / "missing"))


@pytest.mark.parametrize("words", [["install", "./own"], ["install", "./own", "--link"]], ids=" ".join)
def test_a_sync_with_a_local_folder_reads_it_each_time(settled: Sandbox, words: list[str]) -> None:
    settled.write_files(prefix_paths("own", make_skill("own", "Old.")))
    settled.run(*words, check=True)
    settled.run("sync", check=True)
    settled.run("sync", check=True)
    settled.write_files(prefix_paths("own", make_skill("own", "New.")))

    settled.run("sync", check=True)

    assert "New." in settled.run("list").stdout


def test_a_sync_with_exclude_newer_looks_at_the_time_each_time(settled: Sandbox) -> None:
    manifest = settled.read("skills.json").replace("{", '{"exclude-newer": "7 days", ', 1)
    settled.write("skills.json", manifest)
    settled.run("sync", check=True)
    before = prepared(settled)
    settled.run("sync", check=True)

    assert prepared(settled) == before
    assert "click" in imports(settled, "sync")


@pytest.mark.parametrize("folder", [".", "sub"])
def test_a_cache_in_the_checkout_has_no_answers(settled: Sandbox, folder: str) -> None:
    """A checkout could bring a forged one."""
    (settled.work / "sub").mkdir()
    inside = settled.work / ".cache"
    for _ in range(2):
        settled.run("list", cwd=folder, env={"SKILLPM_CACHE_DIR": str(inside)}, check=True)

    assert not (inside / "v1/answers").exists()


def test_a_copied_project_has_no_answer(settled: Sandbox, tmp_path: Path) -> None:
    """Not even at the same path and with the same cache: the copies are other files."""
    settled.run("list", check=True)
    aside = tmp_path / "aside"
    settled.work.rename(aside)
    subprocess.run(["cp", "-a", str(aside), str(settled.work)], check=True)

    assert "click" in imports(settled, "list")


def test_every_answered_option_exists(sandbox: Sandbox) -> None:
    for command, options in ANSWERED.items():
        text = sandbox.run(command, "--help").stdout
        assert [option for option in options if option not in text] == []
