"""A link out of a project was made by the project's author: it must not expose the user's own files."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import git, make_skill, prefix_paths

from skillpm.core.text import one_line

OUT = "it is a link that points outside the project; to allow it, run `skillpm install DIR --link`"
WARNINGS = "".join(f"warning: {name}/SKILL.md is not in the registry: {OUT}\n" for name in ("n", "private"))
PREPARED = {
    "version": "1",
    "skills": [
        {"name": name, "description": "Sent.", "category": "x", "triggers": [], "filePath": f"{name}/SKILL.md"}
        for name in ("n", "private", "plain", "inner")
    ],
}


@pytest.fixture
def cloned(scene: CommandSandbox) -> CommandSandbox:
    """Return a clone whose skills are links to the user's own folder and file next to it."""
    scene.write_files(prefix_paths("../sent/.agent-skills/plain", make_skill("plain", "Inside.")))
    scene.write_files(prefix_paths("../sent/shared/inner", make_skill("inner", "A link inside.")))
    scene.write("../sent/skills.json", '{"skills": {}, "agents": ["claude-code"]}\n')
    sent = scene.work.parent / "sent"
    (sent / ".agent-skills/inner").symlink_to("../shared/inner")
    (sent / ".agent-skills/private").symlink_to("../../own/private")
    (sent / ".agent-skills/n").mkdir()
    (sent / ".agent-skills/n/SKILL.md").symlink_to("../../../own/private/SKILL.md")
    (sent / ".agent-skills/plain/secret.txt").symlink_to("../../../own/private/secret.txt")
    scene.write_files(prefix_paths("../own/private", make_skill("private", "Secret words.")))
    scene.write("../own/private/secret.txt", "The secret.\n")
    git("init", "-q", cwd=sent)
    git("add", "-A", cwd=sent)
    git("commit", "-qm", "first", cwd=sent)
    shutil.rmtree(scene.work)
    git("clone", "-q", str(sent), str(scene.work))
    return scene


@pytest.mark.parametrize("mode", ["symlink", "copy"])
def test_a_clone_cannot_have_files_of_its_user_linked_or_copied_for_agents(cloned: CommandSandbox, mode: str) -> None:
    environment = {"SKILLPM_LINK_MODE": mode}

    result = cloned.run("sync", env=environment, check=True)

    assert result.stderr == WARNINGS
    assert sorted(os.listdir(cloned.work / ".claude/skills")) == ["inner", "plain"]
    assert [entry["name"] for entry in cloned.read_json(".agent-skills/skills.json")["skills"]] == ["inner", "plain"]
    assert os.path.islink(cloned.work / ".claude/skills/plain/secret.txt")
    git("add", "-A", cwd=cloned.work)
    assert staged_with(cloned, "Secret words") + staged_with(cloned, "The secret") == []
    assert cloned.run("sync", env=environment, check=True).stderr == WARNINGS


def test_a_clone_cannot_have_files_of_its_user_served(cloned: CommandSandbox) -> None:
    cloned.write(".agent-skills/skills.json", json.dumps(PREPARED))

    listed = cloned.run("list", check=True)

    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["inner", "plain"]
    assert listed.stderr == f"warning: n/SKILL.md: {OUT}\nwarning: private/SKILL.md: {OUT}\n"
    for name in ("n", "private"):
        loaded = cloned.run("load", name)
        assert (loaded.code, loaded.stdout) == (1, "")
    for words in (
        ["prompt"],
        ["search", "--triggers", "secret words"],
        ["show", "private"],
        ["registry", "build"],
        ["prompt"],
    ):
        assert "Secret" not in cloned.run(*words).stdout
    assert "Secret" not in cloned.read(".agent-skills/skills.json")


def test_discover_leaves_out_what_list_leaves_out(cloned: CommandSandbox) -> None:
    found = cloned.run("discover", "--json", check=True).json

    assert [skill["name"] for skill in found["skills"] if skill["scope"] == "project"] == ["inner", "plain"]
    assert "Secret" not in cloned.run("discover", check=True).stdout
    folder = cloned.work / ".agent-skills"
    assert found["warnings"] == [f"{folder}/{name}: {OUT}" for name in ("n", "private")]


def test_discover_shows_a_live_link_that_was_asked_for(cloned: CommandSandbox) -> None:
    (cloned.work / ".agent-skills/private").unlink()
    cloned.run("install", "../own/private", "--link", check=True)

    assert "private" in [skill["name"] for skill in cloned.run("discover", "--json", check=True).json["skills"]]


def test_a_live_link_that_was_asked_for_may_lead_out(cloned: CommandSandbox) -> None:
    shutil.rmtree(cloned.work / ".agent-skills/n")
    (cloned.work / ".agent-skills/private").unlink()

    cloned.run("install", "../own/private", "--link", check=True)

    assert "Do it well." in cloned.run("load", "private", check=True).stdout
    assert "private" in os.listdir(cloned.work / ".claude/skills")


