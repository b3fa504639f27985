"""Projects that use an index from their author's config.toml: others must be able to sync them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer


@pytest.fixture
def acme(publisher: IndexPublisher, server: GitServer) -> str:
    """The URL of an index with `report`, which requires `pdf`."""
    publisher.write_draft("pdf", "1.0.0")
    publisher.write_draft("report", "1.0.0", **{"skill-dependencies": "pdf"})
    publisher.build()
    serve_index(server, publisher.index_folder)
    return f"{server.address}/"


@pytest.fixture
def other(tmp_path: Path) -> Iterator[str]:
    """The URL of a second index, with `mail` and another `pdf`."""
    publisher = IndexPublisher(tmp_path / "other-publisher")
    publisher.write_draft("mail", "1.0.0")
    publisher.write_draft("pdf", "9.0.0")
    publisher.build()
    with GitServer() as server:
        serve_index(server, publisher.index_folder)
        yield f"{server.address}/"


@pytest.fixture
def author(tmp_path: Path) -> IndexConsumer:
    """A project whose manifest declares no index."""
    author = IndexConsumer(tmp_path / "author")
    author.write("skills.json", '{\n  "skills": {}\n}\n')
    return author


def rows(**indexes: str) -> str:
    return "".join(f'[[indexes]]\nname = "{name}"\nurl = "{url}"\n' for name, url in indexes.items())


def test_install_adds_the_index_to_the_manifest_so_that_a_clone_can_sync(
    author: IndexConsumer, acme: str, tmp_path: Path
) -> None:
    author.write_config(rows(acme=acme))

    result = author.run("install", "report", check=True)

    assert result.stderr.splitlines()[0] == f"added the index `acme` to skills.json, so that others can sync: {acme}"
    assert author.read("skills.json") == (
        f'{{\n  "indexes": [{{"name": "acme", "url": "{acme}"}}],\n  "skills": {{\n    "report": "^1.0.0"\n  }}\n}}\n'
    )
    colleague = author.clone(tmp_path / "colleague")
    assert colleague.run("sync", "--frozen", check=True).stdout == (
        f" + pdf 1.0.0\n + report 1.0.0\nadded 2; total: 2 skills in {colleague.work}/.agent-skills\n"
    )
    assert author.run("install", "report").stdout == f"nothing to do: 2 skills in {author.work}/.agent-skills\n"


def test_a_dry_run_reports_the_index_that_it_would_add(author: IndexConsumer, acme: str) -> None:
    author.write_config(rows(acme=acme))
    before = author.read("skills.json")

    value = author.run("install", "report", "--dry-run", "--json", check=True).json

    assert value["notes"] == [f"would add the index `acme` to skills.json, so that others can sync: {acme}"]
    assert author.read("skills.json") == before


def test_adding_a_local_folder_as_index_has_a_note(author: IndexConsumer, acme: str, publisher: IndexPublisher) -> None:
    author.write_config(rows(acme=str(publisher.index_folder)))

    result = author.run("install", "report", check=True)

    assert acme
    assert result.stderr.splitlines()[0] == (
        f"added the index `acme` to skills.json, so that others can sync: {publisher.index_folder}/ "
        "(a folder, which they need at the same path)"
    )


def test_an_index_in_the_manifest_or_the_spec_is_not_added_again(author: IndexConsumer, acme: str) -> None:
    author.write_config(rows(acme=acme))

    author.run("install", f"{acme}@report", check=True)

    assert "indexes" not in author.manifest  # its dependency `pdf` is looked up there, too
    author.set_indexes(acme=acme)
    before = author.manifest["indexes"]
    author.run("install", "pdf", check=True)
    assert author.manifest["indexes"] == before


def test_an_added_index_keeps_the_order_of_the_configuration(author: IndexConsumer, acme: str, other: str) -> None:
    author.write_config(rows(acme=acme, other=other))

    author.run("install", "mail", check=True)

    assert author.manifest["indexes"] == [{"name": "other", "url": other}]
    author.run("install", "pdf", check=True)
    assert author.locked_source("pdf")["index"] == acme  # not pdf 9.0.0 of the other index
    assert author.manifest["indexes"] == [{"name": "acme", "url": acme}, {"name": "other", "url": other}]


@pytest.mark.parametrize("command", ["sync", "lock", "update"])
def test_sync_does_not_edit_the_manifest_but_reports_the_missing_index(
    author: IndexConsumer, acme: str, command: str
) -> None:
    author.write_config(rows(acme=acme))
    author.write("skills.json", '{"skills": {"pdf": "*"}}\n')

    result = author.run(command, check=True)

    assert result.stderr.splitlines()[0] == (
        "warning: skills.lock requires the index `acme`, which only your config.toml configures, so others cannot "
        f'sync; add "indexes": [{{"name": "acme", "url": "{acme}"}}] in {author.work}/skills.json'
    )
    assert author.read("skills.json") == '{"skills": {"pdf": "*"}}\n'
    assert "warning" not in author.run(command, check=True).stderr
    shutil.rmtree(author.work / ".agent-skills", ignore_errors=True)
    assert "warning" not in author.run("sync", "--frozen", check=True).stderr


def test_in_user_scope_the_manifest_is_not_changed(author: IndexConsumer, acme: str) -> None:
    author.write_config(rows(acme=acme))

    result = author.run("install", "-g", "report", check=True)

    assert "skills.json" not in result.stderr
    assert "indexes" not in (author.home / ".config/skillpm/skills.json").read_text()


def test_a_site_and_an_index_with_the_same_url_are_one_source(
    author: IndexConsumer, acme: str, publisher: IndexPublisher
) -> None:
    author.run("install", f"{acme}@pdf", check=True)
    publisher.write_draft("pdf", "1.1.0")
    author.set_indexes(acme=acme)
    author.write(
        "skills.json",
        author.read("skills.json").replace("{}", f'{{"pdf": {{"version": "^1.0.0", "index": "{acme}"}}}}'),
    )

    changed = author.run("install", "pdf@>=1.0", check=True)

    assert changed.stdout.splitlines()[-1].startswith("manifest and lockfile brought up to date")
    assert author.manifest["skills"] == {"pdf": ">=1.0"}
    author.run("install", f"{acme}@pdf", check=True)
    author.run("install", "pdf@==1.0.0", "--index", "acme", check=True)
    assert author.manifest["skills"] == {"pdf": {"version": "==1.0.0", "index": "acme"}}
