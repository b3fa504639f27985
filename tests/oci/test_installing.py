"""Skills in OCI registries: how they are found, locked, updated and fetched, and what that costs."""

import json
from typing import Any

import pytest
from kit import OciRegistry, Sandbox, digest_of, make_skill
from oci.world import (
    INDEX,
    MANIFEST,
    descriptor,
    manifest_of,
    pack,
    publish,
    publish_collection,
    requests_of,
)

PDF = make_skill("pdf")
OTHER_PDF = make_skill("pdf", body="Do it better.\n")


def lock_of(sandbox: Sandbox, name: str) -> Any:
    return json.loads(sandbox.read("skills.lock"))["skills"][name]


def requirement_of(sandbox: Sandbox, name: str) -> Any:
    return json.loads(sandbox.read("skills.json"))["skills"][name]


def test_the_newest_version_is_installed_and_locked_by_three_digests(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.9.0", OTHER_PDF)
    newest = publish(registry, "acme/pdf", "1.10.0", PDF)
    publish(registry, "acme/pdf", "latest", OTHER_PDF)

    result = sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)

    assert result.stdout.splitlines()[0] == " + pdf 1.10.0"
    assert requirement_of(sandbox, "pdf") == {"oci": f"{registry.host}/acme/pdf"}
    locked = lock_of(sandbox, "pdf")
    assert locked["source"] == {
        "oci": f"{registry.host}/acme/pdf",
        "tag": "1.10.0",
        "manifest": newest,
        "layer": digest_of(pack(PDF, "pdf")),
    }
    assert requests_of(registry) == [
        "GET /v2/acme/pdf/blobs/sha256:…",
        "GET /v2/acme/pdf/manifests/1.10.0",
        "GET /v2/acme/pdf/tags/list",
    ]


@pytest.mark.parametrize(
    ("spec", "requirement", "version"),
    [
        (":1.0.0", {"tag": "1.0.0"}, "1.0.0"),
        (":latest", {"tag": "latest"}, ""),
        ("@^1.0", {"version": "^1.0"}, "1.2.0"),
        ("@>=1,<1.1", {"version": ">=1,<1.1"}, "1.0.0"),
        ("@2.0.0+linux.1", {"version": "2.0.0+linux.1"}, "2.0.0+linux.1"),
    ],
)
def test_a_spec_names_a_tag_or_a_range(
    registry: OciRegistry, sandbox: Sandbox, spec: str, requirement: dict[str, str], version: str
) -> None:
    for tag in ("1.0.0", "v1.2.0", "2.0.0_linux.1", "latest", "nightly"):
        publish(registry, "acme/pdf", tag, make_skill("pdf", body=f"{tag}\n"))

    sandbox.run("install", f"oci://{registry.host}/acme/pdf{spec}", check=True)

    assert requirement_of(sandbox, "pdf") == {"oci": f"{registry.host}/acme/pdf", **requirement}
    assert lock_of(sandbox, "pdf").get("version", "") == version


def test_a_digest_names_one_manifest(registry: OciRegistry, sandbox: Sandbox) -> None:
    wanted = publish(registry, "acme/pdf", "1.0.0", PDF)
    publish(registry, "acme/pdf", "1.0.0", OTHER_PDF)

    sandbox.run("install", f"oci://{registry.host}/acme/pdf@{wanted}", check=True)

    assert requirement_of(sandbox, "pdf") == {"oci": f"{registry.host}/acme/pdf", "digest": wanted}
    assert sandbox.read(".agent-skills/pdf/SKILL.md").encode() == PDF["SKILL.md"]


def clone(sandbox: Sandbox, name: str) -> Sandbox:
    """Return another machine with a checkout of the same project."""
    other = Sandbox(sandbox.root / name)
    for file in ("skills.json", "skills.lock"):
        other.write(file, sandbox.read(file))
    return other


