"""`index build --onto`: a CI without memory adds to the index that is published, and no version is ever lost."""

import json
import shutil
from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer, Response

DATED = ("--published", "2026-01-01")


@pytest.fixture
def published(publisher: IndexPublisher, server: GitServer) -> str:
    """The URL of an index with `pdf` 1.0.0, of which the publisher has no copy; `pdf` 2.0.0 is its new source."""
    publisher.write_draft("pdf", "1.0.0")
    publisher.write_draft("docx", "1.0.0")
    publisher.build(*DATED)
    serve_index(server, publisher.index_folder, "/skills")
    shutil.rmtree(publisher.index_folder)
    publisher.write_draft("pdf", "2.0.0", body="Do it better.\n")
    return f"{server.address}/skills/"


def test_two_stateless_builds_keep_locked_consumers_in_sync(
    publisher: IndexPublisher, published: str, server: GitServer, tmp_path: Path
) -> None:
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=published)
    consumer.run("install", "pdf@1", check=True)
    first = consumer.render_tree(".agent-skills/pdf")

    publisher.build("--onto", published)
    serve_index(server, publisher.index_folder, "/skills")
    consumer.delete_state()
    consumer.run("sync", "--frozen", check=True)

    assert consumer.render_tree(".agent-skills/pdf") == first
    assert [version["version"] for version in publisher.read_json("skills/pdf.json")["versions"]] == ["2.0.0", "1.0.0"]
    publisher.run("index", "check", published, check=True)


def test_it_is_what_a_build_with_memory_makes(publisher: IndexPublisher, published: str) -> None:
    publisher.build("--onto", published, *DATED)
    stateless = publisher.snapshot("public")
    shutil.rmtree(publisher.index_folder)
    publisher.write_draft("pdf", "1.0.0")
    publisher.build(*DATED)
    publisher.write_draft("pdf", "2.0.0", body="Do it better.\n")

    publisher.build(*DATED)

    assert publisher.snapshot("public") == stateless


def test_a_published_version_with_other_content_is_refused(publisher: IndexPublisher, published: str) -> None:
    publisher.write_draft("pdf", "1.0.0", body="Do something else.\n")

    result = publisher.run("index", "build", "skills", "--out", "public", "--onto", published)

    assert result.code == 1
    assert "`pdf` 1.0.0 is already published with other content" in result.stderr


def test_yanked_versions_stay_yanked_even_if_no_other_is_left(
    publisher: IndexPublisher, published: str, server: GitServer
) -> None:
    publisher.build("--onto", published)
    for version in ("1.0.0", "2.0.0"):
        publisher.run("index", "yank", f"pdf@{version}", "public", "--reason", "deletes files", check=True)
    serve_index(server, publisher.index_folder, "/skills")
    before = publisher.read_json("skills/pdf.json")
    shutil.rmtree(publisher.index_folder)

    publisher.build("--onto", published)

    assert publisher.read_json("skills/pdf.json") == before


def test_a_wrong_address_never_begins_a_new_history(publisher: IndexPublisher, published: str) -> None:
    result = publisher.run("index", "build", "skills", "--out", "public", "--onto", f"{published}typo/")

    assert (result.code, result.stdout, result.error_output) == (
        1,
        "",
        f"error: there is no index at {published}typo/: index.json does not exist\n"
        "  hint: check the address; to publish an index for the first time, omit --onto; nothing was written\n",
    )
    assert not publisher.index_folder.exists()


def test_a_folder_with_an_index_is_not_mixed_with_another_one(publisher: IndexPublisher, published: str) -> None:
    publisher.build()

    result = publisher.run("index", "build", "skills", "--out", "public", "--onto", published)

    assert (result.code, result.error_output.splitlines()[1]) == (
        1,
        "  hint: pass --out with a new folder, or add to this index without --onto",
    )


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("archives/pdf-1.0.0.tar.gz", "`pdf` 1.0.0: archives/pdf-1.0.0.tar.gz does not have the published checksum"),
        ("catalog.html", "`pdf` 1.0.0: its archive is catalog.html, not archives/pdf-1.0.0.tar.gz"),
        ("../../x", "the path `../../x` has an empty, `.` or `..` part"),
    ],
)
def test_a_server_cannot_bring_other_archives_or_write_elsewhere(
    publisher: IndexPublisher, published: str, server: GitServer, url: str, message: str
) -> None:
    publisher.build("--onto", published)
    document = publisher.read_json("skills/pdf.json")
    document["versions"] = [
        {**version, "url": url} for version in document["versions"] if version["version"] == "1.0.0"
    ]
    shutil.rmtree(publisher.index_folder)
    server.publish("/skills/skills/pdf.json", Response(200, {}, json.dumps(document).encode()))
    server.publish("/skills/archives/pdf-1.0.0.tar.gz", Response(200, {}, b"something else"))

    result = publisher.run("index", "build", "skills", "--out", "public", "--onto", published)

    assert result.code == 1
    assert result.error_output.splitlines()[0] == f"error: {message}"
    assert not (publisher.index_folder / "index.json").exists()


def test_a_listed_skill_without_its_document_stops_the_build(
    publisher: IndexPublisher, published: str, server: GitServer
) -> None:
    server.publish("/skills/skills/docx.json", Response(404, {}, b""))

    result = publisher.run("index", "build", "skills", "--out", "public", "--onto", published)

    assert (result.code, result.error_output) == (
        1,
        f"error: `docx`: the index lists it, but {published}skills/docx.json does not exist\n",
    )


def test_a_build_that_failed_can_be_repeated(publisher: IndexPublisher, published: str) -> None:
    valid = publisher.read("skills/pdf/SKILL.md")
    publisher.write("skills/pdf/SKILL.md", "no frontmatter\n")

    failed = publisher.run("index", "build", "skills", "--out", "public", "--onto", published)
    publisher.write("skills/pdf/SKILL.md", valid)
    publisher.build("--onto", published)

    assert failed.code == 1
    assert [version["version"] for version in publisher.read_json("skills/pdf.json")["versions"]] == ["2.0.0", "1.0.0"]


@pytest.mark.parametrize("folder", ["archives", "skills", ".well-known"])
def test_nothing_is_written_through_a_link_in_the_folder(
    publisher: IndexPublisher, published: str, folder: str, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    publisher.index_folder.mkdir()
    (publisher.index_folder / folder).symlink_to(elsewhere)

    result = publisher.run("index", "build", "skills", "--out", "public", "--onto", published)

    assert (result.code, result.error_output.splitlines()[0]) == (
        1,
        f"error: `{folder}` of an index must be a folder, not a symbolic link",
    )
    assert [*elsewhere.iterdir()] == []


def test_archives_that_are_stored_elsewhere_stay_there(
    publisher: IndexPublisher, published: str, server: GitServer
) -> None:
    publisher.build("--onto", published)
    document = publisher.read_json("skills/docx.json")
    document["versions"][0]["url"] = "https://files.example/docx.tar.gz"
    server.publish("/skills/skills/docx.json", Response(200, {}, json.dumps(document).encode()))
    shutil.rmtree(publisher.index_folder)

    publisher.build("--onto", published)

    assert publisher.read_json("skills/docx.json")["versions"] == document["versions"]
    assert not (publisher.index_folder / "archives/docx-1.0.0.tar.gz").exists()
