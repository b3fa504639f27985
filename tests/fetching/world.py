"""What the tests of fetching share: a project, its twin on another machine, and what was installed in it."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from kit import GitServer, Repository, Result, Sandbox

DOCUMENTS = ("skills.json", "skills.lock")
FETCHED_ALONE = ["info", "ls-refs", "fetch"]
"""The requests of one `git fetch` by name over protocol v2; one by id needs no `ls-refs`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What a command took: seconds, and the most memory that it or one of its children held."""

    seconds: float
    megabytes: float


class Project(Sandbox):
    """A sandbox whose working directory is a project that asks for nothing yet."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.write("skills.json", "{}\n")

    def twin(self, root: Path) -> Self:
        """Give a project of the same documents on another machine: its cache is empty, nothing is installed."""
        other = type(self)(root)
        for name in DOCUMENTS:
            other.write(name, self.read(name))
        return other

    def forget_installed(self) -> None:
        """Delete what is installed, and the store; the git cache stays."""
        for folder in (self.work / ".agent-skills", self.cache / "v1" / "store"):
            subprocess.run(["rm", "-rf", str(folder)], check=True)

    def installed(self, name: str) -> dict[str, tuple[str, bytes]]:
        """Give mode (as git writes it) and content of each file of an installed skill."""
        return {
            path: (("100755" if entry.mode & 0o100 else "100644"), bytes(entry.content))  # type: ignore[arg-type]
            for path, entry in self.snapshot(f".agent-skills/{name}").items()
            if entry.kind != "dir"
        }

    @property
    def has_nothing(self) -> bool:
        """Tell whether a refused command left the project as it was made."""
        return sorted(path.name for path in self.work.iterdir()) == ["skills.json"] and self.read("skills.json") == "{}\n"

    @property
    def git_cache(self) -> Path:
        """The folder of the one repository in the git cache."""
        (found,) = (self.cache / "v1" / "git").glob("*.git")
        return found

    def everything_written(self) -> bytes:
        """Give the bytes of all files of the sandbox, to look for what must be in none."""
        files = (path for path in self.root.rglob("*") if path.is_file() and not path.is_symlink())
        return b"\n".join(path.read_bytes() for path in files)

    def run_measured(self, *arguments: str, env: Mapping[str, str | None] | None = None) -> tuple[Result, Cost]:
        """Run the command, and measure it with all its children."""
        begun = time.monotonic()
        with self.spawn(*arguments, env=env) as process:
            assert process.stdin
            assert process.stdout
            assert process.stderr
            process.stdin.close()
            stdout, stderr = process.stdout.read().decode(), process.stderr.read().decode()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        cost = Cost(seconds=time.monotonic() - begun, megabytes=usage.ru_maxrss / 1024)
        return Result(code=process.returncode, stdout=stdout, stderr=stderr), cost


def asked(server: GitServer) -> list[str]:
    """Give what a server was asked since the last look, a word a request, and forget it."""
    words = [request.command or "info" for request in server.requests]
    server.reset()
    return words


def files_of(repository: Repository, folder: str, at: str = "HEAD") -> dict[str, tuple[str, bytes]]:
    """Give what an installation of a folder without links must be: the blobs, byte for byte."""
    return repository.files(folder, at)


def git_children(session: int) -> list[int]:
    """Give the processes called git-something whose environment is that of a command started as `session`.

    Every git runs in a session of its own, so they are known by what they inherit: the working directory is in no
    project, but HOME is the sandbox's.
    """
    home = _environment(session).get("HOME", "")
    return [pid for pid in _processes() if "git" in _name(pid) and _environment(pid).get("HOME") == home]


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return ""


def _environment(pid: int) -> dict[str, str]:
    try:
        pairs = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return {}
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)
