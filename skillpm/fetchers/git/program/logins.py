"""Logins from the environment for git over https: each token for exactly one server, and `GIT_ASKPASS`.

A manifest names servers, and a manifest may be someone else's: what the environment has is sent only to the server that
a variable beside it names, with its port (ADR 66).
"""

import os
from binascii import b2a_base64
from collections.abc import Mapping
from typing import NamedTuple

from skillpm.core.git_syntax import host_of, server_of
from skillpm.core.values import Value
from skillpm.fetchers.git.program.gitconfig import GitConfig
from skillpm.settings import Settings, read_token


class _Variable(NamedTuple):
    """A variable with a token, the user name that its forge expects with it, and where its server is named."""

    name: str
    user: str
    # The first of these variables that is set has the URL of the server, or its host if it is called `…_HOST`.
    server_variables: tuple[str, ...] = ()
    default: str = ""


CI_SERVER = ("CI_SERVER_URL", "CI_SERVER_HOST")
# GitHub (`gh help environment`) and its runners, GitLab (`glab`) and its runners, Gitea (`tea`) and Forgejo.
VARIABLES = (
    _Variable("GITHUB_TOKEN", "x-access-token", ("GITHUB_SERVER_URL",), "github.com"),
    _Variable("GH_TOKEN", "x-access-token", (), "github.com"),
    _Variable("GH_ENTERPRISE_TOKEN", "x-access-token", ("GH_HOST",)),
    _Variable("GITHUB_ENTERPRISE_TOKEN", "x-access-token", ("GH_HOST",)),
    _Variable("GITLAB_TOKEN", "oauth2", ("GITLAB_HOST", *CI_SERVER), "gitlab.com"),
    _Variable("CI_JOB_TOKEN", "gitlab-ci-token", CI_SERVER, "gitlab.com"),
    _Variable("GITEA_TOKEN", "x-access-token", ("GITEA_SERVER_URL",)),
    _Variable("GITEA_SERVER_TOKEN", "x-access-token", ("GITEA_SERVER_URL",)),
    _Variable("FORGEJO_TOKEN", "x-access-token", ("FORGEJO_SERVER_URL",)),
)
# That none of these tokens are for.
OTHER_FORGES = ("bitbucket.org", "dev.azure.com", "huggingface.co")
ASKPASS_HOSTS = "SKILLPM_ASKPASS_HOSTS"
# What a program for `GIT_ASKPASS` opens its window with.
WINDOW_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY", "VSCODE_GIT_")


class GitLogin(Value):
    """What is sent to a server to prove who the user is."""

    # The setting of git that sends a token, and the variable that has it; empty without one.
    settings: tuple[tuple[str, str], ...] = ()
    variable: str = ""
    # What the user could do to send a login, if none is sent; empty if git's own configuration may have one.
    hint: str = ""


def find_login(url: str, config: GitConfig, settings: Settings) -> GitLogin:
    """Return the login from the environment for an address that git contacts.

    A login in git's configuration has precedence. Raises `UsageError` for a token that no header can have.
    """
    has_own = "@" in url.split("/")[2] if url.startswith("https://") else True
    if has_own or config.is_anonymous or config.has_credentials_for(host_of(url)):
        return GitLogin()
    server, environ = server_of(url), settings.environ
    for variable in VARIABLES:
        if server and server == _find_server(variable, environ) and (token := read_token(environ, variable.name)):
            basic = b2a_base64(f"{variable.user}:{token}".encode(), newline=False).decode()
            header = (f"http.https://{server}/.extraHeader", f"Authorization: Basic {basic}")
            return GitLogin(settings=(header,), variable=variable.name)
    return GitLogin(hint=_missing_login_hint(server, settings))


def askpass_environment(url: str, settings: Settings) -> dict[str, str]:
    """Return the variables that let git ask the user's program for a login, if the user confirmed the server.

    The program answers for any server. Without a terminal, it finds no screen to open a window on.
    """
    program = settings.git_environ.get("GIT_ASKPASS", "")
    if not (program and url.startswith("https://") and server_of(url) in _confirmed_servers(settings)):
        return {}
    hidden = [] if os.isatty(0) else [key for key in settings.environ if key.startswith(WINDOW_VARIABLES)]
    return {"GIT_ASKPASS": program, **dict.fromkeys(hidden, "")}


def _confirmed_servers(settings: Settings) -> set[str]:
    return {server_of(f"https://{host.strip()}") for host in settings.environ.get(ASKPASS_HOSTS, "").split(",")} - {""}


def _find_server(variable: _Variable, environ: Mapping[str, str]) -> str:
    """Return the server of a token; empty if none is named, or not by an https URL."""
    name = next((name for name in variable.server_variables if environ.get(name)), "")
    if not name:
        return variable.default
    text = environ[name].strip()
    url = f"https://{text}" if name.endswith("_HOST") and "://" not in text else text
    return server_of(url) if url.lower().startswith("https://") else ""


def _missing_login_hint(server: str, settings: Settings) -> str:
    own = next((it.name for it in VARIABLES if server == _find_server(it, settings.environ)), "")
    tokens = own or (
        f"GH_ENTERPRISE_TOKEN and GH_HOST={server}, GITLAB_TOKEN and GITLAB_HOST={server}, "
        f"or GITEA_TOKEN and GITEA_SERVER_URL=https://{server}"
    )
    ways = "set up a git credential helper" if server in OTHER_FORGES else f"set {tokens}, or a git credential helper"
    hints = [f"no login was sent; {ways}"]
    for variable in VARIABLES:
        if settings.environ.get(variable.name, "").strip() and (not own or variable.default == server):
            other = _find_server(variable, settings.environ)
            hints.append(f"{variable.name} is for {other or f'the server that {variable.server_variables[0]} names'}")
    if settings.git_environ.get("GIT_ASKPASS") and server not in _confirmed_servers(settings):
        hints.append(f"GIT_ASKPASS is used only for servers in {ASKPASS_HOSTS}")
    return "; ".join(hints)
