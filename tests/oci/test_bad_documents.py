"""Everything that a registry may answer wrong: refused by name or installed right, and nothing else is written."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from kit import GitServer, OciRegistry, Response, Sandbox, Tokens, digest_of, make_skill
from oci.world import COLLECTION, INDEX, MANIFEST, descriptor, manifest_of, pack, publish

PDF = make_skill("pdf")
LAYER_BYTES = pack(PDF, "pdf")
GOOD = manifest_of(LAYER_BYTES, annotations={"org.opencontainers.image.version": "1.0.0"})
VALUES: Mapping[str, Any] = {
    "null": None, "true": True, "zero": 0, "negative": -1, "float": 1.5, "huge": 10**400, "empty": "", "text": "x",
    "long": "x" * 100_000, "control": "a\x1b[31mb\x00", "list": [], "object": {}, "deep": [[[[[[[[]]]]]]]],
    "traversal": "../../etc/passwd", "unpaired": "\ud800",
}  # fmt: skip
PATHS = [
    ("schemaVersion",),
    ("mediaType",),
    ("artifactType",),
    ("config",),
    ("layers",),
    ("layers", 0),
    ("layers", 0, "mediaType"),
    ("layers", 0, "digest"),
    ("layers", 0, "size"),
    ("annotations",),
    ("annotations", "org.opencontainers.image.version"),
]
INDEX_PATHS = [
    ("mediaType",),
    ("artifactType",),
    ("manifests",),
    ("manifests", 0),
    ("manifests", 0, "mediaType"),
    ("manifests", 0, "digest"),
    ("manifests", 0, "size"),
    ("manifests", 0, "platform"),
    ("manifests", 0, "annotations"),
    ("manifests", 0, "annotations", "io.agentskills.skill.name"),
]


def replaced(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    """Return a copy of a JSON value with one part replaced."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


