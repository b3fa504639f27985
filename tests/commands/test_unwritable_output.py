"""Standard streams that are closed, full or not read do not prevent a change."""

import os
import subprocess
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository

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
        assert run_with_streams(edited, "sync", streams) == 1, streams
        assert run_with_streams(edited, "sync --json", f"{streams} >/dev/null") == 1, streams


@needs_full
@pytest.mark.parametrize("words", ["list", "list --json", "update --force", "prompt"])
def test_output_to_a_full_disk_is_an_error(edited: CommandSandbox, upstream: Repository, words: str) -> None:
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    with FULL.open("wb") as full:
        command, pipe = [*edited.command, *words.split()], subprocess.PIPE
        done = subprocess.run(command, cwd=edited.work, env=edited.environment(), stdout=full, stderr=pipe, check=False)

    lines = [line for line in done.stderr.decode().splitlines() if not line.startswith(("warning:", "next:"))]
    assert "\n".join(lines) == expected_output("""\
error: cannot write the output: no space left on the device
  hint: free some space and run the command again; no partial change was left""")
    assert done.returncode == 1
    assert not edited.exists(".agent-skills/.skillpm/journal.json")


def test_nothing_is_written_into_a_file_that_got_the_number_of_a_closed_stream(edited: CommandSandbox) -> None:
    assert run_with_streams(edited, "sync --force", "0<&- 1>&- 2>&-") == 0
    for folder, _, files in os.walk(edited.work):
        for file in files:
            assert b"warning:" not in Path(folder, file).read_bytes()
