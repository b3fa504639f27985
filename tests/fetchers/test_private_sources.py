"""Sources behind a company's CA, proxy and logins; and the secrets are stored and printed nowhere."""

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fetchers.world import Project
from indexes.world import IndexPublisher, serve_index
from kit import CertificateAuthority, GitServer, Proxy, Repository, make_skill, wait_for

pytestmark = pytest.mark.slow

HOST = "skills.acme.example"
SECRET = "s3cr3t-Pa55"  # noqa: S105  (of the test's own server)
BASIC = base64.b64encode(f"ann:{SECRET}".encode()).decode()


@pytest.fixture
def company(tmp_path: Path) -> CertificateAuthority:
    return CertificateAuthority(tmp_path)


@pytest.fixture
def host(company: CertificateAuthority, tmp_path: Path) -> Iterator[GitServer]:
    """The company's server, with an index at its root and a repository."""
    desk = IndexPublisher(tmp_path / "desk")
    desk.write_draft("pdf", "1.2.0")
    desk.build()
    upstream = Repository.create(tmp_path / "upstream")
    upstream.write(make_skill("deploy")).commit()
    with company.start_server(HOST) as server:
        serve_index(server, desk.index_folder)
        server.serve("acme/deploy", upstream)
        yield server


@pytest.fixture
def proxy(host: GitServer) -> Iterator[Proxy]:
    with Proxy({HOST: host}) as proxy:
        yield proxy


@pytest.fixture
def world(project: Project, company: CertificateAuthority, proxy: Proxy) -> dict[str, str | None]:
    """The environment that the IT department prescribes, in a home whose configuration names the index."""
    config = project.home / ".config/skillpm/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[[indexes]]\nname = "acme"\nurl = "https://{HOST}/"\n')
    return {
        "https_proxy": proxy.address,
        "SSL_CERT_FILE": str(company.certificate_file),
        "GIT_SSL_CAINFO": str(company.certificate_file),
    }


def found_in(project: Project, secret: str) -> list[str]:
    return [
        str(path.relative_to(project.root))
        for path in project.root.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]


