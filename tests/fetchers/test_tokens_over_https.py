"""A token in the environment is sent over TLS, through a proxy, to its own host only."""

import base64
import json
import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import CertificateAuthority, GitServer, Proxy, Repository, make_skill

HOSTS = ("github.com", "elsewhere.example")
TOKEN = "ghp_0123456789abcdefToken"  # noqa: S105


@pytest.fixture
def forges(tmp_path: Path, project: Project, upstream: Repository) -> Iterator[dict[str, GitServer]]:
    """github.com and another host, as the project's git reaches them."""
    company = CertificateAuthority(tmp_path)
    upstream.write(make_skill("pdf")).commit()
    with company.start_server("github.com") as github, company.start_server("elsewhere.example") as elsewhere:
        servers = dict(zip(HOSTS, (github, elsewhere), strict=True))
        for server in servers.values():
            server.serve("acme/pdf", upstream)
        with Proxy(servers) as proxy:
            project.git_config(f"[http]\n\tproxy = {proxy.address}\n\tsslCAInfo = {company.certificate_file}")
            yield servers


def only_with(server: GitServer, token: str) -> None:
    server.required_login = ("x-access-token", token)


def test_a_private_repository_is_read_with_the_token(
    project: Project, upstream: Repository, forges: dict[str, GitServer]
) -> None:
    only_with(forges["github.com"], TOKEN)

    without = project.run("install", "acme/pdf")
    result = project.run("install", "acme/pdf", "-v", env={"GITHUB_TOKEN": TOKEN}, check=True)

    assert without.code == 1
    assert project.installed_files("pdf") == upstream.read_files()
    secret = base64.b64encode(f"x-access-token:{TOKEN}".encode())
    written = b"".join(path.read_bytes() for path in project.root.rglob("*") if path.is_file())
    for needle in (TOKEN.encode(), secret):
        assert needle not in written + result.stdout.encode() + result.stderr.encode()


def test_another_host_never_sees_the_token(project: Project, forges: dict[str, GitServer]) -> None:
    only_with(forges["elsewhere.example"], TOKEN)

    result = project.run("install", "https://elsewhere.example/acme/pdf.git", env={"GITHUB_TOKEN": TOKEN})

    assert (result.code, {request.status for request in forges["elsewhere.example"].requests}) == (1, {401})


@pytest.mark.parametrize("owner", HOSTS)
def test_a_token_of_another_forge_goes_to_that_forge_only(
    project: Project, upstream: Repository, forges: dict[str, GitServer], owner: str
) -> None:
    """A runner of Gitea or of GitHub Enterprise sets both variables."""
    for server in forges.values():
        only_with(server, TOKEN)
    env = {"GITHUB_TOKEN": TOKEN, "GITHUB_SERVER_URL": f"https://{owner}"}

    results = {host: project.run("install", f"https://{host}/acme/pdf.git", "--force", env=env) for host in HOSTS}

    assert {host: result.code for host, result in results.items()} == {host: int(host != owner) for host in HOSTS}
    assert project.installed_files("pdf") == upstream.read_files()
    (other,) = {*HOSTS} - {owner}
    assert {request.authorization for request in forges[other].requests} == {""}


def test_a_redirect_to_another_host_does_not_carry_the_token(project: Project, forges: dict[str, GitServer]) -> None:
    """Git by itself sends the header to redirect targets, too."""
    only_with(forges["elsewhere.example"], TOKEN)
    forges["github.com"].redirect_to = "https://elsewhere.example"

    result = project.run("install", "acme/pdf", env={"GITHUB_TOKEN": TOKEN})

    assert result.code == 1
    assert {request.status for request in forges["elsewhere.example"].requests} == {401}


def test_a_repository_that_moved_is_found_without_the_token(
    project: Project, upstream: Repository, forges: dict[str, GitServer]
) -> None:
    forges["github.com"].redirect_to = "https://elsewhere.example"

    project.run("install", "acme/pdf", env={"GITHUB_TOKEN": TOKEN}, check=True)

    assert project.installed_files("pdf") == upstream.read_files()


def test_a_login_for_another_host_does_not_replace_the_token(
    project: Project, upstream: Repository, forges: dict[str, GitServer]
) -> None:
    only_with(forges["github.com"], TOKEN)
    project.git_config(
        '[credential "https://elsewhere.example"]\n\thelper = store\n'
        '[http "https://elsewhere.example/"]\n\textraHeader = Authorization: Basic eDp5'
    )

    project.run("install", "acme/pdf", env={"GITHUB_TOKEN": TOKEN}, check=True)

    assert project.installed_files("pdf") == upstream.read_files()


