"""What an index served is never taken from another one, nor at a lower version, without the user's word."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer, Response


@pytest.fixture
def private(publisher: IndexPublisher, server: GitServer) -> str:
    publisher.write_draft("deploy", "1.0.0")
    publisher.build()
    publisher.write_draft("deploy", "1.1.0")
    publisher.build()
    serve_index(server, publisher.index_folder)
    return f"{server.address}/"


@pytest.fixture
def public(tmp_path: Path) -> Iterator[str]:
    publisher = IndexPublisher(tmp_path / "public")
    publisher.write_draft("deploy", "99.0.0")
    publisher.write_draft("chart", "1.0.0")
    publisher.build()
    with GitServer() as server:
        serve_index(server, publisher.index_folder)
        yield f"{server.address}/"


@pytest.fixture
def project(tmp_path: Path, private: str, public: str) -> IndexConsumer:
    """Return a project with `deploy` from the private index, which comes first, and `chart` from the public one."""
    project = IndexConsumer(tmp_path / "project")
    indexes = f'[{{"name": "corp", "url": "{private}"}}, {{"name": "public", "url": "{public}"}}]'
    project.write("skills.json", f'{{"indexes": {indexes}, "skills": {{"deploy": "*", "chart": "*"}}}}\n')
    project.run("sync", check=True)
    return project


def forget(server: GitServer) -> None:
    """Let the private index answer 404 for the skill, as a misrouted proxy does."""
    server.publish("/skills/deploy.json", Response(404, {}, b""))


def roll_back(server: GitServer, tmp_path: Path) -> None:
    """Let the private index offer the older version only."""
    older = IndexPublisher(tmp_path / "older")
    older.write_draft("deploy", "1.0.0")
    older.build()
    serve_index(server, older.index_folder)


def locked_version(project: IndexConsumer) -> str:
    return str(project.lockfile["skills"]["deploy"]["version"])


def test_update_keeps_a_skill_that_another_index_offers_only(project: IndexConsumer, server: GitServer) -> None:
    forget(server)

    result = project.run("update", check=True)

    assert result.stderr.splitlines()[0] == (
        "warning: `deploy` 1.1.0 is from the index corp, which no longer lists it, and the index public offers "
        "99.0.0; it stays as it is locked"
    )
    assert (result.stdout, locked_version(project)) == (
        f"nothing to do: 2 skills in {project.work}/.agent-skills\n",
        "1.1.0",
    )


def test_outdated_shows_no_version_that_update_refuses(project: IndexConsumer, server: GitServer) -> None:
    forget(server)
    expected = (
        "`deploy` 1.1.0 is from the index corp, which no longer lists it, and the index public offers 99.0.0; it stays "
        "as it is locked"
    )

    assert project.run("outdated", "--json", check=True).json == {"skills": [], "warnings": [expected]}
    result = project.run("outdated", "--exit-code", check=True)
    assert (result.stdout, result.stderr) == ("", f"warning: {expected}\neverything is up to date\n")


def test_a_new_range_does_not_lead_to_another_index(project: IndexConsumer, server: GitServer) -> None:
    forget(server)
    project.write("skills.json", project.read("skills.json").replace('"deploy": "*"', '"deploy": ">=2"'))
    before = project.read("skills.lock")

    result = project.run("sync")

    assert (result.code, result.stderr) == (
        1,
        "error: `deploy` 1.1.0 is from the index corp, which no longer lists it, and the index public offers 99.0.0\n"
        f"  where: {project.work}/skills.lock\n"
        "  hint: nothing was changed; to use another index, name it: `skillpm install NAME --index INDEX`\n",
    )
    assert project.read("skills.lock") == before


def test_naming_the_index_is_the_word_that_is_needed(project: IndexConsumer, server: GitServer) -> None:
    forget(server)

    project.run("install", "deploy", "--index", "public", check=True)

    assert locked_version(project) == "99.0.0"


def test_update_never_goes_back_to_an_older_version(project: IndexConsumer, server: GitServer, tmp_path: Path) -> None:
    roll_back(server, tmp_path)

    result = project.run("update", check=True)

    assert result.stderr.splitlines()[0] == (
        "warning: `deploy` 1.1.0 is from the index corp, which no longer lists it; the newest there is 1.0.0; it "
        "stays as it is locked"
    )
    assert locked_version(project) == "1.1.0"

    project.run("install", "deploy@==1.0.0", check=True)
    assert locked_version(project) == "1.0.0"


def test_an_index_that_was_removed_from_the_configuration_is_a_decision(project: IndexConsumer, private: str) -> None:
    project.write("skills.json", project.read("skills.json").replace(f'{{"name": "corp", "url": "{private}"}}, ', ""))

    project.run("update", "deploy", check=True)

    assert locked_version(project) == "99.0.0"
