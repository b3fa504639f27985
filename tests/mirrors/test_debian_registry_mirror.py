"""A mirror in Debian's docker-registry, with TLS and a password."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from mirrors.world import Machine, Origins
from oci.debian_registry import PROGRAM, DebianRegistry

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="needs docker-registry: apt-get install docker-registry"),
]


@pytest.fixture
def real(tmp_path: Path) -> Iterator[DebianRegistry]:
    with DebianRegistry(tmp_path / "registry") as real:
        yield real


def test_an_empty_machine_gets_the_same_bytes_while_every_origin_is_off(
    origins: Origins, first: Machine, real: DebianRegistry
) -> None:
    env, address = real.environment("s3cret"), f"oci://{real.host}/acme/mirror"
    copied = first.run("mirror", "skills.lock", address, env=env, check=True)
    again = first.run("mirror", "skills.lock", address, env=env, check=True)
    origins.count_requests()
    beside = origins.clone("beside")
    beside.run("sync", "--frozen", env={**env, "SKILLPM_REPLACE": address}, check=True)
    origin_requests = origins.count_requests()
    origins.switch_off()
    other = origins.clone("other")

    denied = other.run("sync", "--frozen", env={**real.environment("wrong"), "SKILLPM_REPLACE": address})
    other.run("sync", "--frozen", env={**env, "SKILLPM_REPLACE": address}, check=True)

    assert copied.stdout.splitlines()[-1] == f"copied 4 of 4 skills to {address}"
    assert again.stdout.splitlines()[-1] == f"copied 0 of 4 skills to {address}"
    assert origin_requests == 0
    assert denied.error_output.splitlines()[0] == f"error: {address}: access denied: the registry rejects the login"
    assert beside.skills == other.skills == first.skills
    assert other.read("skills.lock") == first.read("skills.lock")
