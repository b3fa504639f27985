"""Somebody saves a document while a command fetches: what he wrote stays, and counts."""

import json
import subprocess

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import GitServer, Repository, respond_after

from skillpm.change.change import ChangeOptions, change
from skillpm.errors import DocumentChanged
from skillpm.events import Recorder
from skillpm.scope.project import Project, Session
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope import project_scope
from skillpm.settings import Settings

FETCH = "POST .* fetch"


@pytest.fixture
def pdf(project: CommandSandbox, served: str, upstream: Repository) -> CommandSandbox:
    """Return a project with a skill that has become newer upstream."""
    project.run("install", f"{served}@pdf", check=True)
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    return project


def with_agents(manifest: str) -> str:
    return manifest.replace("{", '{"agents": ["claude-code"], ', 1)


def test_a_manifest_saved_while_an_update_fetches_applies(pdf: CommandSandbox, server: GitServer) -> None:
    saved = with_agents(pdf.read("skills.json"))
    server.add_fault(FETCH, respond_after(lambda: pdf.write("skills.json", saved)), times=1)

    pdf.run("update", check=True)

    assert pdf.read("skills.json") == saved
    assert pdf.read(".claude/skills/pdf/notes.md") == "Second.\n"
    assert pdf.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"


def test_a_skill_asked_for_while_a_sync_fetches_comes_with_it(
    project: CommandSandbox, served: str, server: GitServer
) -> None:
    both = {name: {"git": served, "path": f"skills/{name}"} for name in ("docx", "pdf")}
    project.write("skills.json", manifest_text(pdf=both["pdf"]))
    project.run("lock", check=True)
    subprocess.run(["rm", "-r", project.cache], check=True)
    server.add_fault(FETCH, respond_after(lambda: project.write("skills.json", manifest_text(**both))), times=1)

    project.run("sync", check=True)

    assert project.read("skills.json") == manifest_text(**both)
    assert project.output("verify") == "! 2 of 2 skills match the lockfile\n"


def test_a_commands_edits_are_merged_with_a_concurrent_save(pdf: CommandSandbox, server: GitServer) -> None:
    """`enable` edits the manifest, and what it enables has to be fetched again."""
    before = pdf.read("skills.json")
    pdf.run("disable", "pdf", check=True)
    subprocess.run(["rm", "-r", pdf.work / ".agent-skills/pdf", pdf.cache], check=True)
    saved = with_agents(pdf.read("skills.json"))
    server.add_fault(FETCH, respond_after(lambda: pdf.write("skills.json", saved)), times=1)

    pdf.run("enable", "pdf", check=True)

    assert json.loads(pdf.read("skills.json")) == json.loads(with_agents(before))
    assert pdf.exists(".claude/skills/pdf/SKILL.md")


def test_a_lockfile_replaced_by_a_checkout_is_read_again(pdf: CommandSandbox, served: str, server: GitServer) -> None:
    before = pdf.read("skills.lock"), pdf.read("skills.json")
    pdf.run("install", f"{served}@docx", check=True)

    def checked_out() -> None:
        pdf.write("skills.lock", before[0])
        pdf.write("skills.json", before[1])

    server.add_fault(FETCH, respond_after(checked_out), times=1)
    pdf.run("update", check=True)

    assert pdf.read("skills.json") == before[1]
    assert [*json.loads(pdf.read("skills.lock"))["skills"]] == ["pdf"]
    assert not pdf.exists(".agent-skills/docx")


def test_a_manifest_saved_while_lock_asks_is_what_is_locked(
    pdf: CommandSandbox, served: str, server: GitServer
) -> None:
    both = {name: {"git": served, "path": f"skills/{name}"} for name in ("docx", "pdf")}
    server.add_fault(FETCH, respond_after(lambda: pdf.write("skills.json", manifest_text(**both))), times=1)

    pdf.run("lock", "--upgrade", check=True)

    assert pdf.output("lock", "--check").splitlines()[0] == "WORK/skills.lock is up to date"
    assert [*json.loads(pdf.read("skills.lock"))["skills"]] == ["docx", "pdf"]


def test_a_manifest_that_is_saved_again_and_again_stops_the_command(project: CommandSandbox) -> None:
    settings = Settings(
        home=str(project.home),
        working_directory=str(project.work),
        skills_home=f"{project.home}/.agent-skills",
        config_dir=f"{project.root}/config",
        cache_dir=str(project.cache),
    )
    session = Session(settings=settings, reporter=Recorder())
    mine = project.read("skills.json")

    def saves_after_reading(papers: ProjectFiles) -> ProjectFiles:
        nonlocal mine
        mine += "\n"
        project.write("skills.json", mine)
        return papers.with_manifest_text(with_agents(papers.editable_manifest))

    with pytest.raises(DocumentChanged) as caught:
        change(Project(project_scope(settings, str(project.work)), session), ChangeOptions(), saves_after_reading)

    assert (caught.value.code, caught.value.where) == ("conflict", f"{project.work}/skills.json")
    assert caught.value.message == expected_output(
        "the file kept changing while the command was running; nothing was changed"
    )
    assert project.read("skills.json") == mine
    assert not project.exists(".agent-skills")


SAVING = """
import os, sys
done = []
def save(event, arguments):
    name = os.path.basename(str(arguments[0])) if event == "open" else ""
    if name.startswith(os.path.basename("{file}.")) and name.endswith(".tmp") and not done:
        done.append(True)
        with open("{file}", "w") as file:
            file.write({text!r})
sys.addaudithook(save)
"""


def as_it_is_written(scene: CommandSandbox, file: str, saved: str) -> dict[str, str]:
    """Save a document while a command writes its own version next to it; return the environment for that."""
    scene.write("site/sitecustomize.py", SAVING.format(file=file, text=saved))
    return {"PYTHONPATH": str(scene.work / "site")}


def test_a_manifest_saved_while_ours_is_written_stays(project: CommandSandbox) -> None:
    saved = with_agents(project.read("skills.json"))
    meanwhile = as_it_is_written(project, f"{project.work}/skills.json", saved)

    output = project.output("install", "testing", env=meanwhile)

    left = "! warning: WORK/skills.json was changed while a command was running or interrupted; it was not updated\n"
    assert left in output
    assert project.read("skills.json") == saved


def test_a_manifest_saved_while_a_lockfile_is_written_is_what_is_locked(project: CommandSandbox) -> None:
    project.write("skills.json", manifest_text(testing={"bundled": True}))
    saved = manifest_text(**{"code-review": {"bundled": True}})
    hook = SAVING.replace('open("{file}"', 'open("{other}"')
    files = {"file": f"{project.work}/skills.lock", "other": f"{project.work}/skills.json"}
    project.write("site/sitecustomize.py", hook.format(text=saved, **files))

    project.run("lock", env={"PYTHONPATH": str(project.work / "site")}, check=True)

    assert list(project.read_json("skills.lock")["skills"]) == ["code-review"]
    assert project.output("lock", "--check").splitlines()[0] == "WORK/skills.lock is up to date"


def test_settings_saved_while_ours_are_written_are_not_lost(project: CommandSandbox) -> None:
    config = project.home / ".config/skillpm/config.toml"
    project.run("config", "set", "agents", "codex", check=True)
    saved = "# mine\n" + config.read_text()

    project.run(
        "config", "set", "exclude-newer", "7 days", env=as_it_is_written(project, f"{config}", saved), check=True
    )

    assert config.read_text() == saved + 'exclude-newer = "7 days"\n'
