"""Run many commands in little time: each in a process of its own, forked from one that has everything imported.

A line of JSON on stdin for each command, one on stdout for how it ended. What starting Python costs is most of what
a command costs, and a sweep runs ten thousand of them.
"""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Self

from kit import Result, Sandbox

HEAVY = {"skillpm.serving.mcp_server", "skillpm.__main__"}


class Quick:
    """Runs commands in sandboxes, as `Sandbox.run` does, in a tenth of the time."""

    def __enter__(self) -> Self:
        tests = str(Path(__file__).parents[1])
        environment = {**os.environ, "PYTHONPATH": tests, "PYTHONDONTWRITEBYTECODE": "1"}
        words = [sys.executable, "-m", "crash.quick"]
        self._process = subprocess.Popen(
            words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def run(self, sandbox: Sandbox, *words: str) -> Result:
        """Run one command to its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"words": words, "cwd": str(sandbox.work), "env": sandbox.environment({})}
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        return Result(**json.loads(self._process.stdout.readline()))


def _serve() -> None:
    import skillpm  # noqa: PLC0415  (only in the process that forks)

    for module in pkgutil.walk_packages(skillpm.__path__, "skillpm."):
        if module.name not in HEAVY:
            importlib.import_module(module.name)
    for line in sys.stdin:
        asked = json.loads(line)
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            child = os.fork()
            if child == 0:
                _command(asked, stdout, stderr)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said = {"code": code, "stdout": _all_of(stdout), "stderr": _all_of(stderr)}
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


def _command(asked: dict[str, object], stdout: IO[bytes], stderr: IO[bytes]) -> None:
    code = 99
    try:
        os.chdir(str(asked["cwd"]))
        os.environ.clear()
        os.environ.update(dict(asked["env"]))  # type: ignore[call-overload]
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(stdout.fileno(), 1)
        os.dup2(stderr.fileno(), 2)
        from skillpm.cli.main import main  # noqa: PLC0415

        code = main(list(asked["words"]))  # type: ignore[call-overload]
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _all_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="backslashreplace")


if __name__ == "__main__":
    _serve()