def test_a_cold_frozen_sync_costs_a_manifest_and_a_blob_a_skill_and_a_warm_one_nothing(
    registry: OciRegistry, sandbox: Sandbox
) -> None:
    for name in ("docx", "pdf"):
        publish(registry, f"acme/{name}", "1.0.0", make_skill(name))
        sandbox.run("install", f"oci://{registry.host}/acme/{name}", check=True)
    other = clone(sandbox, "other")
    registry.clear_requests()

    other.run("sync", "--frozen", check=True)
    cold = requests_of(registry)
    registry.clear_requests()
    other.run("sync", "--frozen", check=True)

    assert other.render_tree(".agent-skills/pdf") == sandbox.render_tree(".agent-skills/pdf")
    assert cold == [
        "GET /v2/acme/docx/blobs/sha256:…",
        "GET /v2/acme/docx/manifests/sha256:…",
        "GET /v2/acme/pdf/blobs/sha256:…",
        "GET /v2/acme/pdf/manifests/sha256:…",
    ]
    assert requests_of(registry) == []


def test_without_network_what_is_missing_is_named(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)
    other = clone(sandbox, "other")
    registry.clear_requests()

    frozen = other.run("sync", "--frozen", "--offline")
    new = other.run("install", f"oci://{registry.host}/acme/docx", "--offline")

    assert frozen.code == 1
    assert frozen.error_output == (
        f"error: not cached, and the network is disabled: pdf (oci://{registry.host}/acme/pdf:1.0.0)\n"
        "  hint: run the same command once without --offline\n"
    )
    assert new.code == 1
    assert new.error_output == (
        f"error: not cached, and the network is disabled: oci://{registry.host}/acme/docx\n"
        "  hint: run the same command once without --offline\n"
    )
    assert requests_of(registry) == []


