"""Real git, independent of the user's configuration, name and clock."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

AUTHOR: Final = "A. Tester"
EMAIL: Final = "tester@example.org"

ENVIRONMENT: Final[Mapping[str, str]] = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": AUTHOR,
    "GIT_AUTHOR_EMAIL": EMAIL,
    "GIT_COMMITTER_NAME": AUTHOR,
    "GIT_COMMITTER_EMAIL": EMAIL,
}


class GitError(Exception):
    """A git command failed; its stderr is part of the message."""

    def __init__(self, arguments: tuple[str, ...], stderr: str) -> None:
        """Keep stderr as an attribute, so that a test can inspect it."""
        self.stderr = stderr
        super().__init__(f"git {' '.join(arguments)}\n{stderr}")


def git(*arguments: str, cwd: Path | None = None) -> str:
    """Run git and return its output as text, without the final newline."""
    return git_bytes(*arguments, cwd=cwd).decode().removesuffix("\n")


def git_bytes(
    *arguments: str,
    cwd: Path | None = None,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """Run git and return its output; raise `GitError` if it fails."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=cwd,
        input=stdin,
        env={**ENVIRONMENT, **(environment or {})},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise GitError(arguments, done.stderr.decode(errors="replace"))
    return done.stdout
