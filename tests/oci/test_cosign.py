"""cosign signatures of skills in a registry, as its specification has them, made and verified by `openssl`, too."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from kit import OciRegistry, Sandbox, digest_of, make_skill, prefix_paths
from kit.signing import Key
from oci.world import MANIFEST, descriptor, publish

from skillpm.trust.anchors import fingerprint

PDF = make_skill("pdf", metadata={"version": "1.0.0"})
SIGNED = "application/vnd.dev.cosign.simplesigning.v1+json"
ANNOTATION = "dev.cosignproject.cosign/signature"
KEY, OTHER_KEY = Key(), Key()
FINGERPRINT = fingerprint(KEY.private.public_key())


def write_config(sandbox: Sandbox, key: Key = KEY) -> None:
    folder = sandbox.home / ".config/skillpm"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "acme.pub").write_bytes(key.public_pem)
    (folder / "config.toml").write_text(
        '[[trust]]\nsource = "127.0.0.1:*/acme/*"\nkeys = ["acme.pub"]\nrequired = true\n'
    )


def payload_of(digest: str, kind: str = "cosign container image signature") -> bytes:
    """Return a payload as cosign writes it: `cosign generate`."""
    image = f'"image":{{"docker-manifest-digest":"{digest}"}}'
    return (
        f'{{"critical":{{"identity":{{"docker-reference":"acme"}},{image},"type":"{kind}"}},"optional":null}}'.encode()
    )


def sign(folder: Path, payload: bytes, key: Key = KEY) -> str:
    """Return the signature of `openssl dgst -sha256 -sign` in base64, as `cosign sign-blob` prints it."""
    (folder / "openssl.key").write_bytes(key.encrypted(None))
    command = ["openssl", "dgst", "-sha256", "-sign", str(folder / "openssl.key")]
    return base64.b64encode(subprocess.run(command, input=payload, capture_output=True, check=True).stdout).decode()


def attach(registry: OciRegistry, digest: str, *signed: tuple[bytes, str], **more: Any) -> None:
    """Attach signatures to a manifest: payloads, and their signatures in base64."""
    layers = [descriptor(SIGNED, payload, annotations={ANNOTATION: text}) for payload, text in signed]
    for payload, _ in signed:
        registry.add_blob("acme/pdf", payload)
    value = {"schemaVersion": 2, "mediaType": MANIFEST, "config": descriptor("x", b"{}"), "layers": layers, **more}
    registry.add_manifest("acme/pdf", f"{digest.replace(':', '-')}.sig", value)


def locked_signer(sandbox: Sandbox) -> str:
    return str(json.loads(sandbox.read("skills.lock"))["skills"]["pdf"].get("signer", ""))


def refusal(sandbox: Sandbox, registry: OciRegistry) -> str:
    """Return why the skill is refused."""
    result = sandbox.run("install", f"oci://{registry.host}/acme/pdf", "--json")
    assert result.code == 1
    (problem,) = result.json["error"]["problems"]
    return str(problem["message"].partition(" (from")[0])


UNSIGNED = "it is not signed: there is no skill.oms.sig"


def test_a_signature_of_a_trusted_key_suffices(registry: OciRegistry, sandbox: Sandbox, tmp_path: Path) -> None:
    digest = publish(registry, "acme/pdf", "1.0.0", PDF)
    payload = payload_of(digest)
    attach(registry, digest, (payload, sign(tmp_path, payload, OTHER_KEY)), (payload, sign(tmp_path, payload)))
    write_config(sandbox)

    sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)

    assert locked_signer(sandbox) == FINGERPRINT
    assert sandbox.run("verify").code == 0


def test_without_a_signature_it_is_refused(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    write_config(sandbox)
    assert refusal(sandbox, registry) == f"{UNSIGNED}; its manifest has no cosign signature"


def test_another_key_is_refused(registry: OciRegistry, sandbox: Sandbox, tmp_path: Path) -> None:
    digest = publish(registry, "acme/pdf", "1.0.0", PDF)
    payload = payload_of(digest)
    attach(registry, digest, (payload, sign(tmp_path, payload, OTHER_KEY)))
    write_config(sandbox)
    assert refusal(sandbox, registry) == f"{UNSIGNED}; its cosign signature is not of a trusted key"


def test_the_signature_of_another_manifest_is_refused(registry: OciRegistry, sandbox: Sandbox, tmp_path: Path) -> None:
    old = publish(registry, "acme/pdf", "0.9.0", make_skill("pdf"))
    digest = publish(registry, "acme/pdf", "1.0.0", PDF)
    payload = payload_of(old)
    attach(registry, digest, (payload, sign(tmp_path, payload)))
    write_config(sandbox)
    assert refusal(sandbox, registry) == f"{UNSIGNED}; its cosign signature is that of another manifest"


@pytest.mark.parametrize("change", ["kind", "json", "binary"])
def test_a_signature_over_something_else_is_refused(
    registry: OciRegistry, sandbox: Sandbox, tmp_path: Path, change: str
) -> None:
    digest = publish(registry, "acme/pdf", "1.0.0", PDF)
    payload = {"kind": payload_of(digest, "atomic container signature"), "json": b"{}", "binary": b"\xff"}[change]
    attach(registry, digest, (payload, sign(tmp_path, payload)))
    write_config(sandbox)
    assert refusal(sandbox, registry) == f"{UNSIGNED}; its cosign signature is over something else than a manifest"


def test_a_payload_that_is_not_the_signed_one_is_refused(
    registry: OciRegistry, sandbox: Sandbox, tmp_path: Path
) -> None:
    digest = publish(registry, "acme/pdf", "1.0.0", PDF)
    payload = payload_of(digest)
    attach(registry, digest, (payload + b" ", sign(tmp_path, payload)))
    write_config(sandbox)
    assert refusal(sandbox, registry) == f"{UNSIGNED}; its cosign signature is not of a trusted key"


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        (3, "expected an array, got 3"),
        ([{"digest": "sha256:00", "size": 5, "annotations": {ANNOTATION: ""}, "mediaType": SIGNED}], "a signature has"),
        (
            [{"digest": digest_of(b"x"), "size": 1 << 40, "annotations": {ANNOTATION: ""}, "mediaType": SIGNED}],
            "a signature has an invalid payload",
        ),
        (
            [{"digest": digest_of(b"x"), "size": 1, "annotations": {ANNOTATION: "!"}, "mediaType": SIGNED}],
            "a signature is not base64",
        ),
        (
            [{"digest": digest_of(b"x"), "size": 1000, "annotations": {ANNOTATION: ""}, "mediaType": SIGNED}],
            "does not exist, although its manifest names it",
        ),
        ([{"digest": digest_of(b"x"), "size": 1, "mediaType": "other"}], "its manifest has no cosign signature"),
    ],
    ids=["number", "digest", "size", "base64", "missing", "other"],
)
def test_damaged_signatures_are_refused(registry: OciRegistry, sandbox: Sandbox, layers: Any, expected: str) -> None:
    digest = publish(registry, "acme/pdf", "1.0.0", PDF)
    attach(registry, digest, layers=layers)
    write_config(sandbox)
    assert expected in refusal(sandbox, registry)


@pytest.mark.parametrize("curve", [ec.SECP256R1(), ec.SECP384R1()])
def test_push_signs_the_manifest_as_well(
    registry: OciRegistry, sandbox: Sandbox, tmp_path: Path, curve: ec.EllipticCurve
) -> None:
    key = Key(curve)
    sandbox.write("key.pem", key.pem)
    sandbox.write_files(prefix_paths("skills/pdf", PDF))
    command = ["push", "skills/pdf", f"oci://{registry.host}/acme/pdf", "--sign", "key.pem"]

    sandbox.run(*command, check=True)

    digest = digest_of(registry.manifests["acme/pdf", "1.0.0"][1])
    manifest = json.loads(registry.manifests["acme/pdf", f"{digest.replace(':', '-')}.sig"][1])
    (layer,) = manifest["layers"]
    payload = registry.blobs["acme/pdf", layer["digest"]]
    assert json.loads(payload) == {
        "critical": {
            "identity": {"docker-reference": f"{registry.host}/acme/pdf"},
            "image": {"docker-manifest-digest": digest},
            "type": "cosign container image signature",
        },
        "optional": None,
    }
    (tmp_path / "key.pub").write_bytes(key.public_pem)
    (tmp_path / "sig").write_bytes(base64.b64decode(layer["annotations"][ANNOTATION]))
    words = ["openssl", "dgst", "-sha256", "-verify", str(tmp_path / "key.pub"), "-signature", str(tmp_path / "sig")]
    assert subprocess.run(words, input=payload, capture_output=True, check=True).stdout == b"Verified OK\n"
    write_config(sandbox, key)
    sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)
    assert sandbox.exists(".agent-skills/pdf/skill.oms.sig")
    again = sandbox.run(*command, check=True)
    assert again.stdout.endswith("nothing to push: 1 tag already published\n")


def test_push_keeps_the_signatures_of_others(registry: OciRegistry, sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.write("key.pem", KEY.pem)
    sandbox.write_files(prefix_paths("skills/pdf", PDF))
    command = ["push", "skills/pdf", f"oci://{registry.host}/acme/pdf", "--sign", "key.pem"]
    sandbox.run(*command, check=True)
    digest = digest_of(registry.manifests["acme/pdf", "1.0.0"][1])
    payload = payload_of(digest)
    attach(registry, digest, (payload, sign(tmp_path, payload, OTHER_KEY)))

    sandbox.run(*command, check=True)

    layers = json.loads(registry.manifests["acme/pdf", f"{digest.replace(':', '-')}.sig"][1])["layers"]
    assert [layer["digest"] == digest_of(payload) for layer in layers] == [True, False]


def test_a_signed_version_is_published_already_also_without_its_signature(
    registry: OciRegistry, sandbox: Sandbox
) -> None:
    sandbox.write("key.pem", KEY.pem)
    sandbox.write_files(prefix_paths("skills/pdf", PDF))
    command = ["push", "skills/pdf", f"oci://{registry.host}/acme/pdf"]
    sandbox.run(*command, "--sign", "key.pem", check=True)
    before = {**registry.manifests}

    assert sandbox.run(*command, check=True).stdout.endswith("nothing to push: 1 tag already published\n")
    assert registry.manifests == before


def test_a_dry_run_signs_nothing(registry: OciRegistry, sandbox: Sandbox) -> None:
    sandbox.write("key.pem", KEY.pem)
    sandbox.write_files(prefix_paths("skills/pdf", PDF))
    sandbox.run("push", "skills/pdf", f"oci://{registry.host}/acme/pdf", "--sign", "key.pem", "--dry-run", check=True)
    assert registry.manifests == {}


def test_an_image_is_signed_for_each_platform(registry: OciRegistry, sandbox: Sandbox) -> None:
    sandbox.write("key.pem", KEY.pem)
    sandbox.write_files(prefix_paths("skills/pdf", PDF))
    sandbox.run("push", "skills/pdf", f"oci://{registry.host}/acme/pdf", "--image", "--sign", "key.pem", check=True)
    top = registry.manifests["acme/pdf", "1.0.0"][1]
    digests = {digest_of(top), *(entry["digest"] for entry in json.loads(top)["manifests"])}
    tags = {tag for _, tag in registry.manifests if tag.endswith(".sig")}
    assert tags == {f"{digest.replace(':', '-')}.sig" for digest in digests}
