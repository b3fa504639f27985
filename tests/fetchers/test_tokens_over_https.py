"""A token in the environment is sent over TLS, through a proxy, to its own host only."""

import base64
from collections.abc import Iterator
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
