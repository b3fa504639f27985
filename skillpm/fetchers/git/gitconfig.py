"""What of the user's own git configuration counts: credentials, http settings, insteadOf, the ssh command."""

import base64
import os
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256

from skillpm.cachedir import retry_if_emptied
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import FetchError
from skillpm.fetchers.git.process import GitFailed, GitProcesses
from skillpm.files import remove_stale_temporaries, translate_os_errors, write_document
from skillpm.settings import Settings

USED_SETTINGS = r"^(credential\.|http\.|url\..*\.insteadof$|core\.sshcommand$|safe\.directory$)"
OVERRIDDEN_SETTINGS = frozenset(["http.followredirects", "http.lowspeedlimit", "http.lowspeedtime"])
# Where the user's configuration is, and what of it stands in the environment. Nothing that names a repository.
CONFIG_VARIABLES = re.compile(
    r"GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|PARAMETERS|COUNT|KEY_\d+|VALUE_\d+)|GIT_EXEC_PATH", re.ASCII
)


class GitConfig(Value):
    """Settings to pass on, and the private file that takes the place of the global configuration."""

    settings: tuple[tuple[str, str], ...]
    file: str

    @property
    def has_url_rewrites(self) -> bool:
        """Tell whether some URL may mean another one."""
        return any(key.endswith(".insteadof") for key, _ in self.settings)

    @property
    def has_ssh_command(self) -> bool:
        """Tell whether the user says how ssh is called."""
        return any(key == "core.sshcommand" for key, _ in self.settings)

    def has_credentials_for(self, host: str) -> bool:
        """Tell whether the user says how to log in at a host, which is better than a token in the environment."""
        ways = [
            key
            for key, value in self.settings
            if (key.startswith("credential.") and key.endswith("helper"))
            or (key.endswith(".extraheader") and value.lower().startswith("authorization"))
        ]
        return any("://" not in key or host in key for key in ways)


def read_git_config(settings: Settings, processes: GitProcesses, folder: str) -> GitConfig:
    """Ask git once, from an empty folder, for the settings of system, user and environment that count."""
    asked = {key: value for key, value in settings.git_environ.items() if CONFIG_VARIABLES.fullmatch(key)}
    # The folder may lie in somebody's repository (dotfiles): it is not looked for.
    environment = {**settings.environ, **asked, "GIT_CEILING_DIRECTORIES": os.path.dirname(folder), "LC_ALL": "C.UTF-8"}
    try:
        output = processes.run(["config", "--show-scope", "-z", "--get-regexp", USED_SETTINGS], environment, folder)
    except GitFailed as failed:
        if failed.stderr:  # where nothing matches, git fails without a word
            message = f"git cannot read your configuration; git says: {sanitize(failed.stderr.splitlines()[0], 140)}"
            raise FetchError(message, hint="`git config --list` shows where; mend it there") from failed
        output = b""
    fields = output.decode("utf-8", "surrogateescape").split("\0")
    pairs = [
        (key, value)
        for scope, line in zip(fields[::2], fields[1::2], strict=False)
        if scope in {"system", "global", "command"}
        for key, _, value in [line.partition("\n")]
    ]
    safe = [value for key, value in pairs if key == "safe.directory"]
    kept = tuple(pair for pair in pairs if pair[0] not in OVERRIDDEN_SETTINGS and pair[0] != "safe.directory")
    return GitConfig(settings=kept, file=_write_private_config(folder, safe))


def build_environment(config: GitConfig, base: Mapping[str, str], extra: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Give the environment with the user's settings in `GIT_CONFIG_*`, where no other user can read them."""
    pairs = [*config.settings, *extra]
    numbered = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for number, (key, value) in enumerate(pairs):
        numbered[f"GIT_CONFIG_KEY_{number}"] = key
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    if not (config.has_ssh_command or "GIT_SSH" in base or "GIT_SSH_COMMAND" in base):
        numbered["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes -oConnectTimeout=10"
    return {**base, **numbered}


def token_settings(host: str, environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Give the settings that send a token of the environment to exactly its host, over https only.

    Git repeats such a header to whomever the host redirects it to, so with it no redirect is followed.
    """
    user, token = "", ""
    if host == "github.com":
        user, token = "x-access-token", environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN", "")
    elif host and host == environ.get("CI_SERVER_HOST", "gitlab.com"):
        user, token = "oauth2", environ.get("GITLAB_TOKEN", "")
        if not token:
            user, token = "gitlab-ci-token", environ.get("CI_JOB_TOKEN", "")
    if not token:
        return []
    basic = base64.b64encode(f"{user}:{token}".encode()).decode()
    return [
        (f"http.https://{host}/.extraHeader", f"Authorization: Basic {basic}"),
        (f"http.https://{host}/.followRedirects", "false"),
    ]


def _write_private_config(folder: str, safe_directories: Sequence[str]) -> str:
    """Write the file; nothing but it tells git's own child for `file://` that a folder of another owner is meant."""
    lines = "".join(f"\tdirectory = {_quote(path)}\n" for path in safe_directories)
    text = f"[safe]\n{lines}".encode("utf-8", "surrogateescape") if safe_directories else b""
    path = os.path.join(os.path.dirname(folder), f"config-{sha256(text).hexdigest()[:12]}")
    with translate_os_errors("write git's private configuration", path):
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
    except FileNotFoundError:
        return False


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
