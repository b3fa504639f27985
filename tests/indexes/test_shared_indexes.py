"""What a project takes from an index that only its author's config.toml names: others must be able to sync it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer


@pytest.fixture
def acme(desk: IndexPublisher, server: GitServer) -> str:
    """Give the address of an index of `report`, which needs `pdf`."""
    desk.write_draft("pdf", "1.0.0")
    desk.write_draft("report", "1.0.0", **{"skill-dependencies": "pdf"})
    desk.build()
    serve_index(server, desk.index_folder)
    return f"{server.address}/"


@pytest.fixture
def other(tmp_path: Path) -> Iterator[str]:
    """Give the address of a second index, of `mail`, and of another `pdf`."""
    desk = IndexPublisher(tmp_path / "other-desk")
    desk.write_draft("mail", "1.0.0")
    desk.write_draft("pdf", "9.0.0")
    desk.build()
    with GitServer() as server:
        serve_index(server, desk.index_folder)
        yield f"{server.address}/"


@pytest.fixture
def author(tmp_path: Path) -> IndexConsumer:
    """Give a project whose manifest names no index."""
    author = IndexConsumer(tmp_path / "author")
    author.write("skills.json", '{\n  "skills": {}\n}\n')
    return author


def rows(**indexes: str) -> str:
    return "".join(f'[[indexes]]\nname = "{name}"\nurl = "{url}"\n' for name, url in indexes.items())


def test_install_names_the_index_so_that_a_fresh_clone_syncs(author: IndexConsumer, acme: str, tmp_path: Path) -> None:
    author.write_config(rows(acme=acme))

    said = author.run("install", "report", check=True)

    assert said.stderr.splitlines()[0] == f"skills.json names the index `acme` now, so that others can sync: {acme}"
    assert author.read("skills.json") == (
        f'{{\n  "indexes": [{{"name": "acme", "url": "{acme}"}}],\n  "skills": {{\n    "report": "^1.0.0"\n  }}\n}}\n'
    )
    colleague = author.clone(tmp_path / "colleague")
    assert colleague.run("sync", "--frozen", check=True).stdout == (
        f" + pdf 1.0.0\n + report 1.0.0\nadded 2: 2 skills in {colleague.work}/.agent-skills\n"
    )
    assert author.run("install", "report").stdout == f"nothing to do: 2 skills in {author.work}/.agent-skills\n"


def test_a_dry_run_only_says_it_and_json_has_it_too(author: IndexConsumer, acme: str) -> None:
    author.write_config(rows(acme=acme))
    before = author.read("skills.json")

    value = author.run("install", "report", "--dry-run", "--json", check=True).json

    assert value["notes"] == [f"skills.json would name the index `acme` now, so that others can sync: {acme}"]
    assert author.read("skills.json") == before


def test_a_folder_of_this_machine_is_named_with_a_word_about_it(
    author: IndexConsumer, acme: str, desk: IndexPublisher
) -> None:
    author.write_config(rows(acme=str(desk.index_folder)))

    said = author.run("install", "report", check=True)

    assert acme
    assert said.stderr.splitlines()[0] == (
        f"skills.json names the index `acme` now, so that others can sync: {desk.index_folder}/, "
        f"a folder that they need at the same place"
    )


def test_an_index_that_the_manifest_names_or_that_is_in_the_spec_is_not_named_again(
    author: IndexConsumer, acme: str
) -> None:
    author.write_config(rows(acme=acme))

    author.run("install", f"{acme}@report", check=True)

    assert "indexes" in author.manifest  # the `pdf` that `report` needs is looked for in the indexes
    author.set_indexes(acme=acme)
    before = author.manifest["indexes"]
    author.run("install", "pdf", check=True)
    assert author.manifest["indexes"] == before


def test_ones_own_index_that_is_asked_first_stays_the_first(author: IndexConsumer, acme: str, other: str) -> None:
    author.write_config(rows(acme=acme, other=other))

    author.run("install", "mail", check=True)

    assert author.manifest["indexes"] == [{"name": "other", "url": other}]
    author.run("install", "pdf", check=True)
    assert author.locked_source("pdf")["index"] == acme  # a stranger's pdf 9.0.0 was not asked for
    assert author.manifest["indexes"] == [{"name": "acme", "url": acme}, {"name": "other", "url": other}]


@pytest.mark.parametrize("command", ["sync", "lock", "update"])
def test_a_manifest_that_was_written_by_hand_is_not_edited_but_told_what_lacks(
    author: IndexConsumer, acme: str, command: str
) -> None:
    author.write_config(rows(acme=acme))
    author.write("skills.json", '{"skills": {"pdf": "*"}}\n')

    said = author.run(command, check=True)

    assert said.stderr.splitlines()[0] == (
        "warning: skills.lock takes skills from the index `acme`, which only your config.toml names: nobody else can "
        f'sync; add "indexes": [{{"name": "acme", "url": "{acme}"}}] in {author.work}/skills.json'
    )
    assert author.read("skills.json") == '{"skills": {"pdf": "*"}}\n'
    assert "warning" not in author.run(command, check=True).stderr
    shutil.rmtree(author.work / ".agent-skills", ignore_errors=True)
    assert "warning" not in author.run("sync", "--frozen", check=True).stderr


def test_in_user_scope_config_and_manifest_lie_together(author: IndexConsumer, acme: str) -> None:
    author.write_config(rows(acme=acme))

    said = author.run("install", "-g", "report", check=True)

    assert "skills.json" not in said.stderr
    assert "indexes" not in (author.home / ".config/skillpm/skills.json").read_text()


def test_a_site_and_the_index_of_its_address_are_one_place(
    author: IndexConsumer, acme: str, desk: IndexPublisher
) -> None:
    author.run("install", f"{acme}@pdf", check=True)
    desk.write_draft("pdf", "1.1.0")
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
