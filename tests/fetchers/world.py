"""Helpers for tests of fetchers: a project, its clone on another machine, and ways to inspect both."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from kit import GitServer, Result, Sandbox, make_skill

WORLD, HERE, LAN = "93.184.215.14", "127.0.0.1", "10.1.2.3"
SECONDS = {"SKILLPM_IDLE_TIMEOUT": "2"}
EMPTY_MANIFEST = '{"skills": {}}\n'
# A process inherits the peak memory of its parent, so a small process is started between pytest and the command.
MEASURE_SCRIPT = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:], timeout=300)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write(f"{used.ru_maxrss} {used.ru_utime + used.ru_stime}")
sys.exit(code)
"""
Environment = Mapping[str, str | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceUsage:
    """Usage of a command: CPU seconds, and the peak memory of it or one of its children."""

    cpu_seconds: float
    peak_megabytes: float


class Project(Sandbox):
    """A sandbox whose working directory is a project without requirements."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.write("skills.json", EMPTY_MANIFEST)

    def clone(self, root: Path) -> Self:
        """Copy the manifest and lockfile to another machine, with empty caches and nothing installed."""
        other = type(self)(root)
        for name in ("skills.json", "skills.lock"):
            other.write(name, self.read(name))
        return other

    def delete_installed(self) -> None:
        """Delete the installed skills and the store, so that only the git cache still has them."""
        for folder in (self.work / ".agent-skills", self.cache / "v1" / "store"):
            shutil.rmtree(folder)

    def installed_files(self, name: str) -> dict[str, tuple[str, bytes]]:
        """Return mode (in git's notation) and content of each file of an installed skill."""
        return {
            path: ("100755" if entry.mode == 0o755 else "100644", entry.content)
            for path, entry in self.snapshot(f".agent-skills/{name}").items()
            if entry.kind != "dir" and isinstance(entry.content, bytes)
        }

    @property
    def is_untouched(self) -> bool:
        """Whether the project is still as it was created."""
        return self.render_tree() == "skills.json\n" and self.read("skills.json") == EMPTY_MANIFEST

    @property
    def git_cache(self) -> Path:
        """The one repository in the git cache."""
        (found,) = (self.cache / "v1" / "git").glob("*.git")
        return found

    def locked_source(self, name: str) -> Mapping[str, Any]:
        """Return the locked source of a skill."""
        source: Mapping[str, Any] = json.loads(self.read("skills.lock"))["skills"][name]["source"]
        return source

    def run_measured(self, *arguments: str, env: Environment | None = None) -> tuple[Result, ResourceUsage]:
        """Run the command, and measure it with all its children."""
        report = self.root / "cost"
        done = subprocess.run(
            [sys.executable, "-S", "-c", MEASURE_SCRIPT, str(report), *self.command, *arguments],
            cwd=self.work,
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        kilobytes, seconds = report.read_text().split()
        cost = ResourceUsage(cpu_seconds=float(seconds), peak_megabytes=int(kilobytes) / 1024)
        return Result(code=done.returncode, stdout=done.stdout, stderr=done.stderr), cost


def take_requests(server: GitServer) -> list[str]:
    """Return and clear the requests of a server, one word each."""
    words = [request.command or "info" for request in server.requests]
    server.clear_requests()
    return words


def find_git_processes(sandbox: Sandbox) -> dict[int, tuple[str, dict[str, str]]]:
    """Return command line and environment of each git process of a sandbox, recognized by its HOME."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and _read(entry / "comm").startswith("git"):
            pairs = (pair.split("=", 1) for pair in _read(entry / "environ").split("\0") if "=" in pair)
            environment = dict(pairs)
            if environment.get("HOME") == str(sandbox.home):
                found[int(entry.name)] = (_read(entry / "cmdline").replace("\0", " "), environment)
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


class Listener:
    """A service on loopback that counts connections."""

    def __init__(self, address: str = HERE) -> None:
        self._socket = socket.create_server((address, 0))
        self.port = self._socket.getsockname()[1]

    @property
    def connections(self) -> int:
        """The number of connections since the last call."""
        self._socket.setblocking(False)  # noqa: FBT003  (the only form)
        count = 0
        while True:
            try:
                self._socket.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1

    def close(self) -> None:
        self._socket.close()


def require(project: Project, dependency: object, **manifest: object) -> None:
    """Make the project require `kit`, a local skill that requires `pdf`."""
    project.write("skills/kit/SKILL.md", make_skill("kit")["SKILL.md"])
    project.write("skills/kit/skills.json", json.dumps({"skills": {"pdf": dependency}}))
    project.write("skills.json", json.dumps({"skills": {"kit": {"path": "./skills/kit"}}, **manifest}))


def use_git_without_connections(folder: Path) -> Environment:
    """Return the environment of a git whose helper knows no command but `fetch`, as git's own contract allows."""
    git = folder / "git"
    folder.mkdir()
    git.write_text(
        "#!/bin/sh\n"
        'case "$*" in *" remote-http origin") '
        "read command; echo \"error: remote-curl: unknown command '$command' from git\" >&2; exit 1;; esac\n"
        f'exec {shutil.which("git")} "$@"\n'
    )
    git.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}
