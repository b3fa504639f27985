"""Sandboxes in which tests run the real command as a process."""

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
"""Variables to set, or to unset where the value is None."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """Exit code and output of a command."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The JSON value printed to stdout."""
        return json.loads(self.stdout)

    @property
    def error_output(self) -> str:
        """The output to stderr, without the progress lines that appear on a slow machine."""
        lines = self.stderr.splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("still "))


SETPRIV = shutil.which("setpriv")
IS_ROOT = os.geteuid() == 0
CANNOT_DROP_RIGHTS = IS_ROOT and SETPRIV is None


def without_rights(command: Sequence[str], *more: str) -> Sequence[str]:
    """Return a command as one that may only read and write what its user may, also when root runs the tests.

    `more` are further capabilities that it loses.
    """
    # With these two capabilities, root may read and write everything.
    lost = ",".join(f"-{name}" for name in ("dac_override", "dac_read_search", *more))
    return (str(SETPRIV), f"--bounding-set={lost}", f"--inh-caps={lost}", *command) if IS_ROOT else command


class CommandFailedError(AssertionError):
    """A command that was required to succeed failed."""

    def __init__(self, arguments: Sequence[str], result: Result) -> None:
        """Include the whole output of the command in the message."""
        self.result = result
        super().__init__(
            f"{' '.join(arguments)}: exit {result.code}\n--- stdout\n{result.stdout}--- stderr\n{result.stderr}",
        )


class Sandbox:
    """A home, a working directory and a cache that no other test uses."""

    command: ClassVar[Sequence[str]] = (sys.executable, "-m", "skillpm")
    use_fork_server = True
    """Whether `run` may use the fork server: not where start-up time is measured."""

    def __init__(self, root: Path) -> None:
        """Create the three folders, if they do not exist yet."""
        self.root = root
        self.home = root / "home"
        self.work = root / "work"
        self.cache = root / "cache"
        for folder in (self.home, self.work, self.cache):
            folder.mkdir(parents=True, exist_ok=True)

    def copy(self, root: Path) -> "Sandbox":
        """Copy the sandbox to another folder."""
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
        """Run the command and return its result; with `check`, raise if the exit code is not 0.

        A command that takes longer than `timeout` seconds is killed with its children, and
        `TimeoutExpired` is raised.
        """
        folder, variables = self.work / (cwd or "."), self.environment(env)
        fork_server = (
            _get_fork_server()
            if self.use_fork_server and self.command is Sandbox.command and can_fork(variables)
            else None
        )
        forked = fork_server.run(arguments, folder, variables, to_bytes(stdin or b""), timeout) if fork_server else None
        code, stdout, stderr = forked or self._run(arguments, cwd, env, stdin, timeout)
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
        """Start the command in a process group of its own, with all streams as pipes."""
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
        """Return the environment of the command; nothing is inherited from the tests but PATH."""
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
        """Write a file, creating its parent folders."""
        file = self.work / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(to_bytes(content))
        return file

    def write_files(self, files: Files) -> None:
        """Write several files: `sandbox.write_files(prefix_paths("mine/pdf", make_skill("pdf")))`."""
        for path, content in files.items():
            self.write(path, content)

    def read(self, path: str) -> str:
        """Read a text file without converting line endings."""
        return (self.work / path).read_bytes().decode()

    def exists(self, path: str) -> bool:
        """Return whether a path exists; a broken symlink does."""
        return os.path.lexists(self.work / path)

    def snapshot(self, path: str = ".", *, ignore: Collection[str] = ()) -> dict[str, Entry]:
        """Return a snapshot of everything below a folder."""
        return snapshot(self.work / path, ignore=ignore)

    def render_tree(self, path: str = ".", *, ignore: Collection[str] = ()) -> str:
        """Render the tree below a folder."""
        return render_tree(self.work / path, ignore=ignore)

    # The user's git

    def git_config(self, text: str) -> None:
        """Append to the user's git configuration."""
        with (self.home / ".gitconfig").open("a") as file:
            file.write(text.rstrip("\n") + "\n")

    def redirect_git(self, prefix: str, url: str) -> None:
        """Make git use `url` for URLs with a prefix such as `https://github.com/` (`insteadOf`)."""
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
    with _START_LOCK:  # else concurrent threads would each start a server
        return _start_fork_server()


@cache
def _start_fork_server() -> ForkServer:
    return ForkServer()
