"""What git is told at every call, so that nobody's configuration and no environment bends what it does.

Of the caller's configuration only credentials, `http.*`, `insteadOf` and the ssh command count, and they travel in
`GIT_CONFIG_*` variables, never in a command line that others can read (docs/adr/0003-git.md).
"""

from collections.abc import Mapping

GIT_SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.symlinks": "false",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    # A larger file passes through git piece by piece, and never lies in memory as a whole.
    "core.bigFileThreshold": "8m",
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
}
GIT_SETTING_OPTIONS = [word for key, value in GIT_SETTINGS.items() for word in ("-c", f"{key}={value}")]
# What a user may say to git through the environment and still means here.
ALLOWED_VARIABLES = (
    "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_EXEC_PATH", "GIT_PROXY_COMMAND",
    "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_CERT_PASSWORD_PROTECTED",
)  # fmt: skip
TRACE_VARIABLES = ("GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE2_PERF")


def build_base_environment(environ: Mapping[str, str], git_environ: Mapping[str, str], config: str) -> dict[str, str]:
    """Give the environment of every git call; `config` is the private file that takes the global one's place."""
    return {
        **environ,
        **{key: git_environ[key] for key in ALLOWED_VARIABLES if key in git_environ},
        # Only into a file: what git says to us must be meant for us.
        **{key: git_environ[key] for key in TRACE_VARIABLES if git_environ.get(key, "").startswith("/")},
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
