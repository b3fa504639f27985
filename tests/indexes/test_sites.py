"""A site as a SPEC: `install https://site`, ours or of Agent Skills Discovery in both versions."""

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
    """Serve a site of v0.2.0: skills of one file."""
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
    """Serve a site of v0.1.0: the files of each skill."""
    for name in names:
        server.publish(f"{OLD}/{name}/SKILL.md", Response(200, {}, make_skill(name, f"What {name} does.")["SKILL.md"]))
    entries = [{"name": name, "description": f"What {name} does.", "files": ["SKILL.md"]} for name in names]
    server.publish(f"{OLD}/index.json", Response(200, {}, json.dumps({"skills": entries}).encode()))


def wanted(consumer: IndexConsumer) -> Any:
    return consumer.manifest["skills"]


@pytest.mark.parametrize("serve", [serve, serve_old])
def test_the_one_skill_of_a_site_is_installed(
    consumer: IndexConsumer, server: GitServer, serve: Any, tmp_path: Path
) -> None:
    serve(server, "pdf")

    consumer.run("install", server.address, check=True)

    assert wanted(consumer) == {"pdf": {"version": "*", "index": f"{server.address}/"}}
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
def test_a_site_of_several_is_listed_and_one_is_chosen(consumer: IndexConsumer, server: GitServer, serve: Any) -> None:
    serve(server, "pdf", "docx")

    refused = consumer.run("install", server.address)
    assert (refused.code, refused.stderr.splitlines()) == (
        1,
        [
            f"error: `{server.address}` holds 2 skills: docx, pdf",
            f"  try: choose one with `{server.address}/@docx`, or take all with `--all`",
        ],
    )
    listed = consumer.run("install", server.address, "--list", check=True)
    assert listed.stdout == "docx  What docx does.\npdf   What pdf does.\n"
    assert listed.stderr == f"2 skills; install one with `skillpm install {server.address}/@NAME`\n"
    assert wanted(consumer) == {}

    consumer.run("install", f"{server.address}/@docx", check=True)
    assert [*wanted(consumer)] == ["docx"]
    consumer.run("install", server.address, "--all", check=True)
    assert [*wanted(consumer)] == ["docx", "pdf"]


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
        assert wanted(consumer) == {"pdf": {"version": "*", "index": f"{server.address}{top}"}}


def test_one_of_our_indexes_gives_a_range_and_is_asked_for_nothing_else(
    desk: IndexPublisher, consumer: IndexConsumer, server: GitServer
) -> None:
    for name, version in (("pdf", "1.2.0"), ("testing", "9.0.0")):
        desk.write_draft(name, version)
    desk.build()
    serve_index(server, desk.index_folder)

    consumer.run("install", f"{server.address}/@pdf", "testing", check=True)

    assert wanted(consumer) == {
        "pdf": {"version": "^1.2.0", "index": f"{server.address}/"},
        "testing": {"bundled": True},
    }
    desk.write_draft("pdf", "1.3.0")
    desk.build()
    serve_index(server, desk.index_folder)
    assert consumer.run("outdated").stdout.splitlines()[1].split() == ["pdf", "1.2.0", "1.3.0", "1.3.0"]
    consumer.run("update", check=True)
    assert consumer.lockfile["skills"]["pdf"]["version"] == "1.3.0"
    assert consumer.run("install", f"{server.address}/@pdf").stdout.startswith("nothing to do")
    offline = consumer.run("install", f"{server.address}/@pdf", "--offline")
    assert (offline.code, offline.stdout[:13]) == (0, "nothing to do")


def test_a_skill_that_the_site_lacks(consumer: IndexConsumer, server: GitServer) -> None:
    serve(server, "pdf")
    host = server.address.removeprefix("http://")

    refused = consumer.run("install", f"{server.address}/@docx")

    assert (refused.code, refused.stderr.splitlines()) == (
        1,
        [
            f"error: the index {host} ({server.address}/) has no skill `docx`",
            f"  try: what it has: skillpm install {server.address}/ --list",
        ],
    )
    assert wanted(consumer) == {}


@pytest.mark.parametrize("words", [[], ["--list"]])
def test_what_is_neither_site_nor_file_is_told_with_every_spelling(
    consumer: IndexConsumer, server: GitServer, words: list[str]
) -> None:
    refused = consumer.run("install", f"{server.address}/o/r", *words)

    lines = refused.stderr.splitlines()
    assert (refused.code, lines[0].split(" (")[0]) == (1, f"error: `{server.address}/o/r` is no site of skills")
    assert "neither index.json nor .well-known/agent-skills/index.json below" in lines[0]
    assert lines[-1] == (
        f"  try: a git repository is git+{server.address}/o/r, an archive ends in .tar.gz or .zip, "
        "a site has one of these files"
    )


