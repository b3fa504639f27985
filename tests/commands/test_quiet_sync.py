"""A sync with nothing to do makes no request, starts no process and touches no file of the project.

It only prepares its answer in the cache, for the next one.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import GitServer

NO_PYC = {"PYTHONDONTWRITEBYTECODE": "1"}
STRACE = shutil.which("strace")


@pytest.fixture
def settled(project: CommandSandbox, served: str) -> CommandSandbox:
    """Return a project with skills from a forge and the tool, linked."""
    project.run("install", served, "testing", "--all", check=True)
    project.run("link", "claude-code", "codex", check=True)
    return project


def times(scene: CommandSandbox) -> dict[Path, tuple[int, int, int]]:
    """Take down when each file and folder outside of the cache changed, content or state, and which it is."""
    found = ((path, path.lstat()) for path in sorted(scene.root.rglob("*")) if not path.is_relative_to(scene.cache))
    return {path: (state.st_mtime_ns, state.st_ctime_ns, state.st_ino) for path, state in found}


@pytest.mark.parametrize("words", ["sync", "sync --frozen", "sync --locked", "install testing"])
def test_no_file_is_touched_and_no_request_is_made(settled: CommandSandbox, server: GitServer, words: str) -> None:
    server.clear_requests()
    before = times(settled)

    assert settled.output(*words.split()) == "nothing to do: 3 skills in WORK/.agent-skills\n"

    assert times(settled) == before
    assert server.requests == []


@pytest.mark.skipif(STRACE is None, reason="strace sees what a process does; it is not on PATH")
def test_there_is_no_child_process_no_socket_and_no_file_opened_for_writing(
    settled: CommandSandbox, tmp_path: Path
) -> None:
    log = tmp_path / "calls"
    subprocess.run(
        [str(STRACE), "-f", "-o", str(log), "-e", "trace=process,network,open,openat,creat", *settled.command, "sync"],
        cwd=settled.work, env=settled.environment(NO_PYC), capture_output=True, check=True,
    )  # fmt: skip

    calls = [call[1] for line in log.read_text().splitlines() if (call := re.match(r"\d+ +(.*)", line))]
    words = [re.match(r"(\w+)\(", call) for call in calls]
    names = [word[1] for word in words if word]
    assert names.count("execve") == 1
    assert set(names) <= {"execve", "open", "openat", "exit", "exit_group", "arch_prctl"}
    writing = [call for call in calls if "O_WRONLY" in call or "O_RDWR" in call or "O_CREAT" in call]
    assert [call for call in writing if "/dev/" not in call and "/v1/answers/" not in call] == []


@pytest.mark.skipif(STRACE is None, reason="strace sees what a process does; it is not on PATH")
def test_the_files_of_skills_are_not_read_but_for_one_that_changed(settled: CommandSandbox, tmp_path: Path) -> None:
    """Files in the stat cache are not read."""

    def opened() -> list[str]:
        log = tmp_path / "calls"
        subprocess.run(
            [str(STRACE), "-f", "-o", str(log), "-e", "trace=open,openat", *settled.command, "sync"],
            cwd=settled.work, env=settled.environment(NO_PYC), capture_output=True, check=True,
        )  # fmt: skip
        return [path for path in re.findall(r'"([^"]+)"', log.read_text()) if path.endswith("SKILL.md")]

    opened()  # reads what was written within a tick of the clock, and notes it
    assert opened() == []

    changed = settled.work / ".agent-skills/pdf/SKILL.md"
    changed.touch()
    assert opened() == [str(changed)]
