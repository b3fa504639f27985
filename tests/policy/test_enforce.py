"""`policy enforce`: the kill switch in every scope that a user has used."""

import json
import os
import shutil
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit.sandbox import IS_ROOT

POLICY = "../home/.config/skillpm/policy.toml"
BLOCKED = 'version = 1\n[[blocked]]\nname = "pdf"\nreason = "steals tokens"\n'
AGENTS = '{"skills": {}, "agents": ["claude-code"]}\n'


@pytest.fixture
def machine(tmp_path: Path, url: str) -> CommandSandbox:
    """User scope, two projects, and a workspace with a member, each with the same skill, linked."""
    scene = CommandSandbox(tmp_path / "machine")
    for folder in ("one", "two", "app/part"):
        scene.write(f"{folder}/skills.json", AGENTS)
    scene.write("app/skills.json", '{"skills": {}, "members": ["part"]}\n')
    for folder in ("one", "two", "app/part"):
        scene.run("install", f"{url}@pdf", cwd=folder, check=True)
    scene.run("install", "-g", f"{url}@pdf", check=True)
    scene.run("link", "-g", "claude-code", check=True)
    return scene


def linked(scene: CommandSandbox) -> list[str]:
    places = {"home": scene.home, **{name: scene.work / name for name in ("one", "two", "app/part")}}
    return [name for name, folder in places.items() if os.path.lexists(folder / ".claude/skills/pdf")]


def test_it_unlinks_blocked_skills_everywhere(machine: CommandSandbox) -> None:
    assert machine.output("policy", "enforce") == "! 0 blocked skills unlinked in 4 scopes\n"
    assert linked(machine) == ["home", "one", "two", "app/part"]
    machine.write(POLICY, BLOCKED)

    result = machine.run("policy", "enforce", cwd="/", check=True)

    assert result.stderr.splitlines()[-1] == "4 blocked skills unlinked in 4 scopes"
    assert result.stderr.count("`pdf` is blocked by policy, so it is no longer linked in") == 2  # the user's, projects'
    assert linked(machine) == []
    assert machine.output("policy", "enforce") == "! 0 blocked skills unlinked in 4 scopes\n"


def test_it_reaches_a_member_that_was_moved_since_the_last_command(tmp_path: Path, url: str) -> None:
    scene = CommandSandbox(tmp_path / "scene")
    skills = {"pdf": {"git": url}}
    scene.write("app/skills.json", json.dumps({"skills": skills, "members": ["*"]}))
    scene.write("app/part/skills.json", json.dumps({"skills": skills, "agents": ["claude-code"]}))
    scene.run("sync", cwd="app", check=True)
    (scene.work / "app/part").rename(scene.work / "app/moved")
    assert scene.exists("app/moved/.claude/skills/pdf/SKILL.md")
    scene.write(POLICY, BLOCKED)

    scene.run("policy", "enforce", check=True)

    assert not scene.exists("app/moved/.claude/skills/pdf")


def test_a_scope_that_is_gone_or_broken_does_not_stop_it(machine: CommandSandbox) -> None:
    machine.write(POLICY, BLOCKED)
    shutil.rmtree(machine.work / "one")
    machine.write("two/skills.json", "{")
    machine.write("two/skills.lock", "{")

    result = machine.run("policy", "enforce", "--json", check=True)

    assert json.loads(result.stdout)["ok"] is True
    assert {row["directory"]: row["unlinked"] for row in json.loads(result.stdout)["scopes"]} == {
        str(folder / ".agent-skills"): ["pdf"]
        for folder in (machine.home, machine.work / "two", machine.work / "app/part")
    }
    assert linked(machine) == []


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_left_alone(machine: CommandSandbox) -> None:
    machine.write(POLICY, BLOCKED)
    os.chown(machine.work / "one/.agent-skills", 65534, 65534)

    machine.run("policy", "enforce", check=True)

    assert linked(machine) == ["one"]


def test_a_policy_that_cannot_be_read_is_an_error_for_each_scope(machine: CommandSandbox) -> None:
    machine.write(POLICY, "version = 1\nblock = 1\n")

    result = machine.run("policy", "enforce")

    assert result.code == 1
    assert linked(machine) == ["home", "one", "two", "app/part"]
