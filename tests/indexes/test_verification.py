"""`index check`: a built index has no problems, and every change to it is reported."""

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
def built(publisher: IndexPublisher) -> IndexPublisher:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.write_draft("pdf", "1.1.0", body="Better.\n")
    publisher.write_draft("tdd", "2.0.0")
    publisher.build()
    return publisher


def edit_json(path: Path, edit: Callable[[Any], Any]) -> None:
    value = json.loads(path.read_text())
    edit(value)
    path.write_text(json.dumps(value, indent=2) + "\n")


def test_a_built_index_has_no_problems(built: IndexPublisher, server: GitServer) -> None:
    serve_index(server, built.index_folder)

    for where in ("public", str(built.index_folder), server.address):
        result = built.run("index", "check", where)
        assert (result.code, result.stdout, result.stderr) == (0, "", "no problems found\n")


def test_an_index_with_yanked_versions_has_no_problems(built: IndexPublisher) -> None:
    built.run("index", "yank", "tdd@2.0.0", "public", check=True)
    built.run("index", "yank", "pdf@1.1.0", "public", check=True)

    assert built.run("index", "check", "public", "--json").json == {"ok": True, "problems": []}


def test_all_problems_are_reported_at_once(built: IndexPublisher) -> None:
    archive = built.index_folder / "archives/pdf-1.0.0.tar.gz"
    archive.write_bytes(archive.read_bytes()[:-1] + b"x")
    (built.index_folder / "archives/tdd-2.0.0.tar.gz").unlink()
    edit_json(built.index_folder / "skills/pdf.json", lambda it: it["versions"][0].update(size=7))
    edit_json(built.index_folder / "index.json", lambda it: it["skills"][0].update(description="Something else."))

    result = built.run("index", "check", "public")

    assert result.code == 1
    assert result.stderr == "4 problems\n"
    lines = result.stdout.splitlines()
    assert lines[0].startswith("pdf 1.1.0: the archive is ")
    assert lines[0].endswith(" bytes, the index says 7")
    assert lines[1] == "pdf 1.1.0: its catalog entry does not match its SKILL.md"
    assert lines[2].startswith(f"pdf 1.0.0: {archive} has SHA-256 ")
    assert lines[3].endswith("tdd-2.0.0.tar.gz does not exist")
    assert len(lines) == 4


@pytest.mark.parametrize(
    ("path", "edit", "message"),
    [
        (
            ".well-known/agent-skills/index.json",
            lambda it: it["skills"].pop(0),
            "`pdf` is missing",
        ),
        (
            ".well-known/agent-skills/index.json",
            lambda it: it["skills"][0].update(digest="sha256:" + "0" * 64),
            "`pdf` is not the latest version in the index",
        ),
        (
            "index.json",
            lambda it: it["skills"][0].update(latest="1.0.0"),
            "the catalog says that the latest version is 1.0.0",
        ),
        ("index.json", lambda it: it.update({"$schema": "x"}), 'expected "urn:skillpm:schema:index:1", got "x"'),
        ("skills/pdf.json", lambda it: it.update(name="tdd"), "these are the versions of `tdd`, not of `pdf`"),
        (
            "skills/pdf.json",
            lambda it: it["versions"][0].update(digest="sha256:" + "0" * 64),
            f"the index says sha256:{'0' * 64}",
        ),
    ],
)
def test_changed_documents_are_reported(
    built: IndexPublisher, path: str, edit: Callable[[Any], Any], message: str
) -> None:
    edit_json(built.index_folder / path, edit)

    result = built.run("index", "check", "public", "--json")

    assert result.code == 1
    assert any(problem["message"].endswith(message) for problem in result.json["problems"]), result.stdout


def test_a_folder_without_an_index(publisher: IndexPublisher) -> None:
    publisher.write("empty/readme", "Nothing here.\n")

    result = publisher.run("index", "check", "empty")

    assert (result.code, result.stdout) == (
        1,
        f"empty: no index found at {publisher.work}/empty/: neither index.json nor "
        ".well-known/agent-skills/index.json exists\n",
    )


