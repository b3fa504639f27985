"""`index build --sign` and `push --sign` of what is published already: a signature is added, and no byte changes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from indexes.world import IndexPublisher, serve_index
from kit import GitServer, OciRegistry, digest_of, make_skill, prefix_paths
from kit.git import git, git_bytes
from trust.rotation import NEW, OLD, STRANGER, Registry, WebIndex


@pytest.fixture
def index(tmp_path: Path) -> Iterator[WebIndex]:
    with GitServer() as server:
        yield WebIndex(tmp_path, server)


@pytest.fixture
def signatures(index: WebIndex) -> WebIndex:
    """Return an index with a version that the old key signed, and the new one signed again."""
    index.publish(OLD)
    index.publish(NEW)
    return index


def listed(index: WebIndex, number: int = 0) -> list[str]:
    release = index.publisher.read_json("skills/pdf.json")["versions"][number]
    return [each["url"] for each in release.get("signatures", ())]


def test_a_build_adds_a_signature_and_says_so(index: WebIndex) -> None:
    index.publish(OLD)
    before = index.publisher.snapshot("public")
    document = index.publisher.read_json("skills/pdf.json")

    output = index.publish(NEW)

    assert output == ("= pdf 1.0.0, published already; signature added\npublic: 1 skill, 1 version; 4 files written\n")
    after = index.publisher.snapshot("public")
    (path,) = listed(index)
    changed = {each for each in before if before[each] != after[each]}
    assert changed == {"skills/pdf.json", "catalog.html", "index.html"}
    assert after.keys() - before.keys() == {path}
    data = (index.publisher.index_folder / path).read_bytes()
    signature: dict[str, Any] = {"url": path, "sha256": digest_of(data).removeprefix("sha256:"), "size": len(data)}
    assert path == f"archives/pdf-1.0.0.{signature['sha256'][:16]}.oms.sig"
    document["versions"][0]["signatures"] = [signature]
    assert index.publisher.read_json("skills/pdf.json") == document


def test_a_build_of_what_is_signed_already_writes_nothing(signatures: WebIndex) -> None:
    before = signatures.publisher.snapshot("public")
    # With the key of the archive, with that of the signature beside it, and without any.
    for key in (OLD, NEW, None):
        assert signatures.publish(key).endswith("public: 1 skill, 1 version; nothing to write\n")
    assert signatures.publisher.snapshot("public") == before


def test_each_further_key_is_listed_first(signatures: WebIndex) -> None:
    first = listed(signatures)
    signatures.publish(STRANGER)
    second = listed(signatures)
    assert (len(second), second[1:]) == (2, first)
    signatures.publisher.write_draft("pdf", "1.1.0", "Better.\n")
    signatures.publish(NEW)
    assert (listed(signatures, 0), listed(signatures, 1)) == ([], second)


def test_the_result_in_json(index: WebIndex) -> None:
    index.publish(OLD)
    command = ["index", "build", "skills", "--out", "public", "--sign", "new.key", "--json"]
    first, again = (index.publisher.run(*command, check=True).json for _ in range(2))
    assert (first["added"], first["signed"], first["changed"]) == ([], ["pdf 1.0.0"], True)
    assert (again["added"], again["signed"], again["changed"]) == ([], [], False)


def test_another_file_is_still_another_content(signatures: WebIndex) -> None:
    before = signatures.publisher.snapshot("public")
    signatures.publisher.write_draft("pdf", "1.0.0", "Something else.\n")
    result = signatures.publisher.run("index", "build", "skills", "--out", "public", "--sign", "new.key")
    assert result.code == 1
    assert "`pdf` 1.0.0 is already published with other content: SKILL.md, skill.oms.sig changed in" in result.stderr
    assert signatures.publisher.snapshot("public") == before


def test_a_signature_over_other_files_is_not_published(index: WebIndex) -> None:
    index.publish(OLD)
    index.publisher.write("skills/pdf/skill.oms.sig", "{}")
    output = index.publish()
    assert "skill.oms.sig is not a sigstore bundle: `mediaType` is missing" in output
    assert listed(index) == []


def test_a_signature_that_an_author_committed_is_published(index: WebIndex) -> None:
    index.publish(OLD)
    index.publisher.run("pack", "skills/pdf", "--sign", "new.key", "--out", "new.tar.gz", check=True)
    other = IndexPublisher(index.publisher.root.parent / "other")
    other.run("index", "build", str(index.publisher.work / "new.tar.gz"), "--out", "public", check=True)
    index.publisher.run("index", "build", "new.tar.gz", "--out", "public", check=True)
    assert len(listed(index)) == 1


def test_an_index_with_signatures_is_checked(signatures: WebIndex) -> None:
    publisher, (path,) = signatures.publisher, listed(signatures)
    data = (publisher.index_folder / path).read_bytes()
    publisher.run("index", "check", "public", check=True)

    publisher.write(f"public/{path}", data + b" ")
    changed = publisher.run("index", "check", "public")
    (publisher.index_folder / path).unlink()
    missing = publisher.run("index", "check", "public")

    assert changed.stdout == f"pdf 1.0.0: the signature {path} is not what the index says\n"
    assert missing.stdout == f"pdf 1.0.0: the signature {path} is missing\n"


def test_a_changed_signature_is_refused_by_name(signatures: WebIndex, tmp_path: Path) -> None:
    (path,) = listed(signatures)
    signatures.publisher.write(f"public/{path}", "{}")
    serve_index(signatures.server, signatures.publisher.index_folder)
    machine = signatures.machine(tmp_path / "machine", NEW)
    url = f"{signatures.server.address}/{path}"
    assert f"the signatures beside it cannot be read: {url} is not what the index acme says" in machine.problem(
        "install", "pdf"
    )


@pytest.mark.parametrize("url", ["https://evil.example/a", "../a", "/a", "a b", ""])
def test_a_signature_outside_of_the_index_is_refused(signatures: WebIndex, tmp_path: Path, url: str) -> None:
    path = signatures.publisher.index_folder / "skills/pdf.json"
    path.write_text(path.read_text().replace(listed(signatures)[0], url))
    serve_index(signatures.server, signatures.publisher.index_folder)
    result = signatures.machine(tmp_path / "machine", NEW).run("install", "pdf")
    assert result.code == 1
    assert "skills/pdf.json: versions.0.signatures.0" in result.stderr


def test_prune_keeps_signatures_that_are_listed(signatures: WebIndex) -> None:
    publisher, before = signatures.publisher, signatures.publisher.snapshot("public")
    publisher.run("index", "prune", "public", check=True)
    assert publisher.snapshot("public") == before

    publisher.write("public/archives/pdf-1.0.0.0123456789abcdef.oms.sig", "left by a killed build")
    publisher.write("public/archives/pdf-1.0.0.tar.gz.sig", "of the user")
    publisher.run("index", "prune", "public", check=True)
    assert publisher.snapshot("public").keys() - before.keys() == {"archives/pdf-1.0.0.tar.gz.sig"}

    publisher.run("index", "yank", "pdf@1.0.0", "public", check=True)
    assert len(listed(signatures)) == 1
    publisher.run("index", "prune", "public", "--yanked", check=True)
    assert sorted(path.name for path in publisher.index_folder.glob("archives/*")) == ["pdf-1.0.0.tar.gz.sig"]


def test_a_build_onto_a_published_index_keeps_its_signatures(signatures: WebIndex, tmp_path: Path) -> None:
    before = signatures.publisher.snapshot("public")
    url = f"{signatures.server.address}/"
    command = ["index", "build", "skills", "--out", "copy", "--onto", url, "--sign"]
    signatures.publisher.run(*command, "new.key", check=True)
    assert signatures.publisher.snapshot("copy") == before

    (path,) = listed(signatures)
    signatures.publisher.write(f"public/{path}", "{}")
    serve_index(signatures.server, signatures.publisher.index_folder)
    command[4] = "other"
    refused = signatures.publisher.run(*command, "new.key")
    assert refused.error_output.startswith(f"error: `pdf` 1.0.0: {path} does not have the published checksum\n")


@pytest.mark.parametrize("kind", ["index", "registry"])
def test_signing_again_makes_no_new_version_from_commits(tmp_path: Path, kind: str) -> None:
    with GitServer() as server, OciRegistry() as registry:
        place = WebIndex(tmp_path, server) if kind == "index" else Registry(tmp_path, registry)
        publisher, target = place.publisher, f"oci://{registry.host}/acme/"
        command = ["index", "build", "src", "--out", "public"] if kind == "index" else ["push", "src", target]
        command += ["--version-from-commits", "--sign"]
        git("init", "-q", "-b", "main", "--template=", "src", cwd=publisher.work)
        for day, body in ((24, "Read.\n"), (25, "Write.\n"), (26, "Read.\n")):
            publisher.write_files(prefix_paths("src/mail", make_skill("mail", body=body)))
            git("add", ".", cwd=publisher.work / "src")
            environment = {"GIT_COMMITTER_DATE": f"2026-11-{day}T10:00:00Z"}
            git_bytes("commit", "-q", "-m", "Change", cwd=publisher.work / "src", environment=environment)
            if day == 24:
                publisher.run(*command, "old.key", check=True)
        again = publisher.run(*command, "new.key", check=True)
        tags = [tag for _, tag in registry.manifests if tag[:1].isdigit()]
        versions = len(place.publisher.read_json("skills/mail.json")["versions"]) if kind == "index" else len(tags)
    assert "signature added" in again.stdout
    assert versions == 1


# Registries


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with OciRegistry() as registry:
        yield Registry(tmp_path, registry)


def test_a_push_adds_a_signature_and_says_so(registry: Registry) -> None:
    registry.publish(OLD)
    before = registry.published()
    digest = digest_of(before["manifest"])

    output, again = registry.publish(NEW), registry.publish(NEW)

    line = f" = {registry.spec}:1.0.0 ({digest[:19]}), already published"
    assert output.startswith(f"{line}; signature added\npushed 0 of 1 tag, ")
    assert again == f"{line}\nnothing to push: 1 tag already published\n"
    assert registry.published() == before
    index = json.loads(registry.registry.manifests["acme/pdf", digest.replace(":", "-")][1])
    (entry,) = index["manifests"]
    assert entry["artifactType"] == "application/vnd.dev.sigstore.bundle.v0.3+json"
    attached = json.loads(registry.registry.manifests["acme/pdf", entry["digest"]][1])
    assert attached["subject"] == {
        "mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest, "size": len(before["manifest"]),
    }  # fmt: skip
    cosign = json.loads(registry.registry.manifests["acme/pdf", f"{digest.replace(':', '-')}.sig"][1])
    assert len(cosign["layers"]) == 2


def test_a_push_in_json(registry: Registry) -> None:
    registry.publish(OLD)
    command = ["push", "skills/pdf", registry.spec, "--sign", "new.key", "--json"]
    dry = registry.publisher.run(*command, "--dry-run", check=True).json["pushed"]
    first, again = (registry.publisher.run(*command, check=True).json["pushed"] for _ in range(2))
    assert [(each["isNew"], each["isSigned"]) for each in (*dry, *first, *again)] == [
        (False, False), (False, True), (False, False),
    ]  # fmt: skip


def test_other_referrers_stay_and_do_not_count(registry: Registry, tmp_path: Path) -> None:
    registry.publish(OLD)
    digest = digest_of(registry.published()["manifest"])
    other = {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest, "size": 1}
    entries = [{**other, "artifactType": "application/spdx+json"}, other]
    tag = digest.replace(":", "-")
    registry.registry.add_manifest("acme/pdf", tag, {"schemaVersion": 2, "manifests": entries})

    registry.publish(NEW)

    listed_now = json.loads(registry.registry.manifests["acme/pdf", tag][1])["manifests"]
    assert listed_now[1:] == entries
    registry.machine(tmp_path / "machine", NEW).run("install", registry.spec, check=True)


@pytest.mark.parametrize("damage", ["manifest", "blob", "index", "layers"])
def test_damaged_referrers_are_refused(registry: Registry, tmp_path: Path, damage: str) -> None:
    registry.publish(OLD)
    registry.publish(NEW)
    server, digest = registry.registry, digest_of(registry.published()["manifest"])
    tag = digest.replace(":", "-")
    entry = json.loads(server.manifests["acme/pdf", tag][1])["manifests"][0]
    blob = json.loads(server.manifests["acme/pdf", entry["digest"]][1])["layers"][0]["digest"]
    if damage == "blob":
        server.blobs["acme/pdf", blob] = b"{}"
    elif damage == "index":
        server.manifests["acme/pdf", tag] = ("", b'{"manifests": 3}')
    else:
        server.manifests["acme/pdf", entry["digest"]] = ("", b'{"layers": []}')
        entry["digest"] = digest_of(b'{"layers": []}') if damage == "layers" else entry["digest"]
        server.manifests["acme/pdf", entry["digest"]] = ("", b'{"layers": []}')
        server.manifests["acme/pdf", tag] = ("", json.dumps({"manifests": [entry]}).encode())
    del server.manifests["acme/pdf", f"{tag}.sig"]  # that of cosign would suffice
    expected = {
        "manifest": "does not match its digest",
        "blob": "does not match its digest",
        "index": "(referrers): manifests: expected an array, got 3",
        "layers": "expected one signature of at most 4000000 bytes, got an array",
    }[damage]
    problem = registry.machine(tmp_path / "machine", NEW).problem("install", registry.spec)
    assert "the signatures beside it cannot be read: " in problem
    assert expected.partition(": ")[2] or expected in problem


@pytest.mark.parametrize("kind", ["image", "collection"])
def test_images_and_collections_are_signed_again(registry: Registry, tmp_path: Path, kind: str) -> None:
    host = registry.registry.host
    collection, spec = f"oci://{host}/acme/all:1.0.0", registry.spec
    more = ["--image"] if kind == "image" else ["--collection", collection]
    for key in ("old", "new"):
        registry.publisher.run("push", "skills/pdf", spec, *more, "--sign", f"{key}.key", check=True)
    installed = spec if kind == "image" else collection
    machine = registry.machine(tmp_path / "machine", NEW)

    machine.run("install", installed, *([] if kind == "image" else ["--skill", "pdf"]), check=True)

    machine.empty_cache()
    assert machine.code("verify", "--offline") == 0


def test_a_further_tag_names_what_is_published(registry: Registry) -> None:
    registry.publish(OLD)
    command = ["push", "skills/pdf", registry.spec, "--tag", "latest", "--sign", "new.key"]
    registry.publisher.run(*command, check=True)
    manifests = registry.registry.manifests
    assert manifests["acme/pdf", "latest"] == manifests["acme/pdf", "1.0.0"]