def command_lines() -> list[str]:
    """Return every command line of the machine, as any user can read it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found.append((entry / "cmdline").read_bytes().decode(errors="replace"))
            except OSError:
                continue
    return found


def test_an_index_behind_a_proxy_and_a_company_ca(
    project: Project, world: dict[str, str | None], proxy: Proxy, host: GitServer
) -> None:
    project.run("install", "pdf", env=world, check=True)

    assert "pdf" in project.read("skills.lock")
    assert set(proxy.requested_hosts) == {HOST}
    assert [request.path for request in host.requests] == ["/skills/pdf.json", "/archives/pdf-1.2.0.tar.gz"]


def test_a_repository_behind_a_proxy_and_a_company_ca(
    project: Project, world: dict[str, str | None], proxy: Proxy
) -> None:
    project.run("install", f"https://{HOST}/acme/deploy.git", env=world, check=True)

    assert project.exists(".agent-skills/deploy/SKILL.md")
    assert set(proxy.requested_hosts) == {HOST}


def test_an_index_is_not_trusted_without_the_ca(project: Project, world: dict[str, str | None]) -> None:
    result = project.run("install", "pdf", env={**world, "SSL_CERT_FILE": None})

    assert (result.code, result.stderr) == (
        1,
        (
            f"error: cannot read the index acme: https://{HOST}/skills/pdf.json: the certificate of {HOST} is not "
            "trusted (unable to get local issuer certificate)\n"
            "  skills: pdf\n"
            "  hint: if your company issued it, set SSL_CERT_FILE=/path/to/ca.pem, or add its CA to the system\n"
        ),
    )
    assert project.is_untouched


def test_a_repository_is_not_trusted_without_the_ca(project: Project, world: dict[str, str | None]) -> None:
    result = project.run("install", f"https://{HOST}/acme/deploy.git", env={**world, "GIT_SSL_CAINFO": None})

    assert (result.code, result.stderr) == (
        1,
        (
            f"error: the certificate of https://{HOST}/acme/deploy.git is not trusted\n"
            "  hint: if your company issued it: git config --global http.sslCAInfo /path/to/ca.pem\n"
        ),
    )
    assert project.is_untouched


def test_a_proxy_that_refuses_is_an_error(project: Project, world: dict[str, str | None], proxy: Proxy) -> None:
    proxy.servers.clear()

    result = project.run("install", "pdf", env=world)

    assert (result.code, result.stderr) == (
        1,
        (
            f"error: cannot read the index acme: https://{HOST}/skills/pdf.json: cannot connect (502 Bad Gateway)\n"
            "  skills: pdf\n"
            "  hint: try again, or check your proxy; --offline uses the cached documents of the index acme\n"
        ),
    )


@pytest.mark.parametrize("way", ["token", "netrc"])
def test_an_index_with_a_login(project: Project, world: dict[str, str | None], host: GitServer, way: str) -> None:
    if way == "token":
        env = {**world, "SKILLPM_INDEX_ACME_TOKEN": SECRET, "SKILLPM_INDEX_ACME_URL": f"https://{HOST}"}
        expected = f"Bearer {SECRET}"
        kept = []
    else:
        netrc = project.home / ".netrc"
        netrc.write_text(f"machine {HOST} login ann password {SECRET}\n")
        netrc.chmod(0o600)
        env, expected, kept = world, f"Basic {BASIC}", ["home/.netrc"]

    installed = project.run("install", "pdf", "-vv", env=env, check=True)
    looked = project.run("outdated", "--json", env=env, check=True)
    host.fail_next(9, 500)
    broken = project.run("update", env=env)

    assert {request.authorization for request in host.requests} == {expected}
    assert broken.code == 1
    for secret, there in ((SECRET, kept), (BASIC, [])):
        assert found_in(project, secret) == there
        for result in (installed, looked, broken):
            assert secret not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("spec", "begin", "url", "more"),
    [
        ("pdf", "cannot read the index acme: ", f"https://{HOST}/skills/pdf.json\n  skills: pdf", ""),
        (f"https://{HOST}/acme/deploy.git", "", f"https://{HOST}/acme/deploy.git", ", or in git's http.proxy"),
    ],
    ids=["an index", "a repository"],
)
def test_a_proxy_that_requires_a_login_is_not_retried(
    project: Project, world: dict[str, str | None], proxy: Proxy, spec: str, begin: str, url: str, more: str
) -> None:
    proxy.requires_login = True

    result = project.run("install", spec, env=world)

    assert (result.code, result.stderr) == (
        1,
        (
            f"error: {begin}proxy authentication required for {url}\n"
            f"  hint: check the user and password in https_proxy or http_proxy{more}\n"
        ),
    )
    assert len(proxy.request_heads) == 1


def test_the_password_of_a_proxy_is_never_printed(project: Project, world: dict[str, str | None], proxy: Proxy) -> None:
    world["https_proxy"] = proxy.address.replace("//", f"//ann:{SECRET}@")
    installed = project.run("install", "pdf", f"https://{HOST}/acme/deploy.git", "-vv", env=world, check=True)
    proxy.servers.clear()
    broken = project.run("update", "-vv", env=world)

    assert all(f"Proxy-Authorization: Basic {BASIC}" in head for head in proxy.request_heads if "git/" not in head)
    assert broken.code == 1
    for secret in (SECRET, BASIC):
        assert found_in(project, secret) == []
        for result in (installed, broken):
            assert secret not in result.stdout + result.stderr


@pytest.mark.parametrize("source", ["index", "git"])
def test_no_secret_is_in_a_command_line(
    project: Project, world: dict[str, str | None], host: GitServer, source: str
) -> None:
    """Every user of the machine can read the arguments of a process."""
    project.git_config(f'[url "https://ann:{SECRET}@{HOST}/"]\n\tinsteadOf = https://{HOST}/')
    spec = "pdf" if source == "index" else f"https://{HOST}/acme/deploy.git"
    env: dict[str, Any] = {**world, "SKILLPM_INDEX_ACME_TOKEN": SECRET, "GITHUB_TOKEN": SECRET}
    env["SKILLPM_INDEX_ACME_URL"] = f"https://{HOST}"
    host.stall = True
    with project.spawn("install", spec, env=env) as process:
        try:
            wait_for(lambda: host.requests)
            lines = command_lines()
        finally:
            process.terminate()
            process.communicate(timeout=60)

    assert any(str(os.path.basename(spec)) in line for line in lines)
    assert not [line for line in lines if SECRET in line or BASIC in line]
