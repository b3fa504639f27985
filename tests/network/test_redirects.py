"""Where an address in the world may lead: not to this machine, whatever its name means to whom.

A resolver of the test's own stands in for DNS: it is what an enemy has in hand.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from kit import GitServer, Response
from network.world import Network, snapshot_project

pytestmark = pytest.mark.slow

# Python reads it at its start, and every name of the table is then looked up there.
RESOLVER = """\
import json, os, socket
real, names = socket.getaddrinfo, json.loads(os.environ["TEST_NAMES"])
def found(host, port, *more, **named):
    hosts = names.get(host if isinstance(host, str) else (host or b"").decode(), [host])
    return [entry for one in hosts for entry in real(one, port, *more, **named)]
socket.getaddrinfo = found
"""
WORLD, HERE, LAN = "93.184.215.14", "127.0.0.1", "10.1.2.3"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return Network(tmp_path_factory.mktemp("network"))


@pytest.fixture
def server(network: Network) -> Iterator[GitServer]:
    with network.serve() as server:
        yield server


def said(network: Network, folder: Path, url: str, **names: list[str]) -> tuple[int, str]:
    """Install from an address, in a world in which names mean just this (`_` stands for a dot)."""
    project = network.copy(folder)
    (folder / "site").mkdir()
    (folder / "site/sitecustomize.py").write_text(RESOLVER)
    table = json.dumps({name.replace("_", "."): addresses for name, addresses in names.items()})
    before = snapshot_project(project)
    env = {"PYTHONPATH": str(folder / "site"), "TEST_NAMES": table, "SKILLPM_IDLE_TIMEOUT": "5"}
    result = project.run("install", url, "--allow-insecure-host", "skills.example", env=env)
    assert result.code == 0 or snapshot_project(project) == before
    return result.code, (result.stderr.splitlines() or [""])[0]


def port(server: GitServer) -> str:
    return server.address.rpartition(":")[2]


@pytest.mark.parametrize("there", ["127.0.0.1", "localhost", "inside.example", "[::1]", "169.254.169.254"])
@pytest.mark.parametrize("here", [[HERE, WORLD], [HERE, WORLD, LAN]], ids=["two", "three"])
def test_a_host_with_an_address_in_the_world_leads_nowhere_inside(
    network: Network, server: GitServer, tmp_path: Path, here: list[str], there: str
) -> None:
    server.publish("/out.tgz", Response(302, {"Location": f"http://{there}:{port(server)}/pdf.tar.gz"}, b""))
    url = f"http://skills.example:{port(server)}/out.tgz"

    found = said(network, tmp_path / "p", url, skills_example=here, inside_example=[LAN])

    assert found == (
        1,
        f"error: {url} leads into this machine's own network: http://{there}:{port(server)}/pdf.tar.gz",
    )
    assert [request.path for request in server.requests] == ["/out.tgz"]


def test_a_name_that_means_an_address_inside_besides_is_inside(
    network: Network, server: GitServer, tmp_path: Path
) -> None:
    server.publish("/out.tgz", Response(302, {"Location": f"http://both.example:{port(server)}/pdf.tar.gz"}, b""))
    url = f"http://skills.example:{port(server)}/out.tgz"

    code, line = said(network, tmp_path / "p", url, skills_example=[HERE, WORLD], both_example=[WORLD, HERE])

    assert (code, line) == (
        1,
        f"error: {url} leads into this machine's own network: http://both.example:{port(server)}/pdf.tar.gz",
    )


def test_a_host_inside_leads_inside(network: Network, server: GitServer, tmp_path: Path) -> None:
    server.publish("/out.tgz", Response(302, {"Location": f"http://127.0.0.1:{port(server)}/pdf.tar.gz"}, b""))
    url = f"http://skills.example:{port(server)}/out.tgz"

    assert said(network, tmp_path / "p", url, skills_example=[HERE])[0] == 0