def test_links_in_the_users_own_skills_directory_are_their_own_affair(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("../own/private", make_skill("private", "Secret words.")))
    (scene.home / ".agent-skills").mkdir()
    (scene.home / ".agent-skills/private").symlink_to("../../own/private")

    assert scene.run("list", "-g", check=True).stdout.split()[0] == "private"
    assert "Do it well." in scene.run("load", "private", check=True).stdout


def staged_with(scene: CommandSandbox, words: str) -> list[str]:
    """Return the paths in git's index whose content has these words; the content of a link is its target."""
    paths = git("ls-files", cwd=scene.work).splitlines()
    return [path for path in paths if words in git("show", f":{path}", cwd=scene.work)]


@pytest.fixture
def forged(scene: CommandSandbox) -> CommandSandbox:
    """Return a clone with a committed receipt and registry that list links out of it as installed."""
    scene.write_files(prefix_paths("../own/private", make_skill("private", "Secret words.")))
    sent = scene.work.parent / "sent"
    live = {"source": {"path": "../own/private", "link": True}, "files": {}}
    fixed = {"source": {"bundled": "n"}, "digest": f"sha256:{64 * '0'}", "files": {}}
    skills = {"private": live, "n": fixed, "inner": fixed}
    scene.write("../sent/skills.json", '{"skills": {}, "agents": ["claude-code"]}\n')
    scene.write("../sent/.agent-skills/skills.json", json.dumps(PREPARED))
    receipt = {"version": 1, "skills": skills, "links": {".claude/skills": dict.fromkeys(skills, "symlink")}}
    scene.write("../sent/.agent-skills/.skillpm/receipt.json", json.dumps(receipt))
    (sent / ".agent-skills/private").symlink_to("../../own/private")
    (sent / ".agent-skills/n").symlink_to("../../own/private")
    (sent / ".agent-skills/inner").mkdir()
    (sent / ".agent-skills/inner/SKILL.md").symlink_to("../../../own/private/SKILL.md")
    git("init", "-q", cwd=sent)
    git("add", "-A", "-f", cwd=sent)
    git("commit", "-qm", "first", cwd=sent)
    shutil.rmtree(scene.work)
    git("clone", "-q", str(sent), str(scene.work))
    return scene


READERS = (
    ["list"],
    ["list", "--json"],
    ["list", "--tokens"],
    ["load", "private"],
    ["load", "n"],
    ["load", "inner"],
    ["show", "private"],
    ["show", "inner", "--json"],
    ["diff", "private"],
    ["diff", "n"],
    ["prompt"],
    ["search", "--triggers", "secret words"],
    ["search", "secret"],
    ["registry", "check"],
    ["verify"],
    ["doctor"],
    ["sync", "--dry-run"],
    ["registry", "build"],
    ["list"],
    ["prompt"],
)


@pytest.mark.parametrize("registry", ["brought", "none"])
def test_no_reader_trusts_a_committed_receipt(forged: CommandSandbox, registry: str) -> None:
    if registry == "none":
        (forged.work / ".agent-skills/skills.json").unlink()

    for words in READERS:
        result = forged.run(*words)
        assert "Secret" not in result.stdout + result.stderr
        assert "Do it well" not in result.stdout + result.stderr

    assert "Secret" not in forged.read(".agent-skills/skills.json")


def test_a_receipt_that_was_sent_has_nothing_linked_or_copied(forged: CommandSandbox) -> None:
    for mode in ("copy", "symlink"):
        for words in (["link", "claude-code"], ["sync"], ["sync", "--force"]):
            forged.run(*words, env={"SKILLPM_LINK_MODE": mode})
            for folder, _, files in os.walk(forged.work / ".claude", followlinks=True):
                assert [file for file in files if "Secret" in (forged.work / folder / file).read_text()] == []


def test_a_live_link_that_leads_elsewhere_than_the_manifest_says_is_not_served(scene: CommandSandbox) -> None:
    scene.create_project()
    scene.write_files(prefix_paths("../own/private", make_skill("private", "Secret words.")))
    scene.write_files(prefix_paths("../own/house", make_skill("house", "Meant.")))
    scene.run("install", "../own/house", "--link", check=True)
    (scene.work / ".agent-skills/house").unlink()
    (scene.work / ".agent-skills/house").symlink_to("../../own/private")

    assert scene.output("load", "house") == expected_output(f"""\
! warning: house/SKILL.md: {OUT}
! error: skill `house` not found
!   hint: run `skillpm list` to see the available skills
[1]
""")
    assert scene.output("list") == f"house   [modified]\n! warning: house/SKILL.md: {OUT}\n"


