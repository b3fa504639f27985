"""A URL as a SPEC: `install https://site`, for a skillpm index and both versions of Agent Skills Discovery."""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer, Response, make_skill

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
NEW, OLD = "/.well-known/agent-skills", "/.well-known/skills"


@pytest.fixture
def consumer(tmp_path: Path) -> IndexConsumer:
    return IndexConsumer(tmp_path / "consumer")


def serve(server: GitServer, *names: str, top: str = "") -> None:
    """Serve a v0.2.0 site with skills of a single file."""
    entries = []
    for name in names:
        data = make_skill(name, f"What {name} does.", version="1.0")["SKILL.md"]
        server.publish(f"{top}{NEW}/{name}/SKILL.md", Response(200, {}, data))
        entries.append(
            {
                "name": name,
                "type": "skill-md",
                "description": f"What {name} does.",
                "url": f"{name}/SKILL.md",
                "digest": f"sha256:{hashlib.sha256(data).hexdigest()}",
            }
        )
    document = json.dumps({"$schema": SCHEMA, "skills": entries}).encode()
    server.publish(f"{top}{NEW}/index.json", Response(200, {}, document))


def serve_old(server: GitServer, *names: str) -> None:
    """Serve a v0.1.0 site, which lists the files of each skill."""
    for name in names:
        server.publish(f"{OLD}/{name}/SKILL.md", Response(200, {}, make_skill(name, f"What {name} does.")["SKILL.md"]))
    entries = [{"name": name, "description": f"What {name} does.", "files": ["SKILL.md"]} for name in names]
    server.publish(f"{OLD}/index.json", Response(200, {}, json.dumps({"skills": entries}).encode()))


def requirements(consumer: IndexConsumer) -> Any:
    return consumer.manifest["skills"]


@pytest.mark.parametrize("serve", [serve, serve_old])
def test_the_one_skill_of_a_site_is_installed(
    consumer: IndexConsumer, server: GitServer, serve: Any, tmp_path: Path
) -> None:
    serve(server, "pdf")

    consumer.run("install", server.address, check=True)

    assert requirements(consumer) == {"pdf": {"version": "*", "index": f"{server.address}/"}}
    assert consumer.locked_source("pdf")["index"] == f"{server.address}/"
    assert consumer.manifest["indexes"] == []
    twin = consumer.clone(tmp_path / "twin")
    twin.run("sync", "--frozen", check=True)
    assert twin.read(".agent-skills/pdf/SKILL.md") == consumer.read(".agent-skills/pdf/SKILL.md")
    again = IndexConsumer(tmp_path / "again")
    again.write("skills.json", consumer.read("skills.json"))
    again.run("lock", check=True)
    assert again.read("skills.lock") == consumer.read("skills.lock")
    assert consumer.run("install", server.address).stdout.startswith("nothing to do")
    assert consumer.run("sync", "--locked").code == 0


@pytest.mark.parametrize("serve", [serve, serve_old])
def test_a_site_with_several_skills_needs_a_choice(consumer: IndexConsumer, server: GitServer, serve: Any) -> None:
    serve(server, "pdf", "docx")

    refused = consumer.run("install", server.address)
    assert (refused.code, refused.stderr.splitlines()) == (
        1,
        [
            f"error: `{server.address}` contains 2 skills: docx, pdf",
            f"  hint: select one with `{server.address}/@docx`, or install all with `--all`",
        ],
    )
    listed = consumer.run("install", server.address, "--list", check=True)
    assert listed.stdout == "docx  What docx does.\npdf   What pdf does.\n"
    assert listed.stderr == f"2 skills; install one with `skillpm install {server.address}/@NAME`\n"
    assert requirements(consumer) == {}

    consumer.run("install", f"{server.address}/@docx", check=True)
    assert [*requirements(consumer)] == ["docx"]
    consumer.run("install", server.address, "--all", check=True)
    assert [*requirements(consumer)] == ["docx", "pdf"]


def test_every_way_to_name_one_skill_of_a_site(consumer: IndexConsumer, server: GitServer) -> None:
    serve(server, "pdf", "docx")
    serve(server, "pdf", "docx", top="/team/skills")

    for spec in (
        f"{server.address}@pdf",
        f"{server.address}/@pdf",
        f"{server.address}/.well-known/agent-skills/index.json/@pdf",
        f"{server.address}/team/skills/@pdf",
        f"{server.address}/team/skills@pdf",
    ):
        consumer.set_indexes()
        consumer.run("install", spec, check=True)
        top = "/team/skills/" if "team" in spec else "/"
        assert requirements(consumer) == {"pdf": {"version": "*", "index": f"{server.address}{top}"}}


