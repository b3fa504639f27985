"""What of the user's own git configuration counts: credentials, http settings, insteadOf, the ssh command."""

import base64
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256

from skillpm.fetching.git.process import Children, GitFailed
from skillpm.files import told, write_document
from skillpm.settings import Settings
from skillpm.values import Value

WANTED = r"^(credential\.|http\.|url\..*\.insteadof$|core\.sshcommand$|safe\.directory$)"
OURS = frozenset(["http.followredirects", "http.lowspeedlimit", "http.lowspeedtime"])


class UserConfig(Value):
    """Settings to pass on, and the private file that takes the place of the global configuration."""

    settings: tuple[tuple[str, str], ...]
    file: str

    @property
    def rewrites(self) -> bool:
        """Tell whether some URL may mean another one."""
        return any(key.endswith(".insteadof") for key, _ in self.settings)

    @property
    def has_helper(self) -> bool:
        """Tell whether the user has a credential helper, which knows better than tokens in the environment."""
        return any(key.startswith("credential.") and key.endswith("helper") for key, _ in self.settings)


def read_user_config(settings: Settings, children: Children, folder: str) -> UserConfig:
    """Ask git once, from an empty folder, for the settings of system, user and environment that count."""
    environment = {**settings.environ, **settings.git_environ}
    try:
        output = children.run(["config", "--show-scope", "-z", "--get-regexp", WANTED], environment, folder)
    except GitFailed:
        output = b""  # git config ends with 1 when nothing matches
    fields = output.decode("utf-8", "replace").split("\0")
    pairs = [
        (key, value)
        for scope, line in zip(fields[::2], fields[1::2], strict=False)
        if scope in {"system", "global", "command"}
        for key, _, value in [line.partition("\n")]
    ]
    safe = [value for key, value in pairs if key == "safe.directory"]
    kept = tuple(pair for pair in pairs if pair[0] not in OURS and pair[0] != "safe.directory")
    return UserConfig(settings=kept, file=_private_file(folder, safe))


def environment_for(config: UserConfig, base: Mapping[str, str], extra: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Give the environment with the user's settings in `GIT_CONFIG_*`, where no other user can read them."""
    pairs = [*config.settings, *extra]
    numbered = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for number, (key, value) in enumerate(pairs):
        numbered[f"GIT_CONFIG_KEY_{number}"] = key
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    return {**base, **numbered}


def token_for(host: str, environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Give the setting that sends a token of the environment to exactly its host, over https only."""
    user, token = "", ""
    if host == "github.com":
        user, token = "x-access-token", environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN", "")
    elif host == environ.get("CI_SERVER_HOST", "gitlab.com"):
        user, token = "oauth2", environ.get("GITLAB_TOKEN", "")
        if not token:
            user, token = "gitlab-ci-token", environ.get("CI_JOB_TOKEN", "")
    if not token:
        return []
    basic = base64.b64encode(f"{user}:{token}".encode()).decode()
    return [(f"http.https://{host}/.extraHeader", f"Authorization: Basic {basic}")]


def _private_file(folder: str, safe: Sequence[str]) -> str:
    """Write the file; nothing but it tells git's own child for `file://` that a folder of another owner is meant."""
    lines = "".join(f'\tdirectory = "{_quoted(path)}"\n' for path in safe)
    text = f"[safe]\n{lines}".encode() if safe else b""
    path = os.path.join(os.path.dirname(folder), f"config-{sha256(text).hexdigest()[:12]}")
    if not os.path.exists(path):
        with told("write git's private configuration", path):
            write_document(path, text, fsync=False, mode=0o600)
    return path


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
