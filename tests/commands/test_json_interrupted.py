"""`--json` prints exactly one object, also if a signal ends the command: at any moment after Python has started."""

import array
import fcntl
import json
import os
import select
import signal
import termios
from pathlib import Path
from typing import IO

import pytest
from commands.scene import CommandSandbox
from kit import GitServer, wait_for

# Sends a signal to the process itself before its Nth audited operation (an import, an opened file, a started process).
SENDER = """
import atexit, os, sys
moment, count = int(os.environ["MOMENT"]), None
def send(event, words):
    global count
    if count is None and event == "import" and words[0] == "skillpm.cli.main":
        count = 0
    if count is not None:
        count += 1
        if count == moment:
            os.kill(os.getpid(), int(os.environ["SIGNAL"]))
def report():
    with open(os.environ["COUNT"], "w") as file:
        file.write(str(count))
if moment == 0:
    atexit.register(report)
sys.addaudithook(send)
"""
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupted(number: signal.Signals) -> str:
    message = f"interrupted by {number.name}"
    return json.dumps(
        {"error": {"code": "interrupted", "message": message, "where": "", "hint": "", "skills": []}}, indent=2
    )


@pytest.fixture
def locked(project: CommandSandbox, url: str) -> CommandSandbox:
    """A project with a lockfile, nothing installed and an empty cache; `site` sends signals."""
    project.run("install", url, "--all", check=True)
    project.write("site/sitecustomize.py", SENDER)
    return project


def _environment(project: CommandSandbox, moment: int, number: int) -> dict[str, str]:
    site, count = str(project.work / "site"), str(project.root / "count")
    return {"PYTHONPATH": site, "MOMENT": str(moment), "SIGNAL": str(int(number)), "COUNT": count}


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["sync"], 0),
        (["list"], 0),
        (["show", "nosuch"], 1),
        (["sync", "--nosuch"], 2),
    ],
    ids=["a change", "a reading command", "an error", "wrong usage"],
)
def test_one_object_at_any_moment(locked: CommandSandbox, tmp_path: Path, command: list[str], code: int) -> None:
    with_count = CommandSandbox(tmp_path / "count").create_project()
    _copy_project(locked, with_count)
    plain = with_count.run(*command, "--json", env=_environment(with_count, 0, 0))
    assert plain.code == code, plain
    total = int((with_count.root / "count").read_text())
    seen = set()

    for index, moment in enumerate(range(1, total, max(1, total // 8))):
        number = NUMBERS[index % len(NUMBERS)]
        twin = CommandSandbox(tmp_path / f"twin{moment}").create_project()
        _copy_project(locked, twin)
        result = twin.run(*command, "--json", env=_environment(twin, moment, number))
        assert isinstance(json.loads(result.stdout), dict), (moment, result)
        assert "Traceback" not in result.stderr
        if result.code == code:  # too late: the command had ended
            assert result.json.get("error", {}).get("code") != "interrupted"
        else:
            assert (result.code, result.stdout) == (128 + number, interrupted(number) + "\n"), moment
        seen.add(result.code)
        if command == ["sync"]:
            twin.run("sync", check=True)
    assert len(seen) > 2


def _copy_project(source: CommandSandbox, target: CommandSandbox) -> None:
    for path in ("skills.json", "skills.lock", "site/sitecustomize.py"):
        target.write(path, source.read(path))


@pytest.mark.parametrize("number", NUMBERS, ids=[number.name for number in NUMBERS])
@pytest.mark.parametrize("env", [{"NO_COLOR": None}, {"NO_COLOR": "1"}], ids=["color", "no color"])
def test_one_object_while_a_server_is_silent(
    project: CommandSandbox, server: GitServer, served: str, number: signal.Signals, env: dict[str, str | None]
) -> None:
    server.stall = True
    with project.spawn("install", f"{served}@pdf", "--json", env=env) as process:
        wait_for(lambda: server.requests)
        os.kill(process.pid, number)
        stdout, stderr = process.communicate(timeout=60)
    server.stall = False

    assert (process.returncode, stdout.decode()) == (128 + number, interrupted(number) + "\n"), stderr
    assert not project.exists(".agent-skills")


@pytest.mark.parametrize("number", NUMBERS, ids=[number.name for number in NUMBERS])
def test_a_signal_while_the_object_is_printed_is_too_late(project: CommandSandbox, number: signal.Signals) -> None:
    for index in range(300):
        project.write(f".agent-skills/s{index}/SKILL.md", f"---\nname: s{index}\ndescription: {'Long. ' * 100}\n---\n")
    with project.spawn("list", "--json") as process:
        assert process.stdout
        wait_for(lambda: _readable_bytes(process.stdout) >= select.PIPE_BUF)
        os.kill(process.pid, number)
        stdout, stderr = process.communicate(timeout=60)

    assert (process.returncode, len(json.loads(stdout)["skills"])) == (0, 300), stderr


def _readable_bytes(pipe: IO[bytes] | None) -> int:
    assert pipe
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


@pytest.mark.parametrize("number", NUMBERS, ids=[number.name for number in NUMBERS])
def test_the_exit_code_is_the_same_with_stdout_closed(
    project: CommandSandbox, server: GitServer, served: str, number: signal.Signals
) -> None:
    server.stall = True
    with project.spawn("install", f"{served}@pdf", "--json") as process:
        assert process.stdout
        process.stdout.close()
        wait_for(lambda: server.requests)
        os.kill(process.pid, number)
        assert process.wait(60) == 128 + number
        assert process.stderr
        assert "Traceback" not in process.stderr.read().decode()
    server.stall = False


def test_without_json_nothing_is_printed_to_stdout(project: CommandSandbox, server: GitServer, served: str) -> None:
    server.stall = True
    with project.spawn("install", f"{served}@pdf") as process:
        wait_for(lambda: server.requests)
        os.kill(process.pid, signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    server.stall = False

    assert (process.returncode, stdout) == (130, b"")
