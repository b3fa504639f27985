"""Everything that a registry may answer wrong: refused by name or installed right, and nothing else is written.

Each answer is fetched in this process, by what an install calls before it writes. Some are also installed by the
command, which must print the same error.
"""

import io
import json
import tarfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, redirect_stderr
from pathlib import Path
from typing import Any

import pytest
from kit import GitServer, OciRegistry, Response, Sandbox, Tokens, digest_of, make_skill
from kit.skills import to_bytes
from oci.world import COLLECTION, INDEX, MANIFEST, descriptor, manifest_of, pack, publish

from skillpm.cli.error_output import report_error
from skillpm.core.names import SkillName
from skillpm.errors import SkillpmError, concerning
from skillpm.events import Recorder
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.oci.oci_fetcher import OciFetcher
from skillpm.requirements.specifier import parse_specifier
from skillpm.settings import read_settings
from skillpm.store import Store

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


def fetch(folder: Path, spec: str) -> Mapping[str, bytes] | None:
    """Return the files of a skill, fetched as an install fetches them, with the cache in a folder; None without one."""
    cache = folder / "cache"
    environ = {"HOME": str(folder), "SKILLPM_CACHE_DIR": str(cache), "SKILLPM_NETWORK_TIMEOUT": "20"}
    store, destinations = Store(str(cache / "store")), Destinations()
    destinations.name(f"https://{spec.removeprefix('oci://')}")
    fetcher = OciFetcher(read_settings(environ), store, Recorder(), destinations, {})
    with closing(fetcher.registries.http):
        skill = fetch_listed(fetcher, parse_specifier(spec).source)
    if skill is None:
        return None
    tree = store.read(skill.digest, skill.pin.store_variant()) if skill.digest else None
    assert tree is not None
    return {file.path: file.data for file in tree.files}


def fetch_listed(fetcher: OciFetcher, source: Any) -> FetchedSkill | None:
    """List the skill of a repository, then its versions if any may be chosen, and fetch it."""
    listed = fetcher.list_available_skills(source)
    if not listed:
        return None
    name = SkillName(listed[0].name)
    sources: Any = {name: listed[0].source}
    with concerning(name):
        if not sources[name].kind:
            fetcher.versions(sources)
        return fetcher.pin(sources)[name]


def check(sandbox: Sandbox, registry: OciRegistry, spec: str = "", *, installs: bool) -> None:
    """Fetch, and let the command install: both end right, or with an error that names the registry."""
    spec = spec or f"oci://{registry.host}/acme/pdf:1.0.0"
    folder, text = sandbox.root / "fetched", io.StringIO()
    folder.mkdir()
    try:
        files = fetch(folder, spec)
        assert files in (PDF, None)
        installs = installs or files is None  # the command refuses a list of no skills
    except SkillpmError as error:
        with redirect_stderr(text):
            code = report_error(error, as_json=False)
        check_error(code, text.getvalue(), registry)
    assert {path.name for path in folder.iterdir()} <= {"cache"}
    if installs:
        registry.requests.clear()
        check_install(sandbox, registry, spec, text.getvalue())


def check_error(code: int, text: str, registry: OciRegistry) -> None:
    """Check that an error is no internal one, can be read, and names the registry or the skill."""
    assert code in {1, 2}
    assert text.startswith("error: "), text
    assert any(name in text for name in (registry.host, "error: skill pdf: ", "neither `")), text
    assert not any(ord(letter) < 32 and letter != "\n" for letter in text), text
    assert len(text) < 2_000


def check_install(sandbox: Sandbox, registry: OciRegistry, spec: str, error: str) -> None:
    """Install: it ends right, or with this error, if there is one, and with nothing written."""
    before = sandbox.snapshot()
    result = sandbox.run("install", spec, env={"SKILLPM_NETWORK_TIMEOUT": "20"}, timeout=40)
    if result.code == 0:
        assert error == ""
        installed = [path.read_bytes() for path in sandbox.work.glob(".agent-skills/*/SKILL.md")]
        assert installed == [PDF["SKILL.md"]]
        assert sorted(path.name for path in sandbox.work.iterdir()) == [".agent-skills", "skills.json", "skills.lock"]
    else:
        check_error(result.code, result.error_output, registry)
        assert error in (result.error_output, "")
        assert sandbox.snapshot() == before
    assert sorted(path.name for path in sandbox.home.iterdir()) in ([], [".config"], [".local"]), result


def is_installed(name: object, names: Iterable[object], one_of: int = 37) -> bool:
    """Return whether the command installs this one of many answers, too: each time another part and another value."""
    return [*names].index(name) % one_of == 0


MANIFESTS = variants(GOOD, PATHS)


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest(registry: OciRegistry, sandbox: Sandbox, name: str) -> None:
    serve(registry)
    registry.add_manifest("acme/pdf", "1.0.0", MANIFESTS[name])

    check(sandbox, registry, installs=is_installed(name, MANIFESTS))