def test_a_skillpm_index_as_a_spec_is_used_only_for_that_skill(
    publisher: IndexPublisher, consumer: IndexConsumer, server: GitServer
) -> None:
    for name, version in (("pdf", "1.2.0"), ("testing", "9.0.0")):
        publisher.write_draft(name, version)
    publisher.build()
    serve_index(server, publisher.index_folder)

    consumer.run("install", f"{server.address}/@pdf", "testing", check=True)

    assert requirements(consumer) == {
        "pdf": {"version": "^1.2.0", "index": f"{server.address}/"},
        "testing": {"bundled": True},
    }
    publisher.write_draft("pdf", "1.3.0")
    publisher.build()
    serve_index(server, publisher.index_folder)
    assert consumer.run("outdated").stdout.splitlines()[1].split() == ["pdf", "1.2.0", "1.3.0", "1.3.0"]
    consumer.run("update", check=True)
    assert consumer.lockfile["skills"]["pdf"]["version"] == "1.3.0"
    assert consumer.run("install", f"{server.address}/@pdf").stdout.startswith("nothing to do")
    offline = consumer.run("install", f"{server.address}/@pdf", "--offline")
    assert (offline.code, offline.stdout[:13]) == (0, "nothing to do")


def test_a_skill_that_a_site_does_not_contain(consumer: IndexConsumer, server: GitServer) -> None:
    serve(server, "pdf")
    host = server.address.removeprefix("http://")

    refused = consumer.run("install", f"{server.address}/@docx")

    assert (refused.code, refused.stderr.splitlines()) == (
        1,
        [
            f"error: `docx` was not found in the index {host} ({server.address}/)",
            f"  hint: list its skills with `skillpm install {server.address}/ --list`",
        ],
    )
    assert requirements(consumer) == {}


@pytest.mark.parametrize("words", [[], ["--list"]])
def test_a_url_that_is_neither_a_site_nor_a_file_has_a_hint(
    consumer: IndexConsumer, server: GitServer, words: list[str]
) -> None:
    refused = consumer.run("install", f"{server.address}/o/r", *words)

    lines = refused.stderr.splitlines()
    assert (refused.code, lines[0].split(" (")[0]) == (1, f"error: `{server.address}/o/r` is not a site with skills")
    assert "no index.json or .well-known/agent-skills/index.json at" in lines[0]
    assert lines[-1] == (
        f"  hint: for a git repository, use git+{server.address}/o/r; the URL of an archive ends in .tar.gz or .zip"
    )


def test_a_web_page_is_neither_a_site_nor_an_archive(consumer: IndexConsumer, server: GitServer) -> None:
    server.publish("/about", Response(200, {}, b"<!doctype html><title>About us</title>"))

    refused = consumer.run("install", f"{server.address}/about")

    assert refused.code == 1
    assert "is not a site with skills" in refused.stderr
    assert "and not an archive (" in refused.stderr


@pytest.mark.parametrize("serve", [serve, serve_old])
def test_a_site_may_answer_with_a_page_where_it_has_no_file(
    consumer: IndexConsumer, server: GitServer, serve: Any
) -> None:
    for path in ("/index.json", "/skills/pdf.json", f"{NEW}/index.json", f"{OLD}/index.json"):
        server.publish(path, Response(200, {"Content-Type": "text/html"}, b"<!doctype html><title>App</title>"))
    serve(server, "pdf")

    assert "pdf" in consumer.run("install", server.address, "--list", check=True).stdout
    consumer.run("install", f"{server.address}/@pdf", check=True)
    consumer.delete_state()
    consumer.run("sync", "--frozen", check=True)

    server.publish(f"{NEW}/index.json", b"<!doctype html>")
    server.publish(f"{OLD}/index.json", b"<!doctype html>")
    refused = consumer.run("update")
    assert (refused.code, "is a web page (a login?)" in refused.stderr) == (1, True), refused


def test_an_archive_without_an_extension_is_recognized(consumer: IndexConsumer, server: GitServer) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("SKILL.md", make_skill("pdf")["SKILL.md"])
    server.publish("/download", Response(200, {}, archive.getvalue()))

    consumer.run("install", f"{server.address}/download", check=True)

    assert requirements(consumer) == {"pdf": {"url": f"{server.address}/download"}}


def test_a_skill_from_a_site_keeps_its_name(consumer: IndexConsumer, server: GitServer) -> None:
    serve(server, "pdf")

    refused = consumer.run("install", f"{server.address}/@pdf", "--as", "reader")

    assert (refused.code, refused.stderr.splitlines()[0]) == (
        2,
        f"error: --as cannot be used with `{server.address}/@pdf`: skills of an index and bundled ones keep "
        f"their names",
    )