def test_without_network_tags_and_manifests_are_as_they_were_last_read(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    spec = f"oci://{registry.host}/acme/pdf"
    sandbox.run("install", spec, check=True)
    publish(registry, "acme/pdf", "1.1.0", OTHER_PDF)
    outdated = sandbox.run("outdated", check=True)
    registry.clear_requests()

    assert outdated.stdout == "skill  current  wanted  latest\npdf    1.0.0    1.1.0   1.1.0\n"
    assert sandbox.run("outdated", "--offline") == outdated
    sandbox.run("uninstall", "pdf", check=True)
    assert sandbox.run("install", f"{spec}:1.0.0", "--offline", check=True).stdout.startswith(" + pdf 1.0.0\n")
    assert sandbox.run("update", "--offline", check=True).stdout.startswith("nothing to do")
    assert requests_of(registry) == []


def test_a_layer_that_was_downloaded_before_is_not_downloaded_again(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    publish(registry, "mirror/pdf", "1.0.0", PDF)
    sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)
    other = clone(sandbox, "other")
    other.write("skills.json", '{"skills": {}}\n')
    (other.work / "skills.lock").unlink()
    registry.clear_requests()

    other.run(
        "install", f"oci://{registry.host}/mirror/pdf",
        env={"SKILLPM_CACHE_DIR": sandbox.environment()["SKILLPM_CACHE_DIR"]}, check=True,
    )  # fmt: skip

    assert requests_of(registry) == ["GET /v2/mirror/pdf/manifests/1.0.0", "GET /v2/mirror/pdf/tags/list"]
    assert other.render_tree(".agent-skills/pdf") == sandbox.render_tree(".agent-skills/pdf")


def test_an_update_within_the_range_and_nothing_new_costs_two_requests(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    sandbox.run("install", f"oci://{registry.host}/acme/pdf@^1", check=True)
    registry.clear_requests()
    assert sandbox.run("outdated", check=True).stdout == ""
    assert sandbox.run("update", check=True).code == 0
    nothing_new = requests_of(registry)

    publish(registry, "acme/pdf", "1.1.0", OTHER_PDF)
    publish(registry, "acme/pdf", "2.0.0", OTHER_PDF)
    outdated = sandbox.run("outdated", check=True)
    updated = sandbox.run("update", check=True)

    assert nothing_new == ["GET /v2/acme/pdf/manifests/1.0.0"] * 2 + ["GET /v2/acme/pdf/tags/list"] * 2
    assert outdated.stdout == "skill  current  wanted  latest\npdf    1.0.0    1.1.0   2.0.0\n"
    assert updated.stdout.splitlines()[0] == " ~ pdf 1.0.0 → 1.1.0"


def test_a_newer_version_that_cannot_be_had_leads_to_the_reason(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    sandbox.run("install", f"oci://{registry.host}/acme/pdf@^1", check=True)
    publish(registry, "acme/pdf", "1.1.0", make_skill("pdf", metadata={"skill-dependencies": "base>=77"}))

    outdated = sandbox.run("outdated", check=True)

    command = f"skillpm install oci://{registry.host}/acme/pdf@1.1.0 --dry-run"
    assert outdated.stdout == "skill  current  wanted  latest\npdf    1.0.0    1.0.0   1.1.0\n"
    assert outdated.error_output == f"pdf: `{command}` explains what prevents it\n"
    assert "requires `base` >=77, which was not found" in sandbox.run(*command.split()[1:]).error_output


def test_a_tag_that_moved_is_reported_and_followed_only_by_an_update(registry: OciRegistry, sandbox: Sandbox) -> None:
    before = publish(registry, "acme/pdf", "1.0.0", PDF)
    sandbox.run("install", f"oci://{registry.host}/acme/pdf:1.0.0", check=True)
    after = publish(registry, "acme/pdf", "1.0.0", OTHER_PDF)

    outdated = sandbox.run("outdated", check=True)
    sandbox.run("sync", check=True)
    kept = lock_of(sandbox, "pdf")["source"]["manifest"]
    updated = sandbox.run("update", check=True)

    assert kept == before
    assert outdated.stdout == (
        "skill  current  wanted                 latest\npdf    1.0.0    1.0.0 (other content)  1.0.0 (other content)\n"
    )
    moved = f"tag 1.0.0 moved {before[:19]}… → {after[:19]}…"
    assert outdated.error_output == f"pdf: {moved}\n"
    assert updated.stdout.splitlines()[0] == " ~ pdf 1.0.0  (different content)"
    assert updated.error_output == f"warning: pdf: {moved}\n"
    assert lock_of(sandbox, "pdf")["source"]["manifest"] == after


def test_a_manifest_that_was_deleted_is_named(registry: OciRegistry, sandbox: Sandbox) -> None:
    digest = publish(registry, "acme/pdf", "1.0.0", PDF)
    sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)
    registry.manifests.clear()

    result = clone(sandbox, "other").run("sync", "--frozen")

    assert result.code == 1
    assert result.error_output == (
        f"error: oci://{registry.host}/acme/pdf@{digest} does not exist\n  skills: pdf\n"
        "  hint: it may have been deleted: `skillpm update` locks what is there now\n"
    )


def test_another_manifest_under_a_digest_is_refused(registry: OciRegistry, sandbox: Sandbox) -> None:
    digest = publish(registry, "acme/pdf", "1.0.0", PDF)
    sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)
    # With the same layer, so that only the digest of the manifest tells.
    other = publish(registry, "acme/pdf", "other", PDF, annotations={"a": "b"})
    registry.manifests["acme/pdf", digest] = registry.manifests["acme/pdf", other]

    result = clone(sandbox, "other").run("sync", "--frozen")

    assert (result.code, result.error_output) == (
        1,
        f"error: oci://{registry.host}/acme/pdf@{digest} does not match its digest: {other}\n"
        "  skills: pdf\n"
        "  hint: the registry, or something before it, is broken or changes content; nothing was installed\n",
    )


def test_one_of_a_collection(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish_collection(registry, "acme/all", "1.0.0", {"docx": make_skill("docx"), "pdf": PDF})
    spec = f"oci://{registry.host}/acme/all:1.0.0"

    listed = sandbox.run("install", spec, "--list", check=True)
    ambiguous = sandbox.run("install", spec)
    unknown = sandbox.run("install", spec, "--skill", "doc")
    sandbox.run("install", spec, "--skill", "docx", check=True)
    sandbox.run("install", spec, "--skill", "pdf", "--as", "my-pdf", check=True)

    assert listed.stdout == "docx  Use for docx.\npdf   Use for pdf.\n"
    assert (ambiguous.code, ambiguous.error_output) == (
        1,
        f"error: `{spec}` contains 2 skills: docx, pdf\n"
        f"  hint: select one with `{spec} --skill docx`, or install all with `--all`\n",
    )
    assert (unknown.code, unknown.error_output) == (
        1,
        f"error: oci://{registry.host}/acme/all has no skill `doc`\n  hint: did you mean `docx`?\n",
    )
    assert requirement_of(sandbox, "docx") == {"oci": f"{registry.host}/acme/all", "tag": "1.0.0"}
    assert requirement_of(sandbox, "my-pdf") == {"oci": f"{registry.host}/acme/all", "tag": "1.0.0", "skill": "pdf"}
    assert clone(sandbox, "other").run("sync", "--frozen").code == 0


def test_a_collection_is_fetched_once_for_all_its_skills(registry: OciRegistry, sandbox: Sandbox) -> None:
    skills = {f"skill-{number}": make_skill(f"skill-{number}") for number in range(12)}
    publish_collection(registry, "acme/all", "1.0.0", skills)

    sandbox.run("install", f"oci://{registry.host}/acme/all@^1", "--all", check=True)
    registry.clear_requests()
    sandbox.run("update", check=True)

    assert requests_of(registry) == [
        "GET /v2/acme/all/manifests/1.0.0",
        *["GET /v2/acme/all/manifests/sha256:…"] * 12,
        "GET /v2/acme/all/tags/list",
    ]


def test_a_collection_named_by_its_digest_must_list_what_is_locked(registry: OciRegistry, sandbox: Sandbox) -> None:
    digest = publish_collection(registry, "acme/all", "1.0.0", {"docx": make_skill("docx"), "pdf": PDF})
    sandbox.run("install", f"oci://{registry.host}/acme/all@{digest}", "--skill", "pdf", check=True)
    foreign = publish(registry, "acme/all", "evil", OTHER_PDF, name="pdf")
    locked = lock_of(sandbox, "pdf")
    forged = clone(sandbox, "other")
    forged.write("skills.lock", sandbox.read("skills.lock").replace(locked["source"]["manifest"], foreign))

    result = forged.run("sync", "--frozen")

    assert locked["source"]["index"] == digest
    assert result.code == 1
    assert result.error_output == (
        f"error: `pdf` is locked to oci://{registry.host}/acme/all@{foreign}, which the index {digest} does not list\n"
        "  where: skills.lock: skills.pdf.source.manifest\n"
        "  hint: check who changed skills.lock\n"
    )


def test_an_image_for_two_platforms_is_one_skill(registry: OciRegistry, sandbox: Sandbox) -> None:
    """The form of ToolHive: an index over an image for each platform, all with the same layer."""
    layer = pack(PDF, "pdf")
    registry.add_blob("acme/pdf", layer)
    entries = []
    for architecture in ("arm64", "amd64"):
        config = {"architecture": architecture, "os": "linux"}
        manifest = json.dumps(manifest_of(layer, config=descriptor("application/json", json.dumps(config).encode())))
        registry.add_manifest("acme/pdf", digest_of(manifest.encode()), manifest.encode())
        entries.append(descriptor(MANIFEST, manifest.encode(), platform={"architecture": architecture, "os": "linux"}))
    attestation = descriptor(MANIFEST, b"{}", platform={"architecture": "unknown", "os": "unknown"})
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [attestation, *entries]}
    digest = registry.add_manifest("acme/pdf", "1.0.0", index)

    sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)
    by_tag = lock_of(sandbox, "pdf")["source"]
    sandbox.run("install", f"oci://{registry.host}/acme/pdf@{digest}", "--force", check=True)

    amd64 = entries[1]["digest"]
    assert by_tag == {"oci": f"{registry.host}/acme/pdf", "tag": "1.0.0", "manifest": amd64, "layer": digest_of(layer)}
    assert lock_of(sandbox, "pdf")["source"] == {
        "oci": f"{registry.host}/acme/pdf",
        "index": digest,
        "manifest": amd64,
        "layer": digest_of(layer),
    }