INDEXES = variants(good_index(), INDEX_PATHS)


@pytest.mark.parametrize("name", INDEXES)
def test_an_index(registry: OciRegistry, sandbox: Sandbox, name: str) -> None:
    serve(registry)
    registry.add_manifest("acme/pdf", "1.0.0", INDEXES[name])

    check(sandbox, registry, installs=is_installed(name, INDEXES))


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

    spec = f"oci://{registry.host}/acme/pdf{':1.0.0' if reference == 'tag' else '@' + digest}"
    check(sandbox, registry, spec, installs=is_installed(name, BODIES, 5))


TAG_LISTS = {
    "null": b'{"tags": null}',
    "missing": b"{}",
    "numbers": b'{"tags": [1, 2]}',
    "text": b'{"tags": "1.0.0"}',
    "invalid": json.dumps({"tags": ["../x", "a b", "", "x" * 1000, "1.0.0\n", "-1", "1.0.0"]}).encode(),
    "many": json.dumps({"tags": [f"1.0.{number}" for number in range(20_000)] + ["2.0.0"]}).encode(),
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

    check(sandbox, registry, f"oci://{registry.host}/acme/pdf", installs=is_installed(name, TAG_LISTS, 4))


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

    check(sandbox, registry, f"oci://{registry.host}/acme/pdf", installs=is_installed(name, LINKS, 5))

    assert len(registry.requests) < 10
    assert not any("secret" in request.path for request in registry.requests)


def test_an_endless_list_of_tags_ends(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    registry.endless_tags = True

    check(sandbox, registry, f"oci://{registry.host}/acme/pdf", installs=False)

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

    check(sandbox, registry, installs=is_installed(name, CHALLENGES, 5))

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

    check(sandbox, registry, installs=is_installed(name, TOKENS, 5))

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

    check(sandbox, registry, installs=status == 307 and is_installed(name, LOCATIONS, 5))

    assert len(registry.requests) < 20


def test_other_bytes_of_a_layer_from_another_server(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", PDF)
    with GitServer() as other:
        other.publish("/layer", pack(make_skill("pdf", body="Steal it.\n"), "pdf"))
        registry.overrides["blobs"] = Response(307, {"Location": f"{other.address}/layer"}, b"")

        check(sandbox, registry, installs=True)

    assert not sandbox.exists(".agent-skills/pdf")


def bomb() -> bytes:
    """Return an archive of a skill with 300 million zeros."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive, Path("/dev/zero").open("rb") as zeros:
        text = to_bytes(PDF["SKILL.md"])
        skill, large = tarfile.TarInfo("SKILL.md"), tarfile.TarInfo("zeros")
        skill.size, large.size = len(text), 300_000_000
        archive.addfile(skill, io.BytesIO(text))
        archive.addfile(large, zeros)
    return buffer.getvalue()


# Functions, since some take seconds.
LAYERS: Mapping[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "no-gzip": lambda: b"x" * 1000,
    "zip": lambda: b"PK\x03\x04" + b"x" * 100,
    "half": lambda: LAYER_BYTES[: len(LAYER_BYTES) // 2],
    "traversal": lambda: pack({"../../evil.txt": b"x", **PDF}),
    "absolute": lambda: pack({"/evil.txt": b"x", **PDF}),
    "no-skill": lambda: pack({"readme.md": b"x"}),
    "two-skills": lambda: pack({"a/SKILL.md": PDF["SKILL.md"], "b/SKILL.md": PDF["SKILL.md"]}),
    "case": lambda: pack({**PDF, "skill.md": b"x"}),
    "lockfile": lambda: pack({**PDF, ".git/config": b"x"}),
    "bomb": bomb,
    "many": lambda: pack({**PDF, **{f"file-{number}": b"" for number in range(30_000)}}),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer(registry: OciRegistry, sandbox: Sandbox, name: str) -> None:
    layer = LAYERS[name]()
    registry.add_blob("acme/pdf", layer)
    registry.add_manifest("acme/pdf", "1.0.0", manifest_of(layer))

    check(sandbox, registry, installs=is_installed(name, LAYERS, 5))


@pytest.mark.parametrize("size", [0, 1, len(LAYER_BYTES) - 1, len(LAYER_BYTES) + 1, 10**9, 10**18])
def test_a_layer_of_another_size_than_its_manifest_says(registry: OciRegistry, sandbox: Sandbox, size: int) -> None:
    registry.add_blob("acme/pdf", LAYER_BYTES)
    registry.add_manifest("acme/pdf", "1.0.0", replaced(GOOD, ("layers", 0, "size"), size))

    check(sandbox, registry, installs=size == 1)