def without(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return a copy of a JSON value with one part missing."""
    copy = value.copy()
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = without(copy[path[0]], path[1:])
    return copy


def variants(value: Any, paths: list[tuple[str | int, ...]]) -> dict[str, Any]:
    """Return a document with each of these parts replaced by each of the values, and without it."""
    found: dict[str, Any] = {}
    for path in paths:
        place = ".".join(map(str, path))
        found |= {f"{place}-{name}": replaced(value, path, new) for name, new in VALUES.items()}
        found[f"{place}-missing"] = without(value, path)
    return found


def good_index() -> Any:
    data = json.dumps(GOOD).encode()
    annotations = {"io.agentskills.skill.name": "pdf"}
    entry = descriptor(MANIFEST, data, platform={"os": "linux", "architecture": "amd64"}, annotations=annotations)
    return {"schemaVersion": 2, "mediaType": INDEX, "artifactType": COLLECTION, "manifests": [entry]}


def serve(registry: OciRegistry) -> None:
    """Serve the skill that the documents refer to."""
    registry.add_blob("acme/pdf", LAYER_BYTES)
    registry.add_blob("acme/pdf", b"{}")
    registry.add_manifest("acme/pdf", digest_of(json.dumps(GOOD).encode()), GOOD)


def check(sandbox: Sandbox, registry: OciRegistry, spec: str = "") -> None:
    """Install: it must end right, or with an error that names the registry, and with nothing written."""
    before = sandbox.snapshot()
    spec = spec or f"oci://{registry.host}/acme/pdf:1.0.0"
    result = sandbox.run("install", spec, env={"SKILLPM_NETWORK_TIMEOUT": "20"}, timeout=40)
    if result.code == 0:
        installed = [path.read_bytes() for path in sandbox.work.glob(".agent-skills/*/SKILL.md")]
        assert installed == [PDF["SKILL.md"]]
        assert sorted(path.name for path in sandbox.work.iterdir()) == [".agent-skills", "skills.json", "skills.lock"]
    else:
        assert result.code in {1, 2}, result
        assert result.error_output.startswith("error: "), result
        assert any(name in result.error_output for name in (registry.host, "error: skill pdf: ", "neither `")), result
        assert "Traceback" not in result.stderr
        assert not any(ord(letter) < 32 and letter != "\n" for letter in result.stderr), result
        assert len(result.stderr) < 2_000
        assert sandbox.snapshot() == before
    assert sorted(path.name for path in sandbox.home.iterdir()) in ([], [".config"], [".local"]), result


MANIFESTS = variants(GOOD, PATHS)


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest(registry: OciRegistry, sandbox: Sandbox, name: str) -> None:
    serve(registry)
    registry.add_manifest("acme/pdf", "1.0.0", MANIFESTS[name])

    check(sandbox, registry)


INDEXES = variants(good_index(), INDEX_PATHS)


@pytest.mark.parametrize("name", INDEXES)
def test_an_index(registry: OciRegistry, sandbox: Sandbox, name: str) -> None:
    serve(registry)
    registry.add_manifest("acme/pdf", "1.0.0", INDEXES[name])

    check(sandbox, registry)


BODIES = {
    "empty": b"",
    "null": b"null",
    "list": b"[]",
    "twice": b'{"schemaVersion": 2, "schemaVersion": 2}',
    "latin-1": b'{"a": "\xe9"}',
    "utf-16": '{"schemaVersion": 2}'.encode("utf-16"),
    "deep": b"[" * 100_000,
    "nan": b'{"schemaVersion": NaN}',
    "large": b" " * 5_000_000,
    "number": b'{"schemaVersion": ' + b"9" * 100_000 + b"}",
    "schema-1": b'{"schemaVersion": 1, "fsLayers": []}',
    "entries": json.dumps(good_index() | {"manifests": good_index()["manifests"] * 10_001}).encode(),
    "layers": json.dumps(GOOD | {"layers": GOOD["layers"] * 129}).encode(),
    "two-skills": json.dumps(GOOD | {"layers": GOOD["layers"] * 2}).encode(),
    "zstd": json.dumps(GOOD | {"layers": [descriptor("application/vnd.oci.image.layer.v1.tar+zstd", b"x")]}).encode(),
    "no-entries": json.dumps(good_index() | {"manifests": []}).encode(),
    "nested": json.dumps(good_index() | {"manifests": [descriptor(INDEX, b"{}")]}).encode(),
}


@pytest.mark.parametrize("reference", ["tag", "digest"])
@pytest.mark.parametrize("name", BODIES)
def test_a_body(registry: OciRegistry, sandbox: Sandbox, name: str, reference: str) -> None:
    serve(registry)
    digest = registry.add_manifest("acme/pdf", "1.0.0", BODIES[name])

    check(sandbox, registry, f"oci://{registry.host}/acme/pdf{':1.0.0' if reference == 'tag' else '@' + digest}")


TAG_LISTS = {
    "null": b'{"tags": null}',
    "missing": b"{}",
    "numbers": b'{"tags": [1, 2]}',
    "text": b'{"tags": "1.0.0"}',
    "invalid": json.dumps({"tags": ["../x", "a b", "", "x" * 1000, "1.0.0\n", "-1", "1.0.0"]}).encode(),
    "many": json.dumps({"tags": [f"1.0.{number}" for number in range(100_000)] + ["2.0.0"]}).encode(),
    "large": b" " * 20_000_000,
    "html": b"<html>",
    "latin-1": b'{"tags": ["\xe9"]}',
    "no-version": b'{"tags": ["nightly", "main"]}',
    "control": json.dumps({"tags": ["\x1b[31mred"]}).encode(),
}


@pytest.mark.parametrize("name", TAG_LISTS)
def test_a_list_of_tags(registry: OciRegistry, sandbox: Sandbox, name: str) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    publish(registry, "acme/pdf", "2.0.0", PDF)
    registry.overrides["tags"] = Response(200, {"Content-Type": "application/json"}, TAG_LISTS[name])

    check(sandbox, registry, f"oci://{registry.host}/acme/pdf")


LINKS = {
    "itself": '</v2/acme/pdf/tags/list?n=1000>; rel="next"',
    "relative": '<list?n=1000&last=x>; rel="next"',
    "elsewhere": '<http://127.0.0.1:1/v2/acme/pdf/tags/list?n=1>; rel="next"',
    "other-host": '<https://evil.example/v2/acme/pdf/tags/list?n=1>; rel="next"',
    "other-repository": '</v2/acme/secret/tags/list?n=1>; rel="next"',
    "upwards": '</v2/acme/pdf/tags/list?n=1/../../../secret>; rel="next"',
    "file": '<file:///etc/passwd>; rel="next"',
    "no-brackets": '/v2/acme/pdf/tags/list?n=1; rel="next"',
    "not-next": '</v2/acme/pdf/tags/list?n=1>; rel="prev"',
    "empty": "",
    "long": f'</v2/acme/pdf/tags/list?n={"9" * 50_000}>; rel="next"',
    "user": '<http://ann:pw@127.0.0.1/v2/acme/pdf/tags/list?n=1>; rel="next"',
}


@pytest.mark.parametrize("name", LINKS)
def test_a_link_to_the_next_page(registry: OciRegistry, sandbox: Sandbox, name: str) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    headers = {"Content-Type": "application/json", "Link": LINKS[name]}
    registry.overrides["tags"] = Response(200, headers, b'{"tags": ["1.0.0"]}')

    check(sandbox, registry, f"oci://{registry.host}/acme/pdf")

    assert len(registry.requests) < 10
    assert not any("secret" in request.path for request in registry.requests)


def test_an_endless_list_of_tags_ends(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.endless_tags = True

    check(sandbox, registry, f"oci://{registry.host}/acme/pdf")

    assert len(registry.requests) <= 1_010


CHALLENGES = {
    "none": "",
    "unknown": "Negotiate",
    "bearer-without-realm": "Bearer",
    "empty-realm": 'Bearer realm=""',
    "relative-realm": 'Bearer realm="/token"',
    "no-url": 'Bearer realm="x y"',
    "file": 'Bearer realm="file:///etc/passwd"',
    "control": 'Bearer realm="http://x\x1b[31m"',
    "unbalanced": 'Bearer realm="http://x',
    "pairs": 'Bearer realm,service,"scope"',
    "long": 'Bearer realm="' + "x" * 30_000 + '"',
    "many": "Bearer " + ",".join(f'a{number}="{number}"' for number in range(800)),
    "plain-http-elsewhere": 'Bearer realm="http://evil.example/token"',
    "basic": "Basic",
    "case": 'bEaReR ReAlM="{address}/token",SeRvIcE="x"',
    "both": 'Basic realm="x", Bearer realm="{address}/token",service="registry.test",scope="repository:acme/pdf:pull"',
}


@pytest.mark.parametrize("name", CHALLENGES)
def test_a_challenge(registry: OciRegistry, sandbox: Sandbox, name: str) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.tokens = Tokens()
    challenge = CHALLENGES[name].replace("{address}", registry.address)
    registry.overrides["challenge"] = Response(401, {"WWW-Authenticate": challenge} if challenge else {}, b"{}")

    check(sandbox, registry)

    assert len(registry.requests) < 10


TOKENS = {
    "empty": b"",
    "null": b"null",
    "no-token": b"{}",
    "number": b'{"token": 1}',
    "newline": b'{"token": "a\\r\\nX-Evil: 1"}',
    "blank": b'{"token": "a b"}',
    "unicode": '{"token": "ü"}'.encode(),
    "long": json.dumps({"token": "x" * 200_000}).encode(),
    "large": b" " * 2_000_000,
    "both": b'{"token": "", "access_token": "x"}',
}


@pytest.mark.parametrize("name", TOKENS)
def test_a_token(registry: OciRegistry, sandbox: Sandbox, name: str) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.tokens = Tokens()
    registry.overrides["token"] = Response(200, {"Content-Type": "application/json"}, TOKENS[name])

    check(sandbox, registry)

    assert len(registry.requests) < 10


LOCATIONS = {
    "none": "",
    "itself": "{address}/v2/acme/pdf/blobs/{digest}",
    "file": "file:///etc/passwd",
    "relative": "../../x",
    "port": "http://127.0.0.1:99999/x",
    "control": "http://127.0.0.1/\x1b[31m",
    "user": "http://ann:pw@127.0.0.1:1/x",
    "long": "/" + "x" * 60_000,
    "loop": "/loop",
    "elsewhere": "http://evil.example/x",
}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("name", LOCATIONS)
def test_a_redirect_of_a_layer(registry: OciRegistry, sandbox: Sandbox, name: str, status: int) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    location = LOCATIONS[name].format(address=registry.address, digest=digest_of(LAYER_BYTES))
    registry.overrides["blobs"] = Response(status, {"Location": location} if location else {}, b"")
    registry.publish("/loop", Response(302, {"Location": "/loop"}, b""))

    check(sandbox, registry)

    assert len(registry.requests) < 20


def test_other_bytes_of_a_layer_from_another_server(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    with GitServer() as other:
        other.publish("/layer", pack(make_skill("pdf", body="Steal it.\n"), "pdf"))
        registry.overrides["blobs"] = Response(307, {"Location": f"{other.address}/layer"}, b"")

        check(sandbox, registry)

    assert not sandbox.exists(".agent-skills/pdf")


LAYERS = {
    "empty": b"",
    "no-gzip": b"x" * 1000,
    "zip": b"PK\x03\x04" + b"x" * 100,
    "half": LAYER_BYTES[: len(LAYER_BYTES) // 2],
    "traversal": pack({"../../evil.txt": b"x", **PDF}),
    "absolute": pack({"/evil.txt": b"x", **PDF}),
    "no-skill": pack({"readme.md": b"x"}),
    "two-skills": pack({"a/SKILL.md": PDF["SKILL.md"], "b/SKILL.md": PDF["SKILL.md"]}),
    "case": pack({**PDF, "skill.md": b"x"}),
    "lockfile": pack({**PDF, ".git/config": b"x"}),
    "bomb": pack({**PDF, "zeros": b"\0" * 300_000_000}),
    "many": pack({**PDF, **{f"file-{number}": b"" for number in range(30_000)}}),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer(registry: OciRegistry, sandbox: Sandbox, name: str) -> None:
    registry.add_blob("acme/pdf", LAYERS[name])
    registry.add_manifest("acme/pdf", "1.0.0", manifest_of(LAYERS[name]))

    check(sandbox, registry)


@pytest.mark.parametrize("size", [0, 1, len(LAYER_BYTES) - 1, len(LAYER_BYTES) + 1, 10**9, 10**18])
def test_a_layer_of_another_size_than_its_manifest_says(registry: OciRegistry, sandbox: Sandbox, size: int) -> None:
    registry.add_blob("acme/pdf", LAYER_BYTES)
    registry.add_manifest("acme/pdf", "1.0.0", replaced(GOOD, ("layers", 0, "size"), size))

    check(sandbox, registry)

    assert not sandbox.exists(".agent-skills/pdf")
