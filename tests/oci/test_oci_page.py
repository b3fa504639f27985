"""`index page`: the HTML catalog of skills in OCI registries."""

import base64
import json
import re
import zlib
from typing import Any

from kit import Files, OciRegistry, Sandbox, make_skill
from oci.world import publish, publish_collection, requests_of

PDF = make_skill("pdf", description="Use for PDF.", metadata={"version": "1.2.0", "category": "office"})
TDD: Files = {**make_skill("tdd", description="Use for tests."), "scripts/run.sh": "echo run\n"}


def read_rows(sandbox: Sandbox) -> Any:
    found = re.search(r'id="top">(.*?)</script>', sandbox.read("site/catalog.html"))
    assert found is not None
    return json.loads(zlib.decompress(base64.b64decode(found[1])))


def test_a_collection_is_written_as_a_page(registry: OciRegistry, sandbox: Sandbox) -> None:
    collection = f"oci://{registry.host}/acme/all:1"
    publish_collection(registry, "acme/all", "1", {"pdf": PDF, "tdd": TDD})

    result = sandbox.run("index", "page", collection, "--out", "site", "--name", "Acme", check=True)

    assert (result.stdout, result.stderr) == ("", "site: 2 skills, 2 versions; 4 files written\n")
    assert sandbox.render_tree("site") == "catalog.html\nindex.html\nskills/\n  pdf.js\n  tdd.js\n"
    top = read_rows(sandbox)
    assert top["name"] == "Acme"
    assert [(row[0], row[1], row[2], row[4], row[10]) for row in top["skills"]] == [
        ("pdf", "Use for PDF.", "office", "1.2.0", f"{collection} --skill pdf"),
        ("tdd", "Use for tests.", "general", "1", f"{collection} --skill tdd"),
    ]
    assert requests_of(registry) == [
        "GET /v2/acme/all/blobs/sha256:…",
        "GET /v2/acme/all/blobs/sha256:…",
        "GET /v2/acme/all/manifests/1",
        "GET /v2/acme/all/manifests/sha256:…",
        "GET /v2/acme/all/manifests/sha256:…",
    ]
    for *_, spec, _ in top["skills"]:
        sandbox.run("install", *spec.split(), check=True)


def test_the_same_skills_give_the_same_bytes_and_others_go(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.2.0", PDF)
    publish(registry, "acme/tdd", "0.1.0", TDD)
    specs = [f"oci://{registry.host}/acme/{name}" for name in ("pdf", "tdd")]

    sandbox.run("index", "page", *specs, "--out", "site", check=True)
    again = sandbox.run("index", "page", *reversed(specs), "--name", f"{registry.host}/acme/pdf", "--out", "site")
    fewer = sandbox.run("index", "page", specs[0], "--out", "site", "--json", check=True)

    assert again.stderr == "site: 2 skills, 2 versions; nothing to write\n"
    assert fewer.json["removed"] == ["skills/tdd.js"]
    assert [row[10] for row in read_rows(sandbox)["skills"]] == [specs[0]]


def test_what_is_refused(registry: OciRegistry, sandbox: Sandbox) -> None:
    pdf, all_of_them = f"oci://{registry.host}/acme/pdf", f"oci://{registry.host}/acme/all:1"
    publish(registry, "acme/pdf", "1.2.0", PDF)
    publish_collection(registry, "acme/all", "1", {"pdf": PDF})
    sandbox.write("index/index.json", "{}\n")
    sandbox.write("mine/catalog.html", "<title>Our products</title>\n")

    cases = {
        ("acme/pdf", "site"): "`acme/pdf` is not a collection or a skill in an OCI registry",
        (pdf, "index"): "index is an index",
        (pdf, "mine"): "refusing to overwrite a page that skillpm did not write",
        (f"{pdf} {all_of_them}", "site"): f"`pdf` is in {pdf} and in {all_of_them}",
    }
    for (specs, out), message in cases.items():
        result = sandbox.run("index", "page", *specs.split(), "--out", out)
        assert result.code != 0
        assert result.error_output.splitlines()[0] == f"error: {message}"
    assert not sandbox.exists("site")


def test_a_file_of_the_user_is_not_overwritten(registry: OciRegistry, sandbox: Sandbox) -> None:
    publish(registry, "acme/pdf", "1.0.0", make_skill("pdf"))
    sandbox.write("site/skills/pdf.js", "// ours\n")

    result = sandbox.run("index", "page", f"oci://{registry.host}/acme/pdf:1.0.0", "--out", "site")

    assert (result.code, result.error_output.splitlines()[0]) == (
        1,
        "error: refusing to overwrite a file that skillpm did not write",
    )
    assert sandbox.render_tree("site") == "skills/\n  pdf.js\n"
