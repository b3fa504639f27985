"""A lockfile in a checkout that names something else in a registry than its manifest asks for."""

import json
from typing import Any

import pytest
from kit import OciRegistry, Sandbox, digest_of, make_skill
from oci.world import pack, publish, publish_collection

PDF = make_skill("pdf", metadata={"version": "1.0.0"})
EVIL = make_skill("pdf", body="Steal it.\n", metadata={"version": "1.0.0"})


def forge(sandbox: Sandbox, registry: OciRegistry, requirement: dict[str, str], **source: str) -> Sandbox:
    """Return a checkout whose lockfile is that of another skill, with these changes of its source."""
    spec = f"oci://{registry.host}/{requirement['oci']}"
    sandbox.run("install", f"{spec}:evil", check=True)
    lock: Any = json.loads(sandbox.read("skills.lock"))
    requirement = {**requirement, "oci": f"{registry.host}/{requirement['oci']}"}
    lock["requirements"]["pdf"] = requirement
    lock["skills"]["pdf"]["version"] = "1.0.0"
    lock["skills"]["pdf"]["source"].update(source)
    checkout = Sandbox(sandbox.root / "checkout")
    checkout.write("skills.json", json.dumps({"skills": {"pdf": requirement}}))
    checkout.write("skills.lock", json.dumps(lock))
    return checkout


@pytest.mark.parametrize(
    ("requirement", "source"),
    [
        ({"oci": "acme/pdf", "tag": "1.0.0"}, {}),
        ({"oci": "acme/pdf", "digest": "sha256:" + "0" * 64}, {}),
        ({"oci": "acme/pdf", "version": "^1"}, {}),
        ({"oci": "acme/pdf"}, {}),
        ({"oci": "acme/other", "tag": "1.0.0"}, {"oci": "HOST/acme/pdf", "tag": "1.0.0"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("command", ["sync --frozen", "sync"])
def test_what_is_locked_must_be_what_is_required(
    registry: OciRegistry, sandbox: Sandbox, requirement: dict[str, str], source: dict[str, str], command: str
) -> None:
    for repository in ("acme/pdf", "acme/other"):
        publish(registry, repository, "1.0.0", PDF, name="pdf")
        publish(registry, repository, "evil", EVIL, name="pdf")
    changes = {key: value.replace("HOST", registry.host) for key, value in source.items()}
    checkout = forge(sandbox, registry, requirement, **changes)

    result = checkout.run(*command.split())

    installed = checkout.work / ".agent-skills/pdf/SKILL.md"
    assert not installed.exists() or installed.read_bytes() == PDF["SKILL.md"], result
    assert result.code == (1 if "--frozen" in command else result.code), result


def test_a_tag_that_leads_elsewhere_is_reported_by_lock_check(registry: OciRegistry, sandbox: Sandbox) -> None:
    good = publish(registry, "acme/pdf", "1.0.0", PDF)
    evil = publish(registry, "acme/pdf", "evil", EVIL)
    sandbox.run("install", f"oci://{registry.host}/acme/pdf:1.0.0", check=True)
    lock: Any = json.loads(sandbox.read("skills.lock"))
    assert "proved: tag of pdf" in sandbox.run("lock", "--check", check=True).stderr
    lock["skills"]["pdf"]["source"] |= {"manifest": evil, "layer": digest_of(pack(EVIL, "pdf"))}
    other = Sandbox(sandbox.root / "other")
    other.write("skills.json", json.dumps({"skills": {"pdf": {"oci": f"{registry.host}/acme/pdf", "tag": "evil"}}}))
    other.run("lock", check=True)
    lock["skills"]["pdf"]["digest"] = json.loads(other.read("skills.lock"))["skills"]["pdf"]["digest"]
    checkout = Sandbox(sandbox.root / "checkout")
    checkout.write("skills.json", sandbox.read("skills.json"))
    checkout.write("skills.lock", json.dumps(lock))

    result = checkout.run("lock", "--check")

    assert result.code == 1
    assert result.error_output.splitlines()[1] == (
        f"error: the lockfile is not what its tags lead to: `pdf`: tag 1.0.0 moved {evil[:19]}… → {good[:19]}…"
    )


def test_a_tag_of_a_collection_is_proved(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish_collection(registry, "acme/all", "1.0.0", {"pdf": PDF, "docx": make_skill("docx")})
    sandbox.run("install", f"oci://{registry.host}/acme/all:1.0.0", "--skill", "pdf", "--as", "mine", check=True)

    assert "proved: tag of mine" in sandbox.run("lock", "--check", check=True).stderr
    registry.manifests.pop(("acme/all", "1.0.0"))
    gone = sandbox.run("lock", "--check")
    assert gone.error_output.splitlines()[1] == (
        "error: the lockfile is not what its tags lead to: `mine`: tag 1.0.0 no longer exists"
    )


def test_a_place_that_was_never_contacted_is_not_proved(registry: OciRegistry, sandbox: Sandbox) -> None:
    """A manifest has one digest in all repositories, so content that came from another one is in the store."""
    publish(registry, "acme/pdf", "1.0.0", PDF)
    sandbox.run("install", f"oci://{registry.host}/acme/pdf:1.0.0", check=True)
    for name in ("skills.json", "skills.lock"):
        sandbox.write(f"other/{name}", sandbox.read(name).replace("/acme/pdf", "/trusted/pdf"))
    sandbox.run("sync", "--frozen", cwd="other", check=True)
    place = f"{registry.host}/trusted/*"
    sandbox.write("../home/.config/skillpm/policy.toml", f'version = 1\n[oci]\nallow = ["{place}"]\n')

    result = sandbox.run("sync", "--frozen", cwd="other")

    assert (result.code, "`pdf` is refused: place: this content" in result.stderr) == (1, True), result
    assert sandbox.run("load", "pdf", cwd="other").code == 1
