"""The one door to the git program: every call with a checked command line and a controlled environment.

Of the caller's configuration only credentials, `http.*`, `insteadOf` and the ssh command count, and they travel in
`GIT_CONFIG_*` variables, never in a command line that others can read (docs/adr/0003-git.md).
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from skillpm.errors import FetchError

FIXED = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.symlinks": "false",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    "fetch.fsckObjects": "true",
    "transfer.fsckObjects": "true",
    # Honest old repositories have these two faults.
    "fetch.fsck.zeroPaddedFilemode": "warn",
    "fetch.fsck.missingSpaceBeforeDate": "warn",
    # The usual insteadOf of CI carries a token; user info in a URL of ours is gone before git sees it.
    "transfer.credentialsInUrl": "allow",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "safe.bareRepository": "explicit",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "fetch.unpackLimit": "1",
    "fetch.writeCommitGraph": "false",
    # Without it git has nothing to negotiate with in a cache that holds trees and no commits, and fails.
    "fetch.negotiationAlgorithm": "noop",
    "http.followRedirects": "initial",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "20",
}
WORDS = [word for key, value in FIXED.items() for word in ("-c", f"{key}={value}")]
# What a user may say to git through the environment and still means here.
PASSED = (
    "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_EXEC_PATH", "GIT_PROXY_COMMAND",
    "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_CERT_PASSWORD_PROTECTED",
    "GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE2_PERF",
)  # fmt: skip
SLICE = 0.2


class GitFailed(Exception):
    """A git process ended badly: what it was doing and what it said."""

    def __init__(self, verb: str, said: str) -> None:
        super().__init__(said)
        self.verb = verb
        self.said = said


def base_environment(environ: Mapping[str, str], git_environ: Mapping[str, str], config: str) -> dict[str, str]:
    """Give the environment of every git call; `config` is the private file that takes the global one's place."""
    return {
        **environ,
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=10",
        **{key: git_environ[key] for key in PASSED if key in git_environ},
        "LC_ALL": "C.UTF-8",
        "LANGUAGE": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": config,
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ATTR_NOSYSTEM": "1",
        # A reading call must never reach for the network; a fetching call names its one transport.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
    }


class Children:
    """The git processes under way, so that an interrupt ends them all, with their own children."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def start(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        *,
        stdin: bool,
        quiet: bool = False,
    ) -> subprocess.Popen[bytes]:
        """Start git in a process group of its own. Raises `FetchError` where there is no git."""
        try:
            return subprocess.Popen(
                ["git", *WORDS, *words],
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if quiet else subprocess.PIPE,
                cwd=folder,
                env=dict(environment),
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise FetchError(
                "the program `git` was not found on PATH",
                hint="install git (2.36 or newer), e.g. `apt-get install git`",
            ) from error

    def run(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        *,
        data: bytes | None = None,
        seconds: float = 60.0,
        watch: Callable[[], None] | None = None,
    ) -> bytes:
        """Run git to its end and give what it printed.

        `watch` is called several times a second and may raise to end it. Raises `GitFailed`, or `FetchError` when
        `seconds` are over.
        """
        verb = next((word for word in words if not word.startswith("-")), "git")
        child = self.start(words, environment, folder, stdin=data is not None)
        deadline = time.monotonic() + seconds
        try:
            while True:
                try:
                    output, complaint = child.communicate(data, timeout=SLICE)
                    break
                except subprocess.TimeoutExpired:
                    data = None
                    if watch is not None:
                        watch()
                    if self.stopped.is_set():
                        raise FetchError("interrupted") from None
                    if time.monotonic() > deadline:
                        raise FetchError(
                            f"git {verb} gave no result within {seconds:.0f} s",
                            hint="try again, or allow more with SKILLPM_NETWORK_TIMEOUT",
                        ) from None
        except BaseException:
            end(child)
            raise
        if child.returncode:
            raise GitFailed(verb, complaint.decode("utf-8", "replace").strip())
        return output


def end(child: subprocess.Popen[bytes]) -> None:
    """End a process and everything it started, and wait for it."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    except ProcessLookupError:
        pass
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    child.wait()