@pytest.mark.parametrize("folder", ["pdf", "", "skill"])
@pytest.mark.parametrize(
    "media_type",
    [
        "application/vnd.agentskills.skill.content.v1.tar+gzip",
        "application/vnd.oci.image.layer.v1.tar+gzip",
        "application/vnd.docker.image.rootfs.diff.tar.gzip",
    ],
)
def test_the_layer_of_any_writer_is_the_same_skill(
    registry: OciRegistry, sandbox: Sandbox, folder: str, media_type: str
) -> None:
    layer = pack(PDF, folder)
    registry.add_blob("acme/pdf", layer)
    readme = descriptor("text/markdown", b"# PDF\n")
    manifest = manifest_of(layer, layers=[readme, descriptor(media_type, layer)], mediaType=MANIFEST)
    registry.add_manifest("acme/pdf", "1.0.0", manifest)

    sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)

    assert sandbox.snapshot(".agent-skills/pdf")["SKILL.md"].content == PDF["SKILL.md"]


def test_dates_of_publishers_count_for_the_cutoff(registry: OciRegistry, sandbox: Sandbox) -> None:
    created = "org.opencontainers.image.created"
    publish(registry, "acme/pdf", "1.0.0", PDF, annotations={created: "2025-01-02T03:04:05Z"})
    publish(registry, "acme/pdf", "1.1.0", OTHER_PDF, annotations={created: "2026-10-01T00:00:00Z"})
    spec = f"oci://{registry.host}/acme/pdf@^1"

    sandbox.run("install", spec, "--exclude-newer", "2026-01-01", check=True)

    assert lock_of(sandbox, "pdf")["version"] == "1.0.0"


