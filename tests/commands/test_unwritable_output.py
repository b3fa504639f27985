"""Standard streams that are closed, full or not read do not prevent a change."""

import os
import subprocess
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import Repository
from kit.sandbox import Environment

pytestmark = pytest.mark.slow

FULL = Path("/dev/full")
MINE = "---\nname: pdf\ndescription: Mine.\n---\nmy own words\n"
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")


@pytest.fixture
def edited(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project with an edited skill: a forced sync prints a warning in the middle of the change."""
    project.run("install", f"{url}@pdf", check=True)
    project.write(".agent-skills/pdf/SKILL.md", MINE)
    return project


def run_with_streams(scene: CommandSandbox, words: str, streams: str) -> int:
    """Run a command in a shell with redirected streams and return its exit code."""
    script = f'"$@" {streams}'
    command = ["bash", "-o", "pipefail", "-c", script, "bash", *scene.command, *words.split()]
    done = subprocess.run(command, cwd=scene.work, env=scene.environment(), capture_output=True, check=False)
    return done.returncode


@pytest.mark.parametrize("streams", ["2>&1 | true", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_a_change_is_completed_if_its_warnings_cannot_be_written(edited: CommandSandbox, streams: str) -> None:
    assert run_with_streams(edited, "sync --force", streams) == 0

    assert edited.read(".agent-skills/.skillpm/backup/pdf-1/SKILL.md") == MINE
    assert not edited.exists(".agent-skills/.skillpm/journal.json")
    assert edited.output("verify") == "! 1 of 1 skill matches the lockfile\n"


def test_an_error_that_cannot_be_written_has_its_exit_code(edited: CommandSandbox) -> None:
    for streams in ("2>&1 | true", "2>&-", "2>/dev/full", ">&- 2>&-"):
        assert run_with_streams(edited, "sync --frozen", streams) == 1, streams
        assert run_with_streams(edited, "sync --frozen --json", f"{streams} >/dev/null") == 1, streams


# Each command that prints to stdout, with its arguments in a project with the edited skill `pdf`.
PRINTING = (
    "--version", "--help", "list --help", "version pdf --help", "bogus --help", "completion bash",
    "list", "show pdf", "search pdf", "outdated", "tree", "why pdf", "diff pdf", "review", "audit", "agents --all",
    "discover", "fit", "load pdf", "load long", "prompt", "match pdf", "projects", "validate .agent-skills/pdf",
    "update --force", "sync --force", "lock", "backup list", "doctor", "registry check", "cache dir", "cache info",
    "config get", "policy show", "install testing", "uninstall testing", "link claude-code", "unlink claude-code",
    "disable pdf", "enable pdf", "new fresh", "init other", "migrate", "verify",
)  # fmt: skip


@needs_full
@pytest.mark.parametrize("variables", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "unbuffered"])
def test_output_to_a_full_disk_is_an_error(
    edited: CommandSandbox, upstream: Repository, variables: Environment
) -> None:
    edited.write(".agent-skills/long/SKILL.md", "---\nname: long\ndescription: Long.\n---\n" + "words\n" * 20_000)
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    left, printed = edited.work / "temporary", 0
    left.mkdir()
    environment = edited.environment({"TMPDIR": str(left), **variables})
    for words in [each for line in PRINTING for each in (line, f"{line} --json")]:
        command = [*edited.command, *words.split()]
        for attempt in range(2):  # the second one may find a prepared answer
            with FULL.open("wb") as full:
                done = subprocess.run(
                    command,
                    cwd=edited.work,
                    env=environment,
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                )
            assert done.returncode in {0, 1, 2}, (words, attempt, done)
            assert "internal error" not in done.stderr, (words, attempt, done)
            if "cannot write the output" not in done.stderr:
                again = subprocess.run(command, cwd=edited.work, env=environment, capture_output=True, check=False)
                assert again.stdout == b"" or "error: " in done.stderr, (words, attempt, done, again)
                continue
            printed += 1
            lines = done.stderr.splitlines()
            assert lines[lines.index("error: cannot write the output: no space left on the device") :] == [
                "error: cannot write the output: no space left on the device",
                "  hint: free some space and run the command again; no partial change was left",
            ], (words, attempt, done)
            assert done.returncode == 1, words
    assert list(left.iterdir()) == []
    assert not edited.exists(".agent-skills/.skillpm/journal.json")
    assert printed > 100


def test_nothing_is_written_into_a_file_that_got_the_number_of_a_closed_stream(edited: CommandSandbox) -> None:
    assert run_with_streams(edited, "sync --force", "0<&- 1>&- 2>&-") == 0
    for folder, _, files in os.walk(edited.work):
        for file in files:
            assert b"warning:" not in Path(folder, file).read_bytes()
