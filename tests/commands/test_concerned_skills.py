"""Errors about sources name every skill that they concern, in text and in JSON."""

import shutil
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer, Repository, Response, Sandbox, make_skill, prefix_paths

NAMES = ["alpha", "beta", "delta", "gamma", "omega"]


@pytest.fixture
def five(scene: CommandSandbox, server: GitServer, tmp_path: Path) -> str:
    """Serve a repository of five skills; return its URL, `FIVE` in outputs."""
    repository = Repository.create(tmp_path / "five")
    for name in NAMES:
        repository.write(prefix_paths(f"skills/{name}", make_skill(name)))
    repository.commit()
    repository.tag("v1.0.0")
    url = server.serve("acme/five", repository)
    scene.placeholders = {url: "FIVE", **scene.placeholders}
    return url


def forget(project: Sandbox) -> None:
    """Delete the installed skills and the caches, as on a new machine."""
    shutil.rmtree(project.work / ".agent-skills")
    shutil.rmtree(project.cache)


def concerned(project: Sandbox, *command: str) -> list[str]:
    """Return the skills that the error of a command names."""
    result = project.run(*command, "--json")
    assert result.code == 1, result
    skills = result.json["error"]["skills"]
    assert isinstance(skills, list)
    return skills


def test_a_repository_that_is_gone(scene: CommandSandbox, server: GitServer, five: str, served: str) -> None:
    scene.create_project().run("install", five, "-s", *NAMES, check=True)
    scene.run("install", "testing", f"{served}@pdf", check=True)
    server.remove("acme/five")
    forget(scene)

    assert scene.output("sync") == expected_output("""\
! error: there is no git repository at FIVE
!   skills: alpha, beta, delta, gamma, omega
!   hint: check the spelling; if it is private, check that git can read it: git ls-remote FIVE
[1]
""")
    for command in (["sync"], ["sync", "--frozen"], ["update"]):
        assert concerned(scene, *command) == NAMES
    result = scene.run("lock", "--upgrade", "--json")
    assert (result.code, result.json["failed"][0]["skills"]) == (1, NAMES)


def test_a_repository_that_is_gone_before_anything_is_locked(scene: CommandSandbox, server: GitServer) -> None:
    git = {"git": f"{server.address}/acme/none"}
    scene.create_project(manifest_text(alpha=git, beta=git, gamma={**git, "version": "*"}))

    assert concerned(scene, "sync") in (["alpha", "beta"], ["gamma"])


def test_one_of_two_refs_that_is_gone(scene: CommandSandbox, five: str) -> None:
    tags = {"alpha": "v1.0.0", "beta": "v9", "delta": "v9"}
    scene.create_project(
        manifest_text(gamma={"git": five}, **{name: {"git": five, "tag": tag} for name, tag in tags.items()})
    )

    assert concerned(scene, "sync") == ["beta", "delta"]


def test_a_folder_that_is_gone(scene: CommandSandbox, five: str) -> None:
    scene.create_project(
        manifest_text(alpha={"git": five}, beta={"git": five, "path": "skills/nosuch"}, gamma={"git": five})
    )

    assert scene.output("sync") == expected_output("""\
! error: FIVE has no folder `skills/nosuch`
!   skills: beta
!   hint: its skills are in: skills/alpha, skills/beta, skills/delta (3 of 5)
[1]
""")
    assert concerned(scene, "sync") == ["beta"]


def test_a_skill_that_is_too_large(scene: CommandSandbox, five: str) -> None:
    scene.create_project(manifest_text(alpha={"git": five}, beta={"git": five}))

    result = scene.run("sync", "--json", env={"SKILLPM_MAX_FILE": "10"})

    assert result.json["error"]["skills"] == ["alpha"]


def test_content_that_is_missing_offline(scene: CommandSandbox, five: str) -> None:
    scene.create_project().run("install", five, "--all", check=True)
    forget(scene)

    assert concerned(scene, "sync", "--offline") == NAMES


def test_digests_that_do_not_match(scene: CommandSandbox, five: str) -> None:
    scene.create_project().run("install", five, "--all", check=True)
    lock = scene.read_json("skills.lock")["skills"]
    text = scene.read("skills.lock")
    for name in ("beta", "omega"):
        text = text.replace(lock[name]["digest"], "sha256:" + "0" * 64)
    scene.write("skills.lock", text)
    forget(scene)

    assert concerned(scene, "sync") == ["beta", "omega"]


def test_an_archive_and_a_folder_that_are_gone(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("mine", make_skill("mine")))
    for sources in ({"mine": {"path": "./mine"}, "other": {"path": "./none"}}, {"other": {"url": "./none.tar.gz"}}):
        scene.create_project(manifest_text(**sources))
        assert concerned(scene, "sync") == ["other"]


@pytest.fixture
def consumer(publisher: IndexPublisher, server: GitServer, tmp_path: Path) -> IndexConsumer:
    """A project with three skills of an index, and one that is bundled."""
    for name in NAMES[:3]:
        publisher.write_draft(name, "1.0.0")
    publisher.build()
    serve_index(server, publisher.index_folder)
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=f"{server.address}/")
    consumer.run("install", *NAMES[:3], "testing", check=True)
    return consumer


@pytest.fixture
def publisher(tmp_path: Path) -> IndexPublisher:
    return IndexPublisher(tmp_path / "publisher")


def test_an_index_that_cannot_be_reached(consumer: IndexConsumer, server: GitServer) -> None:
    server.add_fault(".*", "500")
    forget(consumer)

    assert concerned(consumer, "sync") == NAMES[:3]
    assert concerned(consumer, "update", *NAMES[:3]) == NAMES[:3]


def test_one_archive_of_an_index_that_is_gone(consumer: IndexConsumer, server: GitServer) -> None:
    server.publish("/archives/beta-1.0.0.tar.gz", Response(404, {}, b""))
    forget(consumer)

    assert concerned(consumer, "sync") == ["beta"]


def test_an_error_of_no_source_names_no_skill(scene: CommandSandbox) -> None:
    assert scene.create_project("{").run("sync", "--json").json["error"]["skills"] == []


def test_outdated_reports_only_the_skill_that_is_gone(scene: CommandSandbox, five: str, tmp_path: Path) -> None:
    scene.create_project().run("install", five, "-s", *NAMES, check=True)
    repository = Repository(tmp_path / "five")
    repository.remove(["skills/beta/SKILL.md"])
    repository.commit()

    rows = {row["name"]: row.get("unasked", "") for row in scene.run("outdated", "--json").json["skills"]}

    assert rows["beta"].endswith("has no folder `skills/beta`")
    assert {name for name, reason in rows.items() if reason} == {"beta"}
