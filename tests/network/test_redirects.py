"""Redirects of public hosts: never to this machine, whatever its name resolves to.

The test replaces DNS with its own resolver, since an attacker controls the DNS of their own names.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kit import GitServer, NameServer, Response
from network.world import Network, snapshot_project

pytestmark = pytest.mark.slow

WORLD, HERE, LAN = "93.184.215.14", "127.0.0.1", "10.1.2.3"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return Network(tmp_path_factory.mktemp("network"))


@pytest.fixture
def server(network: Network) -> Iterator[GitServer]:
    with network.serve() as server:
        yield server


def install_error(network: Network, folder: Path, url: str, **names: list[str]) -> tuple[int, str]:
    """Install from a URL, with only these host names (`_` for a dot); return exit code and first error line."""
    project = network.copy(folder)
    server = NameServer(folder / "site", {name.replace("_", "."): [addresses] for name, addresses in names.items()})
    before = snapshot_project(project)
    env = {**server.environment, "SKILLPM_IDLE_TIMEOUT": "5"}
    result = project.run("install", url, "--allow-insecure-host", "skills.example", env=env)
    assert result.code == 0 or snapshot_project(project) == before
    return result.code, (result.stderr.splitlines() or [""])[0]


def port(server: GitServer) -> str:
    return server.address.rpartition(":")[2]


@pytest.mark.parametrize("there", ["127.0.0.1", "localhost", "inside.example", "[::1]", "169.254.169.254"])
@pytest.mark.parametrize("here", [[HERE, WORLD], [HERE, WORLD, LAN]], ids=["two", "three"])
def test_a_public_host_must_not_redirect_to_the_local_network(
    network: Network, server: GitServer, tmp_path: Path, here: list[str], there: str
) -> None:
    server.publish("/out.tgz", Response(302, {"Location": f"http://{there}:{port(server)}/pdf.tar.gz"}, b""))
    url = f"http://skills.example:{port(server)}/out.tgz"

    found = install_error(network, tmp_path / "p", url, skills_example=here, inside_example=[LAN])

    assert found == (
        1,
        f"error: {url} points into the local network: http://{there}:{port(server)}/pdf.tar.gz",
    )
    assert [request.path for request in server.requests] == ["/out.tgz"]


def test_a_name_with_an_additional_private_address_is_private(
    network: Network, server: GitServer, tmp_path: Path
) -> None:
    server.publish("/out.tgz", Response(302, {"Location": f"http://both.example:{port(server)}/pdf.tar.gz"}, b""))
    url = f"http://skills.example:{port(server)}/out.tgz"

    code, line = install_error(network, tmp_path / "p", url, skills_example=[HERE, WORLD], both_example=[WORLD, HERE])

    assert (code, line) == (
        1,
        f"error: {url} points into the local network: http://both.example:{port(server)}/pdf.tar.gz",
    )


def test_a_private_host_may_redirect_to_the_local_network(network: Network, server: GitServer, tmp_path: Path) -> None:
    server.publish("/out.tgz", Response(302, {"Location": f"http://127.0.0.1:{port(server)}/pdf.tar.gz"}, b""))
    url = f"http://skills.example:{port(server)}/out.tgz"

    assert install_error(network, tmp_path / "p", url, skills_example=[HERE])[0] == 0
