"""What others wrote leads to the internet: servers of the local network are contacted only if the user names them.

`secret` is a service on loopback. It never responds, so a connection against the rules ends with the idle timeout.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fetchers.world import HERE, LAN, SECONDS, WORLD, Listener, Project, require
from kit import CertificateAuthority, GitServer, NameServer, Proxy, Repository, make_skill


def refusal(url: str, reason: str, owner: str = "kit") -> str:
    return (
        f"error: `{owner}` requires `pdf` from {url}, which {reason}\n"
        f"  where: `{owner}`: dependencies.pdf\n"
        '  hint: if you trust it, override it: "overrides": {"pdf": …} in skills.json\n'
    )


KINDS = {
    "git": lambda host: ({"git": f"https://{host}/x.git"}, f"https://{host}/x.git"),
    "url": lambda host: ({"url": f"https://{host}/x.tar.gz"}, f"https://{host}/x.tar.gz"),
    "index": lambda host: ({"version": "*", "index": f"https://{host}/"}, f"https://{host}/"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("host", "address"),
    [
        (HERE, HERE),
        ("localhost", HERE),
        ("127.1", HERE),
        ("[::1]", "::1"),
        ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1"),
        ("[64:ff9b::7f00:1]", "64:ff9b::7f00:1"),
        ("[2002:7f00:1::]", "2002:7f00:1::"),
        ("169.254.169.254", "169.254.169.254"),
        ("224.0.0.1", "224.0.0.1"),
    ],
)
def test_a_dependency_in_the_local_network_is_refused(
    project: Project, secret: Listener, kind: str, host: str, address: str
) -> None:
    dependency, url = KINDS[kind](f"{host}:{secret.port}")
    require(project, dependency)

    result = project.run("sync", env=SECONDS)

    assert (result.code, result.stderr) == (1, refusal(url, f"is in your local network ({address})"))
    assert secret.connections == 0
    assert not project.exists("skills.lock")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("addresses", [[HERE], [WORLD, LAN], [LAN]])
def test_a_dependency_at_a_name_of_the_local_network_is_refused(
    project: Project, secret: Listener, tmp_path: Path, kind: str, addresses: list[str]
) -> None:
    dependency, url = KINDS[kind](f"evil.example:{secret.port}")
    require(project, dependency)
    names = NameServer(tmp_path / "names", {"evil.example": [addresses]})

    result = project.run("sync", env={**SECONDS, **names.environment})

    assert (result.code, result.stderr) == (1, refusal(url, f"is in your local network ({addresses[-1]})"))
    assert secret.connections == 0


@pytest.mark.parametrize("url", ["ssh://git@forge.example/x.git", "git@forge.example:x.git", "ssh://127.0.0.1:22/x"])
def test_a_dependency_over_ssh_is_refused_if_the_manifest_does_not_name_its_host(project: Project, url: str) -> None:
    require(project, {"git": url})

    result = project.run("sync", env={"GIT_SSH_COMMAND": f"touch {project.root}/contacted; false"})

    reason = "is reached over ssh with your keys, but your skills.json does not name its host"
    assert (result.code, result.stderr) == (1, refusal(url, reason))
    assert not (project.root / "contacted").exists()


@pytest.mark.parametrize("named", ["ssh://me@forge.example/other", "me@forge.example:other", "https://forge.example/x"])
def test_a_dependency_over_ssh_is_fetched_from_a_host_that_the_manifest_names(project: Project, named: str) -> None:
    require(project, {"git": "git@forge.example:x.git"}, overrides={"other": {"git": named}})

    project.run("sync", env={"GIT_SSH_COMMAND": f"touch {project.root}/contacted; false"})

    assert (project.root / "contacted").exists()


def test_a_dependency_from_a_path_is_refused(project: Project, tmp_path: Path) -> None:
    for location in ({"path": "/etc"}, {"git": tmp_path.as_uri()}, {"url": "/etc/x.tar.gz"}, {"url": "/etc/@x:y.zip"}):
        require(project, location)

        result = project.run("sync")

        path = next(iter(location.values()))
        assert (result.code, result.stderr) == (
            1,
            f"error: `kit` requires `pdf` from {path}, a source that only your skills.json may name\n"
            "  where: `kit`: dependencies.pdf\n"
            '  hint: if you trust it, override it: "overrides": {"pdf": …} in skills.json\n',
        )


@pytest.fixture
def company(tmp_path: Path) -> CertificateAuthority:
    return CertificateAuthority(tmp_path)


@pytest.fixture
def secure(project: Project, company: CertificateAuthority, upstream: Repository) -> Iterator[GitServer]:
    """A server with the repositories `acme/pdf` and `acme/kit`, whose certificate the project trusts."""
    upstream.write(make_skill("pdf")).commit()
    project.git_config(f"[http]\n\tsslCAInfo = {company.certificate_file}")
    with company.start_server(HERE) as server:
        server.serve("acme/pdf", upstream)
        server.publish("/pdf/SKILL.md", make_skill("pdf")["SKILL.md"])
        yield server


@pytest.mark.parametrize(
    "manifest",
    [
        {"overrides": {"testing": {"url": "URL/other.tar.gz"}}},
        {"indexes": [{"name": "acme", "url": "URL/index"}]},
    ],
    ids=["overrides", "indexes"],
)
def test_a_dependency_on_a_server_that_the_manifest_names_is_fetched(
    project: Project, secure: GitServer, manifest: dict[str, object]
) -> None:
    require(project, {"git": secure.url("acme/pdf")}, **json.loads(json.dumps(manifest).replace("URL", secure.address)))

    project.run("sync", check=True)

    assert project.exists(".agent-skills/pdf/SKILL.md")


def test_a_dependency_on_a_server_that_the_command_line_names_is_fetched(
    project: Project, secure: GitServer, tmp_path: Path
) -> None:
    kit = Repository.create(tmp_path / "kit")
    manifest = json.dumps({"skills": {"pdf": {"git": secure.url("acme/pdf")}}})
    kit.write(make_skill("kit") | {"skills.json": manifest}).commit()

    project.run("install", secure.serve("acme/kit", kit), check=True)

    assert project.exists(".agent-skills/pdf/SKILL.md")


def test_a_dependency_on_a_server_that_insteadof_names_is_fetched(project: Project, secure: GitServer) -> None:
    require(project, {"git": "https://forge.example/acme/pdf.git"})
    project.redirect_git("https://forge.example/", secure.address)

    project.run("sync", check=True)

    assert project.exists(".agent-skills/pdf/SKILL.md")


def test_an_insteadof_of_the_scheme_alone_names_no_server(project: Project, secret: Listener) -> None:
    require(project, {"git": f"ssh://git@{HERE}:{secret.port}/x.git"})
    project.git_config('[url "https://"]\n\tinsteadOf = ssh://git@')

    result = project.run("sync", env=SECONDS)

    url = f"ssh://git@{HERE}:{secret.port}/x.git"
    assert (result.code, result.stderr) == (1, refusal(url, f"is in your local network ({HERE})"))
    assert secret.connections == 0


def test_another_port_is_another_server(project: Project, secure: GitServer, secret: Listener) -> None:
    url = f"https://{HERE}:{secret.port}/x.git"
    require(project, {"git": url}, indexes=[{"name": "acme", "url": secure.address}])

    result = project.run("sync", env=SECONDS)

    assert (result.code, result.stderr) == (1, refusal(url, f"is in your local network ({HERE})"))
    assert secret.connections == 0


@pytest.fixture
def locked(project: Project, secure: GitServer, tmp_path: Path) -> Project:
    """A clone whose lockfile has `pdf` from a server that its manifest no longer names."""
    project.write("skills.lock", "")
    (project.work / "skills.lock").unlink()
    require(project, {"git": secure.url("acme/pdf")}, overrides={"testing": {"url": f"{secure.address}/x.tar.gz"}})
    project.run("sync", check=True)
    other = project.clone(tmp_path / "other")
    other.git_config((project.home / ".gitconfig").read_text())
    for path in ("skills/kit/SKILL.md", "skills/kit/skills.json"):
        other.write(path, project.read(path))
    for name in ("skills.json", "skills.lock"):
        document = json.loads(other.read(name))
        del document["overrides"]
        other.write(name, json.dumps(document))
    secure.clear_requests()
    return other


@pytest.mark.parametrize(
    "command",
    [
        ["sync"],
        ["sync", "--frozen"],
        ["sync", "--locked"],
        ["install"],
        ["install", "testing"],
        ["update"],
        ["update", "pdf"],
        ["lock", "--upgrade"],
        ["outdated"],
        ["diff", "pdf"],
        ["diff", "pdf", "--update"],
    ],
    ids=" ".join,
)
def test_a_locked_dependency_is_fetched_only_from_a_server_that_the_manifest_names(
    locked: Project, secure: GitServer, command: list[str]
) -> None:
    result = locked.run(*command)

    assert (result.code, result.stderr) == (1, refusal(secure.url("acme/pdf"), f"is in your local network ({HERE})"))
    assert secure.requests == []


@pytest.fixture
def proxied(
    project: Project, company: CertificateAuthority, upstream: Repository
) -> Iterator[tuple[Project, Proxy, GitServer]]:
    """A project behind a proxy, which alone knows `forge.example`."""
    upstream.write(make_skill("pdf")).commit()
    project.git_config(f"[http]\n\tsslCAInfo = {company.certificate_file}")
    with company.start_server("forge.example") as server, Proxy({"forge.example": server, HERE: server}) as proxy:
        server.serve("x", upstream)
        server.publish("/pdf/SKILL.md", make_skill("pdf")["SKILL.md"])
        yield project, proxy, server


@pytest.mark.parametrize(
    "dependency", [{"git": "https://forge.example/x.git"}, {"url": "https://forge.example/pdf/SKILL.md"}]
)
def test_through_a_proxy_a_name_need_not_resolve(
    proxied: tuple[Project, Proxy, GitServer], company: CertificateAuthority, dependency: object
) -> None:
    project, proxy, _ = proxied
    require(project, dependency)
    env = {"https_proxy": proxy.address, "SSL_CERT_FILE": str(company.certificate_file)}

    project.run("sync", env=env, check=True)

    assert {*proxy.requested_hosts} == {"forge.example"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("host", [HERE, "localhost", "app.localhost", "[::1]"])
def test_a_proxy_is_not_asked_for_the_local_network(
    proxied: tuple[Project, Proxy, GitServer], kind: str, host: str
) -> None:
    project, proxy, _ = proxied
    dependency, url = KINDS[kind](host)
    require(project, dependency)

    result = project.run("sync", env={"https_proxy": proxy.address})

    address = host.strip("[]") if host in {HERE, "[::1]"} else HERE
    assert (result.code, result.stderr) == (1, refusal(url, f"is in your local network ({address})"))
    assert proxy.requested_hosts == []


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_proxy_a_name_that_does_not_resolve_is_not_contacted(project: Project, kind: str) -> None:
    """Git would resolve it again, with perhaps another result."""
    dependency, _ = KINDS[kind]("no-such-host.invalid")
    require(project, dependency)

    result = project.run("sync", env=SECONDS)

    assert (result.code, "Name or service not known" in result.stderr) == (1, True)


@pytest.mark.parametrize("host", ["bücher.example", "forge.example."])
def test_a_host_that_git_may_read_differently_is_refused(project: Project, host: str) -> None:
    require(project, {"git": f"https://{host}/x.git"})

    result = project.run("sync")

    reason = f"has a host in a form that cannot be checked ({host})"
    assert (result.code, result.stderr) == (1, refusal(f"https://{host}/x.git", reason))
