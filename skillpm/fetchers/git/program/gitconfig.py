"""The parts of the user's git configuration that apply: credentials, `http.*`, `insteadOf`, the ssh command."""

import os
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256

from skillpm.cachedir import retry_if_emptied, translate_cache_errors
from skillpm.core.git_syntax import server_of
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import FetchError
from skillpm.fetchers.git.program.errors import GitFailed
from skillpm.fetchers.git.program.process import GitProcesses
from skillpm.files import remove_stale_temporaries, write_document
from skillpm.settings import Settings

USED_SETTINGS = r"^(credential\.|http\.|url\..*\.insteadof$|core\.sshcommand$|safe\.directory$)"
# Also in the form `http.<url>.followRedirects`.
OVERRIDDEN_SETTINGS = (".followredirects", ".lowspeedlimit", ".lowspeedtime")
# Variables that locate the user's configuration, or hold some of it; none that names a repository (`GIT_DIR`).
CONFIG_VARIABLES = lazy_pattern(
    r"GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|PARAMETERS|COUNT|KEY_\d+|VALUE_\d+)|GIT_EXEC_PATH", re.ASCII
)


class GitConfig(Value):
    """Settings to pass on, and the path of the private file that replaces the global configuration."""

    settings: tuple[tuple[str, str], ...]
    file: str
    # No request proves who the user is.
    is_anonymous: bool = False

    @property
    def has_ssh_command(self) -> bool:
        """Return whether the user has configured how to run ssh."""
        return any(key == "core.sshcommand" for key, _ in self.settings)

    @property
    def has_addresses(self) -> bool:
        """Return whether the user has configured the addresses of some hosts."""
        return any(key.startswith("http.") and key.endswith(".curloptresolve") for key, _ in self.settings)

    @property
    def _url_rewrites(self) -> list[tuple[str, str]]:
        """The `url.<base>.insteadOf` settings: bases, and what they replace."""
        return [
            (key.removeprefix("url.").removesuffix(".insteadof"), prefix)
            for key, prefix in self.settings
            if key.endswith(".insteadof")
        ]

    def rewrite_url(self, url: str) -> str:
        """Return a URL after the user's `insteadOf` settings; of several that match, the longest applies (git-config).

        `git ls-remote --get-url` would return the same, with a process for each repository.
        """
        matching = [(base, prefix) for base, prefix in self._url_rewrites if url.startswith(prefix)]
        if not matching:
            return url
        base, prefix = max(matching, key=lambda rewrite: len(rewrite[1]))
        return base + url[len(prefix) :]

    def without_logins(self, home: str) -> "GitConfig":
        """Return the settings without those that prove who the user is; `home` is the user's home folder."""
        settings = (
            # Without the user's HOME, in which curl finds ~/.netrc, git would not find the files in it.
            (re.sub(r"(?<=//)[^/]*@", "", key), home + value[1:] if value.startswith("~/") else value)
            for key, value in self.settings
            if not (key.startswith("credential.") or key.endswith((".extraheader", ".cookiefile")))
        )
        return self.replace(settings=tuple(settings), is_anonymous=True)

    def rewrites_to(self, server: str) -> bool:
        """Return whether some URLs are rewritten to URLs of a server, in the form of `server_of`."""
        return any(server_of(base) == server != "" for base, _ in self._url_rewrites)

    def has_proxy_for(self, host: str) -> bool:
        """Return whether the user has configured a proxy for a host, apart from environment variables."""
        keys = [key for key, value in self.settings if key.startswith("http.") and key.endswith(".proxy") and value]
        return any("://" not in key or host in key for key in keys)

    def has_credentials_for(self, host: str) -> bool:
        """Return whether the user has configured a login for a host; it takes precedence over a token in a variable."""
        keys = [
            key
            for key, value in self.settings
            if (key.startswith("credential.") and key.endswith("helper"))
            or (key.endswith(".extraheader") and value.lower().startswith("authorization"))
        ]
        return any("://" not in key or host in key for key in keys)


def read_git_config(settings: Settings, processes: GitProcesses, folder: str) -> GitConfig:
    """Read the settings that apply from the system, the user and the environment, with one call of git."""
    variables = {key: value for key, value in settings.git_environ.items() if CONFIG_VARIABLES.fullmatch(key)}
    # The cache may be inside a repository (a home directory under version control): stop git from searching upwards.
    environment = {
        **settings.environ,
        **variables,
        "GIT_CEILING_DIRECTORIES": os.path.dirname(folder),
        "LC_ALL": "C.UTF-8",
    }
    try:
        output = processes.run(["config", "--show-scope", "-z", "--get-regexp", USED_SETTINGS], environment, folder)
    except GitFailed as failed:
        if failed.stderr:  # without a match, git exits with 1 and prints nothing
            message = f"git cannot read your configuration; git says: {sanitize(failed.stderr.splitlines()[0], 140)}"
            raise FetchError(message, hint="`git config --list` shows where; fix it there") from failed
        output = b""
    fields = output.decode("utf-8", "surrogateescape").split("\0")
    pairs = [
        (key, value)
        for scope, line in zip(fields[::2], fields[1::2], strict=False)
        # Settings of scope "local" or "worktree" would be those of a repository, which may be anyone's.
        if scope in {"system", "global", "command"}
        for key, _, value in [line.partition("\n")]
    ]
    safe = [value for key, value in pairs if key == "safe.directory"]
    applied = tuple(pair for pair in pairs if not pair[0].endswith((*OVERRIDDEN_SETTINGS, "safe.directory")))
    return GitConfig(settings=applied, file=_write_private_config(folder, safe))


def build_environment(config: GitConfig, base: Mapping[str, str], extra: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the environment with settings in `GIT_CONFIG_*` variables, which other users cannot read."""
    pairs = [*config.settings, *extra]
    numbered = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for number, (key, value) in enumerate(pairs):
        numbered[f"GIT_CONFIG_KEY_{number}"] = key
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    if not (config.has_ssh_command or "GIT_SSH" in base or "GIT_SSH_COMMAND" in base):
        # ssh would ask for a password or an unknown host key in the terminal.
        numbered["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes -oConnectTimeout=10"
    return {**base, **numbered, **({"HOME": os.path.dirname(config.file)} if config.is_anonymous else {})}


def _write_private_config(folder: str, safe_directories: Sequence[str]) -> str:
    """Write the file that replaces the global configuration, and return its path.

    `safe.directory` must be in a file: for a `file://` URL, git starts `upload-pack` without `GIT_CONFIG_*` variables.
    """
    lines = "".join(f"\tdirectory = {_quote(path)}\n" for path in safe_directories)
    text = f"[safe]\n{lines}".encode("utf-8", "surrogateescape") if safe_directories else b""
    path = os.path.join(os.path.dirname(folder), f"config-{sha256(text).hexdigest()[:12]}")
    with translate_cache_errors("write git's private configuration", path):
        if not _has_content(path, text):
            retry_if_emptied(lambda: _write(path, text), os.path.dirname(path))
    return path


def _write(path: str, text: bytes) -> None:
    remove_stale_temporaries(path)
    write_document(path, text, fsync=False, mode=0o600)


def _has_content(path: str, text: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(text) + 1) == text
    except (FileNotFoundError, PermissionError):
        return False


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
