"""No variable serves two hosts: the name of a variable is that of one host, and an older name goes to no host."""

import itertools
import random
from pathlib import Path

import pytest
from kit import NameServer, OciRegistry, Sandbox, make_skill
from oci.world import publish

from skillpm.core.netloc import host_problem
from skillpm.fetchers.oci.logins import variable_name

LOGIN = ("ada", "hunter2")
PDF = make_skill("pdf")


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("ghcr.io", "GHCR_IO"),
        ("GHCR.io", "GHCR_IO"),
        ("localhost:5443", "LOCALHOST_5443"),
        ("127.0.0.1:5000", "127_0_0_1_5000"),
        ("my.registry.test", "MY_REGISTRY_TEST"),
        ("my-registry.test", "MY__REGISTRY_TEST"),
        ("my-registry-test", "MY__REGISTRY__TEST"),
        ("xn--mnchen-3ya.example", "XN____MNCHEN__3YA_EXAMPLE"),
        ("münchen.example:5000", "XN____MNCHEN__3YA_EXAMPLE_5000"),
        # Hosts that no public registry has: a label with an underscore, a number as the last label, a final dot.
        ("my_registry.test", "_MY_5FREGISTRY_2ETEST"),
        ("registry.5000", "_REGISTRY_2E5000"),
        ("ghcr.io.", "_GHCR_2EIO_2E"),
        ("[::1]:5000", "__5B_3A_3A1_5D_3A5000"),
    ],
)
def test_the_name_of_a_host_can_be_read(host: str, name: str) -> None:
    assert host_problem(host) == ""
    assert variable_name(host, "PASSWORD") == f"SKILLPM_OCI_{name}_PASSWORD"


def test_no_two_short_hosts_share_a_variable() -> None:
    """Every host of at most six of the characters that were folded, two letters and a digit: millions of pairs."""
    hosts = [
        host
        for length in range(1, 7)
        for characters in itertools.product("a1.-_:", repeat=length)
        if not host_problem(host := "".join(characters))
    ]

    assert len(hosts) > 10_000
    assert len({variable_name(host, "PASSWORD") for host in hosts}) == len(hosts)


SEPARATORS = (".", "-", "_", "--", "-.", ".-", "_.", ":", ".xn--", "-port-", ".port.", "_2e", "2d")
LABELS = (
    "a",
    "b2",
    "5000",
    "registry",
    "REGISTRY",
    "xn--mnchen-3ya",
    "münchen",
    "g\u0131thub",
    "github",
    "test",
    "0",
    "1",
)


def random_host(chance: random.Random) -> str:
    """Return a host that differs from others in what joins its labels, most of all."""
    while True:
        labels = chance.choices(LABELS, k=chance.randint(1, 5))
        host = labels[0] + "".join(chance.choice(SEPARATORS) + label for label in labels[1:])
        host += chance.choice(("", "", ".", ":5000", ":05000", ":443"))
        if not host_problem(host):
            return host


def comparable(host: str) -> str:
    """Return a host in the form in which two spellings of it are equal."""
    name, colon, port = host.lower().partition(":")
    return (name if name.isascii() else name.encode("idna").decode()) + colon + port


def test_ten_thousand_pairs_of_different_hosts_share_no_variable() -> None:
    chance = random.Random(20261126)
    pairs = 0
    while pairs < 10_000:
        first, second = random_host(chance), random_host(chance)
        is_same_host = comparable(first) == comparable(second)
        pairs += not is_same_host
        for part in ("USERNAME", "PASSWORD"):
            is_same_name = variable_name(first, part) == variable_name(second, part)
            assert is_same_name == is_same_host, (first, second)
        assert variable_name(first, "USERNAME") != variable_name(second, "PASSWORD")


@pytest.fixture
def names(tmp_path: Path) -> NameServer:
    """Two names of this machine, of which an attacker can register one."""
    answers = {"my.registry.test": [["127.0.0.1"]], "my-registry.test": [["127.0.0.1"]]}
    return NameServer(tmp_path / "names", answers)


def install(registry: OciRegistry, sandbox: Sandbox, names: NameServer, host: str, env: dict[str, str]) -> str:
    """Install a skill from a host, and return what the command says."""
    port = registry.host.partition(":")[2]
    words = ("install", f"oci://{host}:{port}/acme/pdf", "--allow-insecure-host", host, "-q")
    return sandbox.run(*words, env={**names.environment, **env}).error_output


def test_a_password_does_not_go_to_a_host_of_a_similar_name(
    registry: OciRegistry, sandbox: Sandbox, names: NameServer
) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN
    port = registry.host.partition(":")[2]
    old, new = f"SKILLPM_OCI_MY_REGISTRY_TEST_{port}", f"SKILLPM_OCI_MY__REGISTRY_TEST_{port}"
    env = {f"{old}_USERNAME": "ada", f"{old}_PASSWORD": "hunter2"}

    assert install(registry, sandbox, names, "my.registry.test", env) == ""
    sandbox.run("uninstall", "pdf", check=True)
    registry.clear_requests()

    assert install(registry, sandbox, names, "my-registry.test", env) == (
        f"error: {old}_PASSWORD is not sent to my-registry.test:{port}: its name can also stand for another host\n"
        f"  hint: if it is for my-registry.test:{port}, rename it to {new}_PASSWORD; if not, set that one to an empty "
        "value\n"
    )
    assert {request.authorization for request in registry.requests} == {""}

    only_password = {f"{old}_USERNAME": "ada", f"{new}_PASSWORD": "hunter2"}
    assert install(registry, sandbox, names, "my-registry.test", only_password).splitlines()[0] == (
        f"error: {old}_USERNAME is not sent to my-registry.test:{port}: its name can also stand for another host"
    )
    assert {request.authorization for request in registry.requests} == {""}

    renamed = {f"{new}_USERNAME": "ada", f"{new}_PASSWORD": "hunter2"}
    assert install(registry, sandbox, names, "my-registry.test", renamed) == ""


def test_an_empty_variable_says_that_a_host_needs_no_login(
    registry: OciRegistry, sandbox: Sandbox, names: NameServer
) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.login = LOGIN
    port = registry.host.partition(":")[2]
    env = {
        f"SKILLPM_OCI_MY_REGISTRY_TEST_{port}_PASSWORD": "hunter2",
        f"SKILLPM_OCI_MY__REGISTRY_TEST_{port}_PASSWORD": "",
    }

    assert install(registry, sandbox, names, "my-registry.test", env).splitlines()[0] == (
        f"error: oci://my-registry.test:{port}/acme/pdf: access denied: the registry requires a login"
    )
    assert {request.authorization for request in registry.requests} == {""}