ELSEWHERE = "https://elsewhere.example/acme/pdf"
OTHER_WAYS = (
    "GH_ENTERPRISE_TOKEN and GH_HOST=elsewhere.example, GITLAB_TOKEN and GITLAB_HOST=elsewhere.example, or GITEA_TOKEN "
    "and GITEA_SERVER_URL=https://elsewhere.example, or a git credential helper"
)
NO_ACCESS = "no access to URL, or the repository does not exist"
MALFORMED = "is not a token: it has characters other than ASCII, or spaces or line breaks"
CHECK = "check that it has not expired, and that it may read this repository"
GHE, GITLAB, GITEA = (
    {"GH_HOST": "elsewhere.example"},
    {"GITLAB_HOST": "elsewhere.example"},
    {"GITEA_SERVER_URL": "https://elsewhere.example"},
)
REFUSALS: list[tuple[str, dict[str, str], int, str, str]] = [
    # No token was sent.
    ("github.com", {}, 401, NO_ACCESS, "no login was sent; set GITHUB_TOKEN, or a git credential helper"),
    ("github.com", {}, 403, NO_ACCESS, "no login was sent; set GITHUB_TOKEN, or a git credential helper"),
    ("github.com", {"GITHUB_TOKEN": " \n"}, 401, NO_ACCESS,
     "no login was sent; set GITHUB_TOKEN, or a git credential helper"),
    ("github.com", {}, 404, "there is no git repository at URL",
     "check the spelling; if it is private: no login was sent; set GITHUB_TOKEN, or a git credential helper"),
    ("github.com", {"GITHUB_TOKEN": TOKEN, "GITHUB_SERVER_URL": "https://elsewhere.example"}, 401, NO_ACCESS,
     "no login was sent; set GH_TOKEN, or a git credential helper; GITHUB_TOKEN is for elsewhere.example"),
    ("elsewhere.example", {}, 401, NO_ACCESS, f"no login was sent; set {OTHER_WAYS}"),
    ("elsewhere.example", GHE, 401, NO_ACCESS,
     "no login was sent; set GH_ENTERPRISE_TOKEN, or a git credential helper"),
    ("elsewhere.example", {"GH_ENTERPRISE_TOKEN": TOKEN}, 401, NO_ACCESS,
     f"no login was sent; set {OTHER_WAYS}; GH_ENTERPRISE_TOKEN is for the server that GH_HOST names"),
    ("elsewhere.example", {"GITLAB_TOKEN": TOKEN}, 403, NO_ACCESS,
     f"no login was sent; set {OTHER_WAYS}; GITLAB_TOKEN is for gitlab.com"),
    ("elsewhere.example", {"GIT_ASKPASS": "/bin/false"}, 401, NO_ACCESS,
     f"no login was sent; set {OTHER_WAYS}; GIT_ASKPASS is used only for servers in SKILLPM_ASKPASS_HOSTS"),
    # A token was sent and refused.
    *(("elsewhere.example", {variable: "wrong", **server}, status, f"URL refuses {variable} (HTTP {status})", CHECK)
      for variable, server in (("GH_ENTERPRISE_TOKEN", GHE), ("GITLAB_TOKEN", GITLAB), ("GITEA_TOKEN", GITEA))
      for status in (401, 403)),
    *(("github.com", {variable: "wrong"}, status, f"URL refuses {variable} (HTTP {status})", CHECK)
      for variable in ("GITHUB_TOKEN", "GH_TOKEN") for status in (401, 403)),
    ("github.com", {"GITHUB_TOKEN": "wrong"}, 404, "URL does not exist, or GITHUB_TOKEN may not read it (HTTP 404)",
     "check the spelling, and what the token may read"),
    # A token that no header can have.
    ("github.com", {"GITHUB_TOKEN": "two words"}, 0, f"GITHUB_TOKEN {MALFORMED}",
     "set it again; spaces around a token are ignored"),
    ("elsewhere.example", {"GITLAB_TOKEN": "to\nken", **GITLAB}, 0, f"GITLAB_TOKEN {MALFORMED}",
     "set it again; spaces around a token are ignored"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("host", "env", "status", "message", "hint"), REFUSALS, ids=[f"{row[0]} {row[1]} {row[2]}" for row in REFUSALS]
)
def test_a_refused_request_says_which_token_was_sent(
    project: Project, forges: dict[str, GitServer], host: str, env: dict[str, str], status: int, message: str, hint: str
) -> None:
    server = forges[host]
    if status == HTTPStatus.UNAUTHORIZED:
        only_with(server, TOKEN)
    else:
        server.fail_next(9, status)
    url = f"https://{host}/acme/pdf"

    result = project.run("install", f"{url}.git" if host != "github.com" else url, env=env)
    machine = project.run("install", f"{url}.git", "--json", env=env)

    shown = message.replace("URL", url if host == "github.com" else f"{url}.git")
    assert (result.code, result.stderr) == (1 if status else 2, f"error: {shown}\n  hint: {hint}\n")
    assert json.loads(machine.stdout)["error"] | {"message": shown, "hint": hint} == json.loads(machine.stdout)["error"]
    sent = {request.authorization for request in server.requests}
    assert sent == (set() if not status else {""} if "no login" in hint else sent - {""})


@pytest.fixture
def askpass(project: Project) -> Path:
    """A program as CI systems have it: it answers for any server. What it is asked is in `askpass.log`."""
    program = project.root / "askpass"
    program.write_text(
        f'#!/bin/sh\necho "$1 screen=$DISPLAY$WAYLAND_DISPLAY$VSCODE_GIT_IPC_HANDLE" >> {project.root}/askpass.log\n'
        f'case "$1" in Username*) echo jenkins;; *) echo {TOKEN};; esac\n'
    )
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("confirmed", "host", "is_asked"),
    [
        ("elsewhere.example", "elsewhere.example", True),
        ("git.corp, Elsewhere.example", "elsewhere.example", True),
        ("", "elsewhere.example", False),
        ("github.com", "elsewhere.example", False),
        ("elsewhere.example:8443", "elsewhere.example", False),
        ("*", "elsewhere.example", False),
        ("example", "elsewhere.example", False),
        ("elsewhere.example", "github.com", False),
    ],
)
def test_askpass_is_used_only_for_a_confirmed_server(
    project: Project, forges: dict[str, GitServer], askpass: Path, confirmed: str, host: str, *, is_asked: bool
) -> None:
    for server in forges.values():
        server.required_login = ("jenkins", TOKEN)
    screens = {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0", "VSCODE_GIT_IPC_HANDLE": "/run/code.sock"}
    env = {"GIT_ASKPASS": str(askpass), "SKILLPM_ASKPASS_HOSTS": confirmed, **screens}

    result = project.run("install", f"https://{host}/acme/pdf.git", env=env)

    log = project.root / "askpass.log"
    asked = log.read_text().splitlines() if log.exists() else []
    prompts = [f"Username for 'https://{host}':  screen=", f"Password for 'https://jenkins@{host}':  screen="]
    assert (result.code, asked) == ((0, prompts) if is_asked else (1, []))


def test_askpass_is_not_asked_for_the_target_of_a_redirect(
    project: Project, forges: dict[str, GitServer], askpass: Path
) -> None:
    forges["elsewhere.example"].required_login = ("jenkins", TOKEN)
    forges["github.com"].redirect_to = "https://elsewhere.example"
    env = {"GIT_ASKPASS": str(askpass), "SKILLPM_ASKPASS_HOSTS": "github.com"}

    result = project.run("install", "acme/pdf", env=env)

    assert (result.code, (project.root / "askpass.log").exists()) == (1, False)


@pytest.mark.parametrize("way", ["token", "helper", "askpass", "netrc", "insteadOf", "header"])
def test_looking_for_a_repository_sends_no_login(
    project: Project, forges: dict[str, GitServer], askpass: Path, upstream: Repository, way: str
) -> None:
    """A login is sent only after an index was looked for, too."""
    server, home = forges["elsewhere.example"], project.home
    server.required_login = ("ann", TOKEN)
    (proxy,) = re.findall(r"proxy = (\S+)", (home / ".gitconfig").read_text())
    env = {"SSL_CERT_FILE": str(project.root.parent / "company-ca.pem"), "https_proxy": proxy}
    basic = base64.b64encode(f"ann:{TOKEN}".encode()).decode()
    match way:
        case "token":
            server.required_login = ("x-access-token", TOKEN)
            env |= {"GITEA_TOKEN": TOKEN, "GITEA_SERVER_URL": "https://elsewhere.example"}
        case "helper":
            (home / ".git-credentials").write_text(f"https://ann:{TOKEN}@elsewhere.example\n")
            project.git_config("[credential]\n\thelper = store")
        case "askpass":
            server.required_login = ("jenkins", TOKEN)
            env |= {"GIT_ASKPASS": str(askpass), "SKILLPM_ASKPASS_HOSTS": "elsewhere.example"}
        case "netrc":
            (home / ".netrc").write_text(f"machine elsewhere.example login ann password {TOKEN}\n")
            (home / ".netrc").chmod(0o600)
        case "insteadOf":
            config = f'[url "https://ann:{TOKEN}@elsewhere.example/"]\n\tinsteadOf = https://elsewhere.example/'
            project.git_config(config)
        case "header":
            config = f'[http "https://elsewhere.example/"]\n\textraHeader = Authorization: Basic {basic}'
            project.git_config(config)

    project.run("install", "https://elsewhere.example/acme/pdf", env=env, check=True)

    authorizations = [(request.path, bool(request.authorization)) for request in server.requests]
    assert authorizations[0] == ("/acme/pdf/info/refs", False)
    assert ("/acme/pdf/info/refs", True) in authorizations[1:]
    assert project.installed_files("pdf") == upstream.read_files()
