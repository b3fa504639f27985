"""Nobody hears what a command says: its streams are closed, full, or read by nobody. What it does, it does."""

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
    """Give a project with an edited skill: a forced sync warns in its very midst."""
    project.run("install", f"{url}@pdf", check=True)
    project.write(".agent-skills/pdf/SKILL.md", MINE)
    return project


def heard_by_nobody(scene: CommandSandbox, words: str, streams: str) -> int:
    """Run a command by a shell that arranges its streams; give its exit code."""
    script = f'"$@" {streams}'
    command = ["bash", "-o", "pipefail", "-c", script, "bash", *scene.command, *words.split()]
    done = subprocess.run(command, cwd=scene.work, env=scene.environment(), capture_output=True, check=False)
    return done.returncode


@pytest.mark.parametrize("streams", ["2>&1 | true", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_a_change_that_warns_into_nothing_is_done(edited: CommandSandbox, streams: str) -> None:
    assert heard_by_nobody(edited, "sync --force", streams) == 0

    assert edited.read(".agent-skills/.skillpm/backup/pdf-1/SKILL.md") == MINE
    assert not edited.exists(".agent-skills/.skillpm/journal.json")
    assert edited.output("verify") == "! 1 of 1 skill is what the lockfile says\n"


def test_an_error_that_nobody_reads_has_its_exit_code(edited: CommandSandbox) -> None:
    for streams in ("2>&1 | true", "2>&-", "2>/dev/full", ">&- 2>&-"):
        assert heard_by_nobody(edited, "sync", streams) == 1, streams
        assert heard_by_nobody(edited, "sync --json", f"{streams} >/dev/null") == 1, streams


@needs_full
@pytest.mark.parametrize("words", ["list", "list --json", "update --force", "prompt"])
def test_output_that_a_full_disk_does_not_take_is_told(
    edited: CommandSandbox, upstream: Repository, words: str
) -> None:
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    with FULL.open("wb") as full:
        command, heard = [*edited.command, *words.split()], subprocess.PIPE
        done = subprocess.run(
            command, cwd=edited.work, env=edited.environment(), stdout=full, stderr=heard, check=False
        )

    said = [line for line in done.stderr.decode().splitlines() if not line.startswith(("warning:", "next:"))]
    assert "\n".join(said) == expected_output("""\
error: cannot write the output: no space left on the device
  try: free some space and run the command again; nothing was left half done""")
    assert done.returncode == 1
    assert not edited.exists(".agent-skills/.skillpm/journal.json")


def test_a_file_is_never_taken_for_a_stream_that_is_closed(edited: CommandSandbox) -> None:
    assert heard_by_nobody(edited, "sync --force", "0<&- 1>&- 2>&-") == 0
    for folder, _, files in os.walk(edited.work):
        for file in files:
            assert b"warning:" not in Path(folder, file).read_bytes()