def test_what_is_said_of_a_source_in_a_registry(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)
    sandbox.write(".agent-skills/pdf/SKILL.md", PDF["SKILL.md"] + b"mine\n")
    registry.clear_requests()

    listed = sandbox.run("list", "--json", check=True).json["skills"][0]
    diff = sandbox.run("diff", "pdf", check=True)

    assert listed["source"] == f"oci://{registry.host}/acme/pdf:1.0.0"
    assert diff.stdout.splitlines()[-2:] == [" Do it well.", "+mine"]
    assert registry.requests == []


def test_a_skill_cannot_send_others_to_a_registry_on_their_own_machine(registry: OciRegistry, sandbox: Sandbox) -> None:
    dependency = {"skills": {"base": {"oci": f"{registry.host}/acme/base", "version": "^1"}}}
    publish(registry, "acme/base", "1.2.0", make_skill("base"))
    publish(registry, "acme/pdf", "1.0.0", PDF | {"skills.json": json.dumps(dependency)})

    result = sandbox.run("install", f"oci://{registry.host}/acme/pdf")

    assert (result.code, result.error_output) == (
        1,
        f"error: `pdf` 1.0.0 requires `base` from oci://{registry.host}/acme/base, a source that only your "
        "skills.json may name\n"
        "  where: `pdf` 1.0.0: dependencies.base\n"
        '  hint: if you trust it, override it: "overrides": {"base": …} in skills.json\n',
    )


def test_an_override_lets_a_dependency_come_from_a_registry(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/base", "1.2.0", make_skill("base"))
    publish(registry, "acme/pdf", "1.0.0", make_skill("pdf", metadata={"skill-dependencies": "base>=1"}))
    override = {"base": {"oci": f"{registry.host}/acme/base", "version": "^1"}}
    sandbox.write("skills.json", json.dumps({"skills": {}, "overrides": override}))

    sandbox.run("install", f"oci://{registry.host}/acme/pdf", check=True)

    assert lock_of(sandbox, "base")["version"] == "1.2.0"
