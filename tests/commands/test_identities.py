"""Rules that trust an identity of sigstore. Honest bundles of sigstore.dev are verified by `bench/signatures.py`."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from commands.scene import CommandSandbox
from commands.test_signatures import PDF, publish, sign
from kit import Repository
from kit.signing import Key

from skillpm.formats.trust.trust_rules import TrustRule

IDENTITY, ISSUER = "ada@acme.example", "https://login.acme.example"
TRUSTED_ROOT = next((Path(str(files("sigstore"))) / "_store").glob("*sigstore.dev/trusted_root.json"))


def trust(sandbox: CommandSandbox, **changes: str) -> None:
    folder = sandbox.home / ".config/skillpm"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trusted_root.json").write_bytes(TRUSTED_ROOT.read_bytes())
    keys = {"identity": IDENTITY, "issuer": ISSUER, "trusted-root": "trusted_root.json", **changes}
    lines = [f"{key} = {json.dumps(text)}" for key, text in keys.items() if text]
    (folder / "config.toml").write_text("\n".join(['[[trust]]\nsource = "*"\nrequired = true', *lines, ""]))


def problem(sandbox: CommandSandbox, url: str) -> str:
    result = sandbox.run("install", f"{url}@pdf", "--json")
    return str(result.json["error"]["problems"][0]["message"].partition(" (from")[0])


def certify(skill: dict[str, bytes]) -> dict[str, bytes]:
    """Make a signature look as if a certificate for an identity had been issued for it."""
    bundle: dict[str, Any] = json.loads(skill["skill.oms.sig"])
    material = bundle["verificationMaterial"]
    material["certificate"] = material.pop("x509CertificateChain")["certificates"][0]
    return {**skill, "skill.oms.sig": json.dumps(bundle).encode()}


def test_a_certificate_of_somebody_else_is_refused(project: CommandSandbox, url: str, upstream: Repository) -> None:
    publish(upstream, certify(sign(PDF, Key.root().issue(IDENTITY))))
    trust(project)
    assert problem(project, url).startswith(f"it is not signed by {IDENTITY}: ")


@pytest.mark.parametrize("key", [Key(), Key.root().issue(IDENTITY)], ids=["key", "certificate"])
def test_another_kind_of_signature_is_refused(
    project: CommandSandbox, url: str, upstream: Repository, key: Key
) -> None:
    publish(upstream, sign(PDF, key))
    trust(project)
    assert problem(project, url).startswith(f"it is not signed by {IDENTITY}: ")


def test_an_unsigned_skill_is_refused(project: CommandSandbox, url: str) -> None:
    trust(project)
    assert problem(project, url) == "it is not signed: there is no skill.oms.sig"


@pytest.mark.parametrize("missing", ["identity", "issuer", "trusted-root"])
def test_a_rule_needs_all_three(project: CommandSandbox, url: str, missing: str) -> None:
    trust(project, **{missing: ""})
    assert project.output("install", f"{url}@pdf") == (
        f"! error: `{missing}` is missing\n!   where: HOME/.config/skillpm/config.toml:1:1: trust.0\n"
        "!   hint: fix the file by hand, or restore it from version control\n[1]\n"
    )


def test_a_trust_root_that_is_none_is_an_error(project: CommandSandbox, url: str, upstream: Repository) -> None:
    publish(upstream, sign(PDF))
    trust(project)
    (project.home / ".config/skillpm/trusted_root.json").write_text("{}")
    assert project.output("install", f"{url}@pdf") == (
        "! error: not a trust root of sigstore (trusted_root.json)\n"
        "!   where: HOME/.config/skillpm/trusted_root.json\n[1]\n"
    )


def test_the_fingerprint_separates_issuer_and_identity() -> None:
    def fingerprint(identity: str, issuer: str) -> str:
        return TrustRule(source="*", identity=identity, issuer=issuer).identity_fingerprint

    assert fingerprint("b", "a") != fingerprint("a", "b")
    assert fingerprint('b","c', "a") != fingerprint("c", 'a","b')