@pytest.mark.parametrize("source", [{"path": "../own/private"}, {"path": "../own/private", "link": False}])
def test_only_a_live_link_of_the_manifest_may_lead_out(cloned: CommandSandbox, source: dict[str, object]) -> None:
    shutil.rmtree(cloned.work / ".agent-skills/n")
    cloned.write("skills.json", json.dumps({"skills": {"private": source}, "agents": ["claude-code"]}))

    listed = cloned.output("list")
    loaded = cloned.run("load", "private")

    # A requirement of a folder is copied, after all checks; a link in its place was made by the author of the project.
    assert f"! warning: private/SKILL.md: {OUT}\n" in listed
    assert (loaded.code, loaded.stdout) == (1, "")
    assert "Secret" not in cloned.run("prompt").stdout


def test_in_a_repository_of_several_projects_links_may_lead_to_what_lies_beside_them(scene: CommandSandbox) -> None:
    git("init", "-q", cwd=scene.work)
    scene.write("app/skills.json", '{"skills": {}}\n')
    scene.write_files(prefix_paths("shared/review", make_skill("review", "Reviews.")))
    scene.write_files(prefix_paths("../own/private", make_skill("private", "Secret words.")))
    (scene.work / "app/.agent-skills").mkdir()
    (scene.work / "app/.agent-skills/review").symlink_to("../../shared/review")
    (scene.work / "app/.agent-skills/private").symlink_to("../../../own/private")

    listed = scene.run("list", cwd=scene.work / "app", check=True)

    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["review"]
    assert listed.stderr == f"warning: private/SKILL.md: {OUT}\n"
    assert "Do it well." in scene.run("load", "review", cwd=scene.work / "app", check=True).stdout
    assert scene.run("load", "private", cwd=scene.work / "app").code == 1


def test_a_home_directory_that_is_a_repository_is_trusted(scene: CommandSandbox) -> None:
    git("init", "-q", cwd=scene.home)
    scene.write("../home/app/skills.json", '{"skills": {}}\n')
    scene.write_files(prefix_paths("../home/own/private", make_skill("private", "Secret words.")))
    (scene.home / "app/.agent-skills").mkdir()
    (scene.home / "app/.agent-skills/private").symlink_to("../../own/private")

    assert scene.run("load", "private", cwd=scene.home / "app").code == 1
    assert scene.run("list", cwd=scene.home / "app", check=True).stdout == ""


@pytest.mark.parametrize(
    "link", ["projects/k/ROLE.md -> ../../../../own/private/secret.txt", "projects/k -> ../../../own/role"]
)
@pytest.mark.parametrize("options", [[], ["--data-dir", ".agent-skills"]])
def test_a_clone_cannot_have_files_of_its_user_shown_as_a_project(
    cloned: CommandSandbox, link: str, options: list[str]
) -> None:
    cloned.write("../own/role/ROLE.md", "The secret.\n")
    cloned.write(".agent-skills/projects/mine/ROLE.md", "You help.\n")
    cloned.write("shared/role/ROLE.md", "You share.\n")
    name, _, target = link.partition(" -> ")
    (cloned.work / ".agent-skills" / name).parent.mkdir(exist_ok=True)
    (cloned.work / ".agent-skills" / name).symlink_to(target)
    (cloned.work / ".agent-skills/projects/shared").symlink_to("../../shared/role")

    refused = "projects/k/ROLE.md: it is a link that points outside the project, so it is not read"
    listed = cloned.run("projects", *options)
    named = cloned.run("projects", "k", *options)

    assert (listed.code, listed.stdout) == (0, "mine: You help.\nshared: You share.\n")
    assert (named.code, named.stdout) == (1, "")
    assert refused in one_line(listed.stderr)
    assert refused in one_line(named.stderr)
    assert "error: no project named `k` hint: `skillpm projects` lists them" in one_line(named.stderr)
    assert "The secret" not in cloned.run("projects", "--json", *options).stdout
    assert call_from_python(cloned, ".agent-skills") == f"mine: You help.\nshared: You share.\n{refused}\n"


def call_from_python(scene: CommandSandbox, directory: str) -> str:
    """Return the projects that `load_projects` finds, and the end of each warning in the log."""
    script = """
import logging, sys
from skillpm import load_projects
logging.basicConfig(format="%(message)s", stream=sys.stdout)
for project in load_projects(sys.argv[1]):
    print(f"{project.name}: {project.instructions}", flush=True)
"""
    words = [sys.executable, "-c", script, directory]
    output = subprocess.run(words, cwd=scene.work, env=scene.environment(), check=True, capture_output=True, text=True)
    lines = sorted(output.stdout.splitlines(keepends=True), key=lambda line: "it is a link" in line)
    return "".join(line.partition(f"{directory}/")[2] or line for line in lines)


def test_the_users_own_projects_may_be_links(scene: CommandSandbox) -> None:
    scene.write("../elsewhere/coach/ROLE.md", "You coach.\n")
    for folder in ("../home/.agent-skills", "../home/.omega"):
        (scene.work / folder / "projects").mkdir(parents=True)
        (scene.work / folder / "projects/coach").symlink_to("../../../elsewhere/coach")

    assert scene.output("projects", "-g") == "coach: You coach.\n"
    assert scene.output("projects", "--data-dir", "~/.omega") == "coach: You coach.\n"
