"""A private world in which the real command runs as a real process."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, ClassVar

from .skills import Files, to_bytes
from .snapshot import Entry, render_tree, snapshot
from .warm import ForkServer, can_fork

_START_LOCK = threading.Lock()
_REPOSITORY_ROOT = Path(__file__).parents[2]

Environment = Mapping[str, str | None]
"""Variables to set, and with None to take away."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """How a command ended and what it said."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The value that stdout spells."""
        return json.loads(self.stdout)

    @property
    def error_output(self) -> str:
        """What was said on stderr, without the lines that tell on a slow machine how long it takes."""
        lines = self.stderr.splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("still "))


class CommandFailedError(AssertionError):
    """A command that had to succeed did not."""

    def __init__(self, arguments: Sequence[str], result: Result) -> None:
        """Show all that the command said."""
        self.result = result
        super().__init__(
            f"{' '.join(arguments)}: exit {result.code}\n--- stdout\n{result.stdout}--- stderr\n{result.stderr}",
        )


class Sandbox:
    """A home, a working directory and a cache that no other test and no user knows."""

    command: ClassVar[Sequence[str]] = (sys.executable, "-m", "skillpm")
    use_fork_server = True
    """Whether `run` may fork the command from a process that has started before: not where its time is measured."""

    def __init__(self, root: Path) -> None:
        """Make the three folders, where they are not there yet."""
        self.root = root
        self.home = root / "home"
        self.work = root / "work"
        self.cache = root / "cache"
        for folder in (self.home, self.work, self.cache):
            folder.mkdir(parents=True, exist_ok=True)

    def copy(self, root: Path) -> "Sandbox":
        """Make the same world at another place, to do something terrible to."""
        shutil.copytree(self.root, root, symlinks=True)
        return Sandbox(root)

    # The command

    def run(
        self,
        *arguments: str,
        cwd: str | Path | None = None,
        env: Environment | None = None,
        check: bool = False,
        stdin: str | bytes | None = None,
        timeout: float = 60,
    ) -> Result:
        """Run the command to its end; with `check` an exit code other than 0 is an error.

        A command that takes longer than `timeout` is killed with its children, and the
        `TimeoutExpired` is the test's.
        """
        folder, variables = self.work / (cwd or "."), self.environment(env)
        warm = (
            _get_fork_server()
            if self.use_fork_server and self.command is Sandbox.command and can_fork(variables)
            else None
        )
        ended = warm.run(arguments, folder, variables, to_bytes(stdin or b""), timeout) if warm else None
        code, stdout, stderr = ended or self._run(arguments, cwd, env, stdin, timeout)
        result = Result(code=code, stdout=_decode(stdout), stderr=_decode(stderr))
        if check and result.code != 0:
            raise CommandFailedError(arguments, result)
        return result

    def _run(
        self,
        arguments: Sequence[str],
        cwd: str | Path | None,
        env: Environment | None,
        stdin: str | bytes | None,
        timeout: float,
    ) -> tuple[int, bytes, bytes]:
        with self.spawn(*arguments, cwd=cwd, env=env) as process:
            try:
                stdout, stderr = process.communicate(to_bytes(stdin or b""), timeout)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return process.returncode, stdout, stderr

    def spawn(
        self,
        *arguments: str,
        cwd: str | Path | None = None,
        env: Environment | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start the command, in a process group of its own and with pipes on all sides."""
        return subprocess.Popen(
            [*self.command, *arguments],
            cwd=self.work / (cwd or "."),
            env=self.environment(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def environment(self, changes: Environment | None = None) -> dict[str, str]:
        """Build the command's environment from nothing: the caller's must not show through."""
        variables: dict[str, str | None] = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "SKILLPM_CACHE_DIR": str(self.cache),
            "PYTHONPATH": None if _is_installed() else str(_REPOSITORY_ROOT),
            **(changes or {}),
        }
        return {name: value for name, value in variables.items() if value is not None}

    # Files, named from the working directory

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file, and the folders on the way to it."""
        file = self.work / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(to_bytes(content))
        return file

    def write_files(self, files: Files) -> None:
        """Write many files: `sandbox.write_files(under("mine/pdf", skill("pdf")))`."""
        for path, content in files.items():
            self.write(path, content)

    def read(self, path: str) -> str:
        """Read a text file, its line ends as they are."""
        return (self.work / path).read_bytes().decode()

    def exists(self, path: str) -> bool:
        """Tell whether anything lies at a path, be it a link to nowhere."""
        return os.path.lexists(self.work / path)

    def snapshot(self, path: str = ".", *, ignore: Collection[str] = ()) -> dict[str, Entry]:
        """Take down everything below a folder."""
        return snapshot(self.work / path, ignore=ignore)

    def render_tree(self, path: str = ".", *, ignore: Collection[str] = ()) -> str:
        """Draw the tree below a folder."""
        return render_tree(self.work / path, ignore=ignore)

    # The user's git

    def git_config(self, text: str) -> None:
        """Add lines to the user's own git configuration."""
        with (self.home / ".gitconfig").open("a") as file:
            file.write(text.rstrip("\n") + "\n")

    def redirect_git(self, prefix: str, url: str) -> None:
        """Let git go to `address` where it is sent to `prefix`, as `https://github.com/`."""
        self.git_config(f'[url "{url.rstrip("/")}/"]\n\tinsteadOf = {prefix}')


@cache
def _is_installed() -> bool:
    try:
        distribution("agent-skillpm")
    except PackageNotFoundError:
        return False
    return True


def _decode(output: bytes) -> str:
    return output.decode(errors="backslashreplace")


def _get_fork_server() -> ForkServer:
    with _START_LOCK:  # threads that begin at once would start one each
        return _start_fork_server()


@cache
def _start_fork_server() -> ForkServer:
    return ForkServer()
