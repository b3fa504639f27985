"""Against Debian's docker-registry, with TLS and a password; and what skopeo makes of what was pushed."""

import json
import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from kit import Sandbox, make_skill, prefix_paths
from oci.debian_registry import PROGRAM, DebianRegistry

SKOPEO = shutil.which("skopeo")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="needs docker-registry: apt-get install docker-registry"),
]


@pytest.fixture
def real(tmp_path: Path) -> Iterator[DebianRegistry]:
    with DebianRegistry(tmp_path / "registry") as real:
        yield real


def write_skill(sandbox: Sandbox, name: str, version: str, body: str = "Do it.\n") -> None:
    files = make_skill(name, body=body, metadata={"version": version}) | {"scripts/run.py": "print()\n"}
    sandbox.write_files(prefix_paths(f"skills/{name}", files))


def test_a_life_of_a_skill(real: DebianRegistry, sandbox: Sandbox) -> None:
    env, spec = real.environment("s3cret"), f"oci://{real.host}/acme/pdf"
    write_skill(sandbox, "pdf", "1.0.0")

    sandbox.run("push", "skills/pdf", spec, "--tag", "latest", env=env, check=True)
    sandbox.run("install", spec, env=env, check=True)
    write_skill(sandbox, "pdf", "1.1.0", "Do it better.\n")
    sandbox.run("push", "skills/pdf", spec, env=env, check=True)
    refused = sandbox.run("install", spec, env=real.environment("wrong"))
    outdated = sandbox.run("outdated", env=env, check=True)
    sandbox.run("update", env=env, check=True)
    other = Sandbox(sandbox.root / "other")
    for file in ("skills.json", "skills.lock"):
        other.write(file, sandbox.read(file))
    other.run("sync", "--frozen", env=env, check=True)

    assert refused.error_output.splitlines()[0] == f"error: {spec}: access denied: the registry rejects the login"
    assert outdated.stdout == "skill  current  wanted  latest\npdf    1.0.0    1.1.0   1.1.0\n"
    assert other.render_tree(".agent-skills/pdf") == sandbox.render_tree("skills/pdf")


def test_a_tag_moves_and_a_manifest_is_deleted(real: DebianRegistry, sandbox: Sandbox) -> None:
    env, spec = real.environment("s3cret"), f"oci://{real.host}/acme/pdf"
    write_skill(sandbox, "pdf", "1.0.0")
    sandbox.run("push", "skills/pdf", spec, "--tag", "stable", env=env, check=True)
    sandbox.run("install", f"{spec}:stable", env=env, check=True)
    before = json.loads(sandbox.read("skills.lock"))["skills"]["pdf"]["source"]["manifest"]
    write_skill(sandbox, "pdf", "1.1.0", "Do it better.\n")
    sandbox.run("push", "skills/pdf", spec, "--tag", "stable", env=env, check=True)

    moved = sandbox.run("outdated", env=env, check=True)
    # All tags of a manifest go with it.
    address = f"https://{real.host}/v2/acme/pdf/manifests/{before}"
    trusted = ssl.create_default_context(cafile=str(real.company.certificate_file))
    httpx.delete(address, auth=("ann", "s3cret"), verify=trusted).raise_for_status()
    other = Sandbox(sandbox.root / "other")
    for file in ("skills.json", "skills.lock"):
        other.write(file, sandbox.read(file))
    gone = other.run("sync", "--frozen", env=env)

    assert moved.error_output.startswith(f"pdf: tag stable moved {before[:19]}… → sha256:")
    assert gone.error_output == (
        f"error: {spec}@{before} does not exist\n  skills: pdf\n"
        "  hint: it may have been deleted: `skillpm update` locks what is there now\n"
    )


@pytest.mark.skipif(SKOPEO is None, reason="needs skopeo: apt-get install skopeo")
@pytest.mark.parametrize("image", [False, True])
def test_what_skopeo_copies_stays_the_same(real: DebianRegistry, sandbox: Sandbox, *, image: bool) -> None:
    env, spec = real.environment("s3cret"), f"oci://{real.host}/acme/pdf"
    write_skill(sandbox, "pdf", "1.0.0")
    sandbox.run("push", "skills/pdf", spec, *(["--image"] if image else []), env=env, check=True)
    login = ["--src-creds", "ann:s3cret", "--dest-creds", "ann:s3cret"]

    subprocess.run(
        [
            *(str(SKOPEO), "copy", "--quiet", "--all", "--preserve-digests", *login),
            *("--src-tls-verify=false", "--dest-tls-verify=false"),
            *(f"docker://{real.host}/acme/pdf:1.0.0", f"docker://{real.host}/mirror/pdf:1.0.0"),
        ],
        check=True,
        env={**os.environ, "HOME": str(sandbox.home)},
    )
    for repository in ("acme", "mirror"):
        sandbox.run("install", f"oci://{real.host}/{repository}/pdf", "--as", repository, env=env, check=True)

    locked = json.loads(sandbox.read("skills.lock"))["skills"]
    pins = [{**locked[name]["source"], "oci": ""} for name in ("acme", "mirror")]
    assert pins[0] == pins[1]
    assert locked["acme"]["digest"] == locked["mirror"]["digest"]