def test_a_page_that_is_neither_says_what_it_is(consumer: IndexConsumer, server: GitServer) -> None:
    server.publish("/about", Response(200, {}, b"<!doctype html><title>About us</title>"))

    refused = consumer.run("install", f"{server.address}/about")

    assert refused.code == 1
    assert "is no site of skills" in refused.stderr
    assert "and no archive (" in refused.stderr


def test_a_file_without_a_telling_name_is_still_a_file(consumer: IndexConsumer, server: GitServer) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("SKILL.md", make_skill("pdf")["SKILL.md"])
    server.publish("/download", Response(200, {}, archive.getvalue()))

    consumer.run("install", f"{server.address}/download", check=True)

    assert wanted(consumer) == {"pdf": {"url": f"{server.address}/download"}}


def test_a_skill_from_a_site_keeps_its_name(consumer: IndexConsumer, server: GitServer) -> None:
    serve(server, "pdf")

    refused = consumer.run("install", f"{server.address}/@pdf", "--as", "reader")

    assert (refused.code, refused.stderr.splitlines()[0]) == (
        2,
        f"error: --as does not go with `{server.address}/@pdf`: what an index has or ships with skillpm keeps its name",
    )


def test_a_lockfile_may_not_lead_to_a_site_that_the_manifest_does_not_name(
    consumer: IndexConsumer, server: GitServer
) -> None:
    serve(server, "pdf")
    consumer.run("install", server.address, check=True)
    lock = consumer.lockfile
    lock["skills"]["pdf"]["source"]["index"] = "https://evil.example/"
    consumer.write("skills.lock", json.dumps(lock))
    consumer.delete_state()

    for words in (["sync"], ["sync", "--frozen"], ["sync", "--locked"]):
        refused = consumer.run(*words)
        assert (refused.code, "but the manifest names another place" in refused.stderr) == (1, True)
    assert not consumer.exists(".agent-skills/pdf")


def test_a_need_of_a_skill_may_name_a_site_over_https_only(consumer: IndexConsumer, server: GitServer) -> None:
    serve(server, "pdf")
    needs = {"skills": {"pdf": {"version": "*", "index": server.address}}}
    consumer.write("mine/SKILL.md", make_skill("mine")["SKILL.md"])
    consumer.write("mine/skills.json", json.dumps(needs))

    refused = consumer.run("install", "./mine")

    assert refused.code == 1
    assert f"needs `pdf` from {server.address}/, and only your own skills.json may name such a place" in refused.stderr


def test_a_site_that_offers_nothing_that_is_understood(consumer: IndexConsumer, server: GitServer) -> None:
    entry = {"name": "pdf", "type": "wasm", "description": "D.", "url": "x", "digest": "sha256:" + "0" * 64}
    server.publish(f"{NEW}/index.json", json.dumps({"$schema": SCHEMA, "skills": [entry]}).encode())

    refused = consumer.run("install", server.address)

    assert (refused.code, refused.stderr.splitlines()[1:]) == (
        1,
        [
            f"error: `{server.address}` offers no skill that can be installed",
            "  try: warnings say what was left out",
        ],
    )


def test_an_index_has_a_name_and_a_site_an_address(consumer: IndexConsumer) -> None:
    refused = consumer.run("install", "pdf", "--index", "../x")

    assert (refused.code, refused.stderr.splitlines()) == (
        2,
        [
            "error: `../x` is no name of an index",
            "  try: name one of `skillpm config get indexes`; a site by its address is a SPEC: https://site/@skill",
        ],
    )


def test_what_a_server_says_wrongly_is_its_keepers_to_mend(consumer: IndexConsumer, server: GitServer) -> None:
    server.publish(f"{NEW}/index.json", b'{"skills": 7}')
    assert consumer.run("install", server.address).stderr.splitlines()[-1] == (
        "  try: tell whoever keeps that address; nothing was changed here"
    )
    server.publish("/x.zip", Response(302, {"Location": "file:///etc/passwd"}, b""))
    assert consumer.run("install", f"{server.address}/x.zip").stderr.splitlines()[-1] == (
        "  try: tell whoever keeps that server; nothing was taken from there"
    )