def test_a_locked_site_that_the_manifest_does_not_name_is_refused(consumer: IndexConsumer, server: GitServer) -> None:
    serve(server, "pdf")
    consumer.run("install", server.address, check=True)
    lock = consumer.lockfile
    lock["skills"]["pdf"]["source"]["index"] = "https://evil.example/"
    consumer.write("skills.lock", json.dumps(lock))
    consumer.delete_state()

    for words in (["sync"], ["sync", "--frozen"], ["sync", "--locked"]):
        refused = consumer.run(*words)
        assert (refused.code, "but the manifest specifies another source" in refused.stderr) == (1, True)
    assert not consumer.exists(".agent-skills/pdf")


def test_a_dependency_may_name_a_site_only_over_https(consumer: IndexConsumer, server: GitServer) -> None:
    serve(server, "pdf")
    needs = {"skills": {"pdf": {"version": "*", "index": server.address}}}
    consumer.write("mine/SKILL.md", make_skill("mine")["SKILL.md"])
    consumer.write("mine/skills.json", json.dumps(needs))

    refused = consumer.run("install", "./mine")

    assert refused.code == 1
    assert f"requires `pdf` from {server.address}/, a source that only your skills.json may name" in refused.stderr


def test_a_site_without_valid_entries(consumer: IndexConsumer, server: GitServer) -> None:
    entry = {"name": "pdf", "type": "wasm", "description": "D.", "url": "x", "digest": "sha256:" + "0" * 64}
    server.publish(f"{NEW}/index.json", json.dumps({"$schema": SCHEMA, "skills": [entry]}).encode())

    refused = consumer.run("install", server.address)

    assert (refused.code, refused.stderr.splitlines()[1:]) == (
        1,
        [
            f"error: `{server.address}` has no skills that can be installed",
            "  hint: see the warnings for what was skipped",
        ],
    )


def test_an_invalid_index_name_is_a_usage_error(consumer: IndexConsumer) -> None:
    refused = consumer.run("install", "pdf", "--index", "../x")

    assert (refused.code, refused.stderr.splitlines()) == (
        2,
        [
            "error: invalid index name `../x`",
            "  hint: see `skillpm config get indexes`; for a site by its URL, use the SPEC https://site/@skill",
        ],
    )


def test_errors_of_a_server_name_who_can_fix_them(consumer: IndexConsumer, server: GitServer) -> None:
    server.publish(f"{NEW}/index.json", b'{"skills": 7}')
    assert consumer.run("install", server.address).stderr.splitlines()[-1] == (
        "  hint: report it to the maintainer of that site; nothing was changed"
    )
    server.publish("/x.zip", Response(302, {"Location": "file:///etc/passwd"}, b""))
    assert consumer.run("install", f"{server.address}/x.zip").stderr.splitlines()[-1] == (
        "  hint: report it to the server's administrator; nothing was downloaded"
    )


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("catalog.html#/skill/pdf", "pdf"),
        ("#/skill/pdf", "pdf"),
        ("catalog.html#/skill/pdf/scripts/print%20all.py", "pdf"),
        ("index.html#/skill/pdf", "pdf"),
        ("index.html", ""),
        ("#/?q=pd&sort=newest", ""),
        ("catalog.html", ""),
        ("catalog.html#/", ""),
    ],
)
def test_an_address_of_the_html_catalog_can_be_installed(
    publisher: IndexPublisher, server: GitServer, consumer: IndexConsumer, address: str, name: str
) -> None:
    publisher.write_draft("docx", "1.0.0")
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    serve_index(server, publisher.index_folder, "/skills")

    done = consumer.run("install", f"{server.address}/skills/{address}", *([] if name else ["--all"]), check=True)

    names = [name] if name else ["docx", "pdf"]
    assert done.stdout.splitlines()[: len(names)] == [f" + {each} 1.0.0" for each in names]


def test_an_older_version_of_a_site_can_be_installed(
    publisher: IndexPublisher, server: GitServer, consumer: IndexConsumer
) -> None:
    for version in ("1.0.0", "1.1.0"):
        publisher.write_draft("pdf", version)
        publisher.build()
    serve_index(server, publisher.index_folder)
    spec = f"{server.address}/@pdf"

    done = consumer.run("install", spec, "--version", "1.0.0", check=True)
    invalid = consumer.run("install", spec, "--version", "one")
    unknown = consumer.run("install", spec, "--tag", "v1")

    assert done.stdout.splitlines()[0] == " + pdf 1.0.0"
    assert consumer.manifest["skills"]["pdf"] == {"index": f"{server.address}/", "version": "1.0.0"}
    assert (invalid.code, invalid.error_output.splitlines()[0]) == (2, "error: invalid version range `one`")
    assert (unknown.code, unknown.error_output.splitlines()[0]) == (2, f"error: --tag cannot be used with `{spec}`")