def test_a_page_of_another_state_of_the_index_is_reported(built: IndexPublisher, server: GitServer) -> None:
    page = built.read("public/catalog.html")
    built.run("index", "yank", "pdf@1.1.0", "public", check=True)
    built.write("public/catalog.html", page)
    serve_index(server, built.index_folder)

    for where in ("public", server.address):
        problems = built.run("index", "check", where, "--json").json["problems"]
        assert [problem["message"] for problem in problems] == [
            "it shows another state of this index; run `skillpm index build` to write it again"
        ]
        assert problems[0]["where"].endswith("/catalog.html")


def test_a_changed_page_is_reported(built: IndexPublisher) -> None:
    built.write("public/catalog.html", built.read("public/catalog.html").replace("default-src 'none'", "default-src *"))

    result = built.run("index", "check", "public")

    assert (result.code, result.stdout) == (
        1,
        f"{built.index_folder}/catalog.html: its bytes were changed after it was written; "
        "remove it and run `skillpm index build`\n",
    )


@pytest.mark.parametrize("path", ["index.html", "skills/pdf.js"])
def test_a_changed_file_of_the_page_is_reported(built: IndexPublisher, server: GitServer, path: str) -> None:
    built.write(f"public/{path}", built.read(f"public/{path}") + "\n")
    serve_index(server, built.index_folder)

    for where, folder in (("public", f"{built.index_folder}/"), (server.address, f"{server.address}/")):
        assert built.run("index", "check", where, "--json").json["problems"] == [
            {
                "where": f"{folder}{path}",
                "message": "its bytes were changed after it was written; remove it and run `skillpm index build`",
            }
        ]


def test_a_missing_file_of_the_page_is_reported(built: IndexPublisher) -> None:
    missing = built.index_folder / "skills/pdf.js"
    missing.unlink()

    result = built.run("index", "check", "public")

    assert (result.code, result.stdout) == (1, f"{missing}: {missing} does not exist\n")


def test_a_page_by_another_version_of_a_library_is_accepted_if_it_shows_this_index(built: IndexPublisher) -> None:
    page = built.read("public/catalog.html")
    built.write("public/catalog.html", re.sub(r"nh3 [0-9.]+", "nh3 0.0.1", page).replace("Better.", "Better!"))

    built.write("public/skills/pdf.js", built.read("public/skills/pdf.js") + "\n")

    assert built.run("index", "check", "public", "--json").json == {"ok": True, "problems": []}


def test_an_index_without_a_page_has_no_problems(built: IndexPublisher) -> None:
    built.build("--no-catalog")

    assert built.run("index", "check", "public", "--json").json == {"ok": True, "problems": []}


def test_a_skill_that_only_the_discovery_document_lists_is_reported(built: IndexPublisher) -> None:
    built.write("public/index.json", json.dumps(built.read_json("index.json") | {"skills": []}))

    found = built.run("index", "check", "public", "--json").json

    listed = {entry["name"] for entry in built.read_json(".well-known/agent-skills/index.json")["skills"]}
    messages = {problem["message"] for problem in found["problems"]}
    assert listed
    assert {f"`{name}` is listed, but is not in the catalog" for name in listed} <= messages


@pytest.mark.parametrize("text", ["No frontmatter.\n", "---\nname: [\n", "\0"], ids=["bare", "broken", "nul"])
def test_a_skill_that_cannot_be_loaded_is_reported(built: IndexPublisher, text: str) -> None:
    data = tgz({"SKILL.md": text})
    (built.index_folder / "archives/pdf-1.1.0.tar.gz").write_bytes(data)
    line = f"{hashlib.sha256(text.encode()).hexdigest()}  SKILL.md\n"
    facts = {
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "digest": f"sha256:{hashlib.sha256(line.encode()).hexdigest()}",
    }
    edit_json(built.index_folder / "skills/pdf.json", lambda it: it["versions"][0].update(facts))
    edit_json(
        built.index_folder / ".well-known/agent-skills/index.json",
        lambda it: it["skills"][0].update(digest=f"sha256:{facts['sha256']}"),
    )

    result = built.run("index", "check", "public")

    assert (result.code, result.stderr) == (1, "1 problem\n")
    assert result.stdout.startswith("pdf 1.1.0: cannot be loaded: ")
