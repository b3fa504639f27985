"""The projects that a user has changed are recorded, for commands that concern all of them."""

import json
import os
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import make_skill, prefix_paths

from skillpm.scope.used_scopes import read_scopes
from skillpm.settings import Settings, read_settings

RECORDS = ".local/state/skillpm/scopes"


@pytest.fixture
def used(scene: CommandSandbox) -> CommandSandbox:
    """Return a sandbox with a skill beside three projects `a`, `b` and `c`, none of which was used yet."""
    scene.write_files(prefix_paths("own/pdf", make_skill("pdf")))
    for name in "abc":
        scene.write(f"{name}/skills.json", '{"skills": {}}\n')
    return scene


def settings_of(sandbox: CommandSandbox) -> Settings:
    return read_settings(sandbox.environment())


def used_roots(sandbox: CommandSandbox) -> list[str]:
    return [
        "user" if scope.kind == "user" else os.path.relpath(scope.root, sandbox.work)
        for scope in read_scopes(settings_of(sandbox))
    ]


def install(sandbox: CommandSandbox, *names: str) -> None:
    for name in names:
        sandbox.run("install", "../own/pdf", cwd=name, check=True)


def record_of(sandbox: CommandSandbox, name: str) -> Path:
    files = (sandbox.home / RECORDS).iterdir()
    return next(file for file in files if json.loads(file.read_text())["root"] == str(sandbox.work / name))


def test_a_scope_is_recorded_when_it_is_changed(used: CommandSandbox) -> None:
    for words in (["list"], ["sync"], ["verify"], ["install", "../nothing"], ["install", "../own/pdf", "--dry-run"]):
        used.run(*words, cwd="a")
    assert used_roots(used) == []
    assert not (used.home / RECORDS).exists()

    install(used, "b", "a")
    used.run("install", "-g", "./own/pdf", check=True)

    assert used_roots(used) == ["user", "a", "b"]
    assert (used.home / RECORDS).stat().st_mode & 0o777 == 0o700
    assert record_of(used, "a").stat().st_mode & 0o777 == 0o600


def test_a_scope_that_is_gone_is_left_out(used: CommandSandbox) -> None:
    install(used, "a", "b")
    (used.work / "a").rename(used.work / "moved")
    assert used_roots(used) == ["b"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"root": 1}', '{"root": "a"}', "[" * 5_000, "x" * 20_000])
def test_a_damaged_record_is_left_out(used: CommandSandbox, content: str) -> None:
    install(used, "a", "b")
    record_of(used, "a").write_text(content)
    assert used_roots(used) == ["b"]


def test_a_copied_record_does_not_name_a_scope_twice(used: CommandSandbox) -> None:
    install(used, "a")
    record = record_of(used, "a")
    record.with_name("0.json").write_text(record.read_text())
    assert used_roots(used) == ["a"]


@pytest.mark.parametrize("what", ["record", "project", "folder"])
def test_what_belongs_to_another_user_is_left_out(used: CommandSandbox, what: str) -> None:
    install(used, "a")
    target = {
        "record": record_of(used, "a"),
        "project": used.work / "a/.agent-skills",
        "folder": used.home / RECORDS,
    }[what]
    if os.geteuid():
        pytest.skip("only root can give a file to another user")
    os.chown(target, 65_534, -1)
    assert used_roots(used) == []


def test_a_record_that_others_may_write_is_left_out(used: CommandSandbox) -> None:
    install(used, "a")
    record_of(used, "a").chmod(0o666)
    assert used_roots(used) == []


def test_a_state_folder_that_cannot_be_written_costs_only_the_record(used: CommandSandbox) -> None:
    used.write("../home/.local/state", "a file")
    install(used, "a")
    assert used_roots(used) == []


def test_a_member_of_a_workspace_is_a_scope_of_its_own(used: CommandSandbox) -> None:
    used.write("skills.json", '{"skills": {}, "members": ["a", "b"]}\n')
    install(used, "a")
    assert used_roots(used) == ["a"]


def test_each_skillpm_home_has_its_own_state(used: CommandSandbox) -> None:
    env = {"SKILLPM_HOME": str(used.home / "other")}
    used.run("install", "../own/pdf", cwd="a", env=env, check=True)
    assert used_roots(used) == []
    assert (used.home / "other/.skillpm/state/scopes").is_dir()
