"""Settings and environment of every git call: neither a configuration file nor a variable may change what git does.

Of the user's configuration only credentials, `http.*`, `insteadOf` and the ssh command apply. They are passed in
`GIT_CONFIG_*` variables, never on the command line, where other users could read them (docs/adr/0003-git.md).
"""

from collections.abc import Mapping

GIT_SETTINGS = {
    # Nothing may run other programs, or convert file contents.
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.symlinks": "false",
    # Reject file names that mean `.git` on macOS or Windows, on every system.
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    # Larger files are streamed: git never holds one in memory as a whole.
    "core.bigFileThreshold": "8m",
    # Check every object on arrival, or a malformed tree would reach our own parser.
    "fetch.fsckObjects": "true",
    "transfer.fsckObjects": "true",
    # Two faults of old tools that are common in honest repositories.
    "fetch.fsck.zeroPaddedFilemode": "warn",
    "fetch.fsck.missingSpaceBeforeDate": "warn",
    # CI systems usually write a token into an insteadOf URL. Our own URLs never carry user info to git.
    "transfer.credentialsInUrl": "allow",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    # Use only the repository that `--git-dir` names, never a folder that looks like a bare one.
    "safe.bareRepository": "explicit",
    # No background process may outlive the call, or repack a cache in use.
    "gc.auto": "0",
    "maintenance.auto": "false",
    # Keep packs as packs: one file per fetch instead of one per object.
    "fetch.unpackLimit": "1",
    "fetch.writeCommitGraph": "false",
    # Without this, a fetch into a cache that has trees but no commits has nothing to negotiate with, and fails.
    "fetch.negotiationAlgorithm": "noop",
    "http.followRedirects": "initial",
    "http.lowSpeedLimit": "1000",
}
GIT_SETTING_OPTIONS = [word for key, value in GIT_SETTINGS.items() for word in ("-c", f"{key}={value}")]
# Variables of the user that still apply: how to connect, and how to prove who one is.
ALLOWED_VARIABLES = (
    "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_EXEC_PATH", "GIT_PROXY_COMMAND",
    "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_CERT_PASSWORD_PROTECTED",
)  # fmt: skip
TRACE_VARIABLES = ("GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE2_PERF")


def build_base_environment(environ: Mapping[str, str], git_environ: Mapping[str, str], config: str) -> dict[str, str]:
    """Return the environment of every git call; `config` is the file that replaces the user's global configuration."""
    return {
        **environ,
        **{key: git_environ[key] for key in ALLOWED_VARIABLES if key in git_environ},
        # Traces to a file only: on stderr they would be taken for error messages.
        **{key: git_environ[key] for key in TRACE_VARIABLES if git_environ.get(key, "").startswith("/")},
        # English messages (`errors.py` reads them), UTF-8 paths.
        "LC_ALL": "C.UTF-8",
        "LANGUAGE": "C",
        # Never prompt: neither in the terminal nor in a window of its own.
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": config,
        "GIT_PROTOCOL_FROM_USER": "0",
        # A replace ref would return other bytes than those of the requested id.
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ATTR_NOSYSTEM": "1",
        # Reading objects must never contact the network; a call that fetches allows its one transport.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
    }
