"""A name is resolved once: the address that was checked is the one that is contacted, whatever DNS answers next."""

import json
from pathlib import Path

import pytest
from fetchers.world import HERE, LAN, SECONDS, WORLD, Listener, Project, require
from kit import GitServer, NameServer, Repository, make_skill

THERE = "127.0.0.2"


def port(server: GitServer) -> str:
    return server.address.rpartition(":")[2]


@pytest.fixture
def served(upstream: Repository, server: GitServer) -> GitServer:
    upstream.write(make_skill("pdf")).commit()
    server.serve("acme/pdf", upstream)
    server.publish("/pdf/SKILL.md", make_skill("pdf")["SKILL.md"])
    return server


@pytest.mark.parametrize("path", ["acme/pdf.git", "pdf/SKILL.md"])
def test_a_name_is_resolved_once_in_a_command(project: Project, served: GitServer, tmp_path: Path, path: str) -> None:
    names = NameServer(tmp_path / "names", {"forge.example": [[HERE], [LAN]]})
    url = f"http://forge.example:{port(served)}/{path}"

    project.run("install", url, "--allow-insecure-host", "forge.example", env=names.environment, check=True)

    assert names.lookups == ["forge.example"]


@pytest.mark.parametrize("kind", ["url", "index"])
def test_a_second_answer_of_dns_is_never_asked_for(
    project: Project, secret: Listener, tmp_path: Path, kind: str
) -> None:
    """The name is public when it is checked; connecting to that address leads to a port where nothing listens."""
    names = NameServer(tmp_path / "names", {"evil.example": [[WORLD], [HERE]], WORLD: [[THERE]]})
    url = f"https://evil.example:{secret.port}/"
    require(project, {"url": f"{url}x.tar.gz"} if kind == "url" else {"version": "*", "index": url})

    result = project.run("sync", env={**names.environment, **SECONDS})

    assert (result.code, "cannot connect (Connection refused)" in result.stderr) == (1, True)
    assert (names.lookups.count("evil.example"), secret.connections) == (1, 0)


def test_an_archive_of_an_index_is_downloaded_from_the_address_that_was_checked(
    project: Project, secret: Listener, served: GitServer, tmp_path: Path
) -> None:
    answers = {"skills.example": [[HERE, WORLD]], "evil.example": [[WORLD], [HERE]], WORLD: [[THERE]]}
    names = NameServer(tmp_path / "names", answers)
    entry = {"name": "pdf", "type": "archive", "description": "D.", "digest": f"sha256:{'0' * 64}"}
    document = {
        "$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
        "skills": [entry | {"url": f"http://evil.example:{secret.port}/pdf.tar.gz"}],
    }
    served.publish("/.well-known/agent-skills/index.json", json.dumps(document).encode())
    options = [f"--allow-insecure-host={name}.example" for name in ("skills", "evil")]
    url = f"http://skills.example:{port(served)}/"

    result = project.run("install", f"{url}@pdf", *options, env={**names.environment, **SECONDS})

    assert (result.code, "cannot connect (Connection refused)" in result.stderr) == (1, True)
    assert (names.lookups.count("evil.example"), secret.connections) == (1, 0)


@pytest.mark.parametrize("path", ["acme/pdf.git", "pdf/SKILL.md"])
def test_a_redirecting_server_is_not_private_because_dns_says_so_later(
    project: Project, served: GitServer, secret: Listener, tmp_path: Path, path: str
) -> None:
    names = NameServer(tmp_path / "names", {"skills.example": [[HERE, WORLD], [HERE]]})
    served.redirect_to = f"http://{HERE}:{secret.port}"
    url = f"http://skills.example:{port(served)}/{path}"

    result = project.run(
        "install", url, "--allow-insecure-host", "skills.example", env={**names.environment, **SECONDS}
    )

    assert (result.code, "points into the local network" in result.stderr) == (1, True)
    assert secret.connections == 0


@pytest.mark.parametrize("kind", ["git", "url", "index"])
def test_a_name_that_resolves_only_later_is_checked_then(
    project: Project, secret: Listener, tmp_path: Path, kind: str
) -> None:
    """The check finds no address, and the connection must not look for one by itself."""
    names = NameServer(tmp_path / "names", {"evil.example": [[], [HERE]]})
    url = f"https://evil.example:{secret.port}/"
    sources = {"git": {"git": f"{url}x.git"}, "url": {"url": f"{url}x.tar.gz"}, "index": {"version": "*", "index": url}}
    require(project, sources[kind])

    result = project.run("sync", env={**names.environment, **SECONDS})

    assert (result.code, secret.connections) == (1, 0)
