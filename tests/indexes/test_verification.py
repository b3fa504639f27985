"""`index check`: an index of ours is sound, and whatever is changed in it is named."""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fetchers.packing import tgz
from indexes.world import IndexPublisher, serve_index
from kit import GitServer


@pytest.fixture
def built(desk: IndexPublisher) -> IndexPublisher:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    desk.write_draft("pdf", "1.1.0", body="Better.\n")
    desk.write_draft("tdd", "2.0.0")
    desk.build()
    return desk


def changed(path: Path, edit: Callable[[Any], Any]) -> None:
    value = json.loads(path.read_text())
    edit(value)
    path.write_text(json.dumps(value, indent=2) + "\n")


def test_what_was_built_is_sound(built: IndexPublisher, server: GitServer) -> None:
    serve_index(server, built.index_folder)

    for where in ("public", str(built.index_folder), server.address):
        result = built.run("index", "check", where)
        assert (result.code, result.stdout, result.stderr) == (0, "", "the index is sound\n")


def test_a_yanked_index_is_sound_too(built: IndexPublisher) -> None:
    built.run("index", "yank", "tdd@2.0.0", "public", check=True)
    built.run("index", "yank", "pdf@1.1.0", "public", check=True)

    assert built.run("index", "check", "public", "--json").json == {"ok": True, "problems": []}


def test_every_wrong_thing_is_named_at_once(built: IndexPublisher) -> None:
    archive = built.index_folder / "archives/pdf-1.0.0.tar.gz"
    archive.write_bytes(archive.read_bytes()[:-1] + b"x")
    (built.index_folder / "archives/tdd-2.0.0.tar.gz").unlink()
    changed(built.index_folder / "skills/pdf.json", lambda it: it["versions"][0].update(size=7))
    changed(built.index_folder / "index.json", lambda it: it["skills"][0].update(description="Something else."))

    result = built.run("index", "check", "public")

    assert result.code == 1
    assert result.stderr == "4 problems\n"
    lines = result.stdout.splitlines()
    assert lines[0].startswith("pdf 1.1.0: the archive has ")
    assert lines[0].endswith(" bytes, and the index says 7")
    assert lines[1] == "pdf 1.1.0: the catalogue describes it otherwise than its SKILL.md does"
    assert lines[2].startswith(f"pdf 1.0.0: {archive} has the SHA-256 ")
    assert lines[3].endswith("tdd-2.0.0.tar.gz is not there")
    assert len(lines) == 4


@pytest.mark.parametrize(
    ("path", "edit", "told"),
    [
        (
            ".well-known/agent-skills/index.json",
            lambda it: it["skills"].pop(0),
            "`pdf` is not there",
        ),
        (
            ".well-known/agent-skills/index.json",
            lambda it: it["skills"][0].update(digest="sha256:" + "0" * 64),
            "`pdf` is not the newest of the index",
        ),
        (
            "index.json",
            lambda it: it["skills"][0].update(latest="1.0.0"),
            "the catalogue says that the newest is 1.0.0",
        ),
        ("index.json", lambda it: it.update({"$schema": "x"}), 'expected "urn:skillpm:schema:index:1", got "x"'),
        ("skills/pdf.json", lambda it: it.update(name="tdd"), "these are the versions of `tdd`, not of `pdf`"),
        (
            "skills/pdf.json",
            lambda it: it["versions"][0].update(digest="sha256:" + "0" * 64),
            f"and the index says sha256:{'0' * 64}",
        ),
    ],
)
def test_a_document_that_says_something_else(
    built: IndexPublisher, path: str, edit: Callable[[Any], Any], told: str
) -> None:
    changed(built.index_folder / path, edit)

    result = built.run("index", "check", "public", "--json")

    assert result.code == 1
    assert any(problem["message"].endswith(told) for problem in result.json["problems"]), result.stdout


def test_a_place_without_an_index(desk: IndexPublisher) -> None:
    desk.write("empty/readme", "Nothing here.\n")

    result = desk.run("index", "check", "empty")

    assert (result.code, result.stdout) == (
        1,
        f"empty: there is no index at {desk.work}/empty/: neither index.json nor .well-known/agent-skills/index.json\n",
    )


def test_a_page_of_another_state_of_the_index_is_named(built: IndexPublisher, server: GitServer) -> None:
    page = built.read("public/catalog.html")
    built.run("index", "yank", "pdf@1.1.0", "public", check=True)
    built.write("public/catalog.html", page)
    serve_index(server, built.index_folder)

    for where in ("public", server.address):
        problems = built.run("index", "check", where, "--json").json["problems"]
        assert [problem["message"] for problem in problems] == [
            "it shows another state of this index; the next `skillpm index build` writes it anew"
        ]
        assert problems[0]["where"].endswith("/catalog.html")


def test_a_page_that_was_changed_is_named(built: IndexPublisher) -> None:
    built.write("public/catalog.html", built.read("public/catalog.html").replace("default-src 'none'", "default-src *"))

    result = built.run("index", "check", "public")

    assert (result.code, result.stdout) == (
        1,
        f"{built.index_folder}/catalog.html: it is not what was written; "
        "remove it, and `skillpm index build` writes it anew\n",
    )


def test_a_page_by_another_version_of_a_library_is_believed_when_it_shows_this_index(built: IndexPublisher) -> None:
    page = built.read("public/catalog.html")
    built.write("public/catalog.html", re.sub(r"nh3 [0-9.]+", "nh3 0.0.1", page).replace("Better.", "Better!"))

    assert built.run("index", "check", "public", "--json").json == {"ok": True, "problems": []}


def test_an_index_without_a_page_is_sound(built: IndexPublisher) -> None:
    built.build("--no-catalog")

    assert built.run("index", "check", "public", "--json").json == {"ok": True, "problems": []}


def test_a_catalogue_that_names_nothing_where_other_clients_see_a_skill(built: IndexPublisher) -> None:
    built.write("public/index.json", json.dumps(built.read_json("index.json") | {"skills": []}))

    found = built.run("index", "check", "public", "--json").json

    offered = {entry["name"] for entry in built.read_json(".well-known/agent-skills/index.json")["skills"]}
    messages = {problem["message"] for problem in found["problems"]}
    assert offered
    assert {f"`{name}` is there, and the catalogue offers none of that name" for name in offered} <= messages


@pytest.mark.parametrize("text", ["No frontmatter.\n", "---\nname: [\n", "\0"], ids=["bare", "broken", "nul"])
def test_a_skill_that_cannot_be_loaded_is_named_and_ends_nothing(built: IndexPublisher, text: str) -> None:
    data = tgz({"SKILL.md": text})
    (built.index_folder / "archives/pdf-1.1.0.tar.gz").write_bytes(data)
    line = f"{hashlib.sha256(text.encode()).hexdigest()}  SKILL.md\n"
    facts = {
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "digest": f"sha256:{hashlib.sha256(line.encode()).hexdigest()}",
    }
    changed(built.index_folder / "skills/pdf.json", lambda it: it["versions"][0].update(facts))
    changed(
        built.index_folder / ".well-known/agent-skills/index.json",
        lambda it: it["skills"][0].update(digest=f"sha256:{facts['sha256']}"),
    )

    result = built.run("index", "check", "public")

    assert (result.code, result.stderr) == (1, "1 problem\n")
    assert result.stdout.startswith("pdf 1.1.0: it cannot be loaded: ")
