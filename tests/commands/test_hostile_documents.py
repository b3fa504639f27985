"""A checkout brings documents that are links out of it, or no files at all: nothing out there is written or awaited."""

import os
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, mask_dates

pytestmark = pytest.mark.slow

OURS = ".agent-skills/.skillpm"


@pytest.mark.parametrize(
    "place",
    [
        ".agent-skills/skills.json",
        f"{OURS}/scan.json",
        f"{OURS}/lock.pid",
        f"{OURS}/journal.json.1.tmp",
    ],
)
@pytest.mark.parametrize("target", ["precious", "absent"])
def test_nothing_is_ever_written_through_a_link(project: CommandSandbox, place: str, target: str) -> None:
    precious = project.write("../home/precious", "mine\n")
    link = project.work / place
    link.parent.mkdir(parents=True)
    link.symlink_to(project.home / target)

    project.run("install", "code-review", check=True)
    project.run("registry", "build", check=True)
    project.run("sync", check=True)

    assert precious.read_text() == "mine\n"
    assert not (project.home / "absent").exists()
    assert project.run("registry", "check").code == 0


def test_the_ignore_file_is_not_written_through_a_link_either(project: CommandSandbox) -> None:
    link = project.work / OURS / ".gitignore"
    link.parent.mkdir(parents=True)
    link.symlink_to(project.home / "absent")

    project.run("install", "code-review", check=True)

    assert not (project.home / "absent").exists()


@pytest.mark.parametrize("name", ["skills.json", "skills.lock"])
def test_a_document_that_leads_out_of_the_project_is_refused(project: CommandSandbox, name: str) -> None:
    (project.work / name).unlink(missing_ok=True)
    (project.home / "elsewhere").write_text('{"skills": {}}\n' if name == "skills.json" else "")
    (project.work / name).symlink_to(project.home / "elsewhere")
    before = project.snapshot("..", ignore=["cache"])

    assert project.output("install", "code-review") == expected_output(f"""\
! error: WORK/{name} is a link that points outside the project
!   hint: remove the link; a repository must not decide where skills are written
[1]
""")
    assert project.snapshot("..", ignore=["cache"]) == before


def test_a_lockfile_may_be_a_link_inside_of_the_repository(scene: CommandSandbox) -> None:
    (scene.work / ".git").mkdir()
    for name in ("skills.json", "skills.lock"):
        scene.write(f"shared/{name}", '{"skills": {}}\n' if name == "skills.json" else "")
    (scene.work / "shared/skills.lock").unlink()
    (scene.work / "app").mkdir()
    (scene.work / "app/skills.json").symlink_to("../shared/skills.json")
    (scene.work / "app/skills.lock").symlink_to("../shared/skills.lock")

    scene.run("install", "code-review", cwd="app", check=True)

    assert os.path.islink(scene.work / "app/skills.lock")
    assert list(scene.read_json("shared/skills.lock")["skills"]) == ["code-review"]
    assert list(scene.read_json("shared/skills.json")["skills"]) == ["code-review"]


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


def an_endless_file(place: Path) -> None:
    place.symlink_to("/dev/zero")


def a_folder(place: Path) -> None:
    place.mkdir()


@pytest.mark.parametrize("thing", [a_pipe, an_endless_file, a_folder])
@pytest.mark.parametrize("place", [".agent-skills/skills.json", f"{OURS}/receipt.json", f"{OURS}/journal.json"])
def test_special_files_neither_block_nor_are_read_endlessly(project: CommandSandbox, thing: object, place: str) -> None:
    assert callable(thing)
    (project.work / OURS).mkdir(parents=True)
    thing(project.work / place)

    for words in (["list"], ["verify"], ["sync"], ["install", "code-review"]):
        done = project.run(*words)
        assert done.code in {0, 1}, (words, done)
        assert "Traceback" not in done.stderr
    why = "Is a directory" if thing is a_folder else "not a regular file"
    assert project.output("install", "code-review").splitlines()[0] == f"! error: cannot read: {why}"


def test_names_that_only_look_like_backups_are_none(project: CommandSandbox) -> None:
    for name in ("pdf-\u00b2", "pdf-\u0663", "skills.json-\u00b2", "pdf-", "-1"):
        project.write(f"{OURS}/backup/{name}", "planted")
    project.write(".agent-skills/skills.json", '{"skills": []}')

    assert project.output("backup", "list") == "! no backups\n"
    assert project.run("install", "code-review").code == 0
    listed = f"skills.json-1  WORK/{OURS}/backup/skills.json-1  (backed up DAY)\n"
    assert mask_dates(project.output("backup", "list")) == listed


@pytest.mark.parametrize("spoilt", ['"triggerc": [', '"triggers": 5, "tags": [', '"requires": 5, "triggers": ['])
def test_an_unexpected_registry_key_stops_no_loader(project: CommandSandbox, spoilt: str) -> None:
    project.run("install", "code-review", "testing", check=True)
    registry = ".agent-skills/skills.json"
    project.write(registry, project.read(registry).replace('"triggers": [', spoilt, 1))

    for words in (
        ["load", "code-review"],
        ["load", "testing"],
        ["prompt"],
        ["search", "--triggers", "review"],
        ["search", "tests"],
    ):
        assert project.run(*words).code == 0
    assert project.run("registry", "check").code == 1
    project.run("sync", check=True)
    assert project.run("registry", "check").code == 0
