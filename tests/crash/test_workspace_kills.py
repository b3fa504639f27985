"""`kill -9` at any change that an update of a workspace makes: `sync` completes it in every member, or nothing of it.

`SKILLPM_KILLS=all` tries every change (CONTRIBUTING.md).
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from crash.stories import World
from crash.sweep import TRACER
from crash.tracer import CANNOT_TRACE
from kit import Entry, Repository, make_skill, prefix_paths

KILLS = os.environ.get("SKILLPM_KILLS", "12")
MEMBERS = ("packages/a", "packages/b", "packages/group/c")
NO_STATE = tuple(f"{folder}.agent-skills/.skillpm" for folder in ("", *(f"{member}/" for member in MEMBERS)))
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CANNOT_TRACE, reason="killing needs Linux's ptrace")]


def make_world(folder: Path) -> World:
    """Return a workspace with three members, in which an update of all is due."""
    upstream = Repository.create(folder / "upstream")

    def publish(word: str) -> None:
        for name in ("pdf", "docx"):
            upstream.write(prefix_paths(f"skills/{name}", make_skill(name, f"Says {word}.")))
        upstream.commit(word)

    publish("first")
    world = World(folder / "world")
    (world.work / ".git").mkdir()
    needs = {name: {"git": upstream.file_url, "path": f"skills/{name}"} for name in ("pdf", "docx")}
    world.write("skills.json", json.dumps({"members": ["packages/*", "packages/*/*"], "skills": {"pdf": needs["pdf"]}}))
    for member in MEMBERS:
        world.write(f"{member}/skills.json", json.dumps({"skills": needs}))
    world.run("sync", check=True)
    publish("second")
    return world


def copy(world: World, target: Path) -> World:
    subprocess.run(["rm", "-rf", str(target)], check=True)
    subprocess.run(["cp", "-a", str(world.root), str(target)], check=True)
    return World(target)


def update(world: World, moment: int) -> int:
    """Run `update`, killed at a moment (0: never); return how many changes it made."""
    report = world.root.with_suffix(".json")
    command = [*TRACER, str(moment), str(report), *world.command, "update"]
    subprocess.run(command, cwd=world.work, env=world.environment(), check=True, capture_output=True)
    return len(json.loads(report.read_text())["calls"])


def state(world: World) -> dict[str, Entry]:
    """Return everything but the state of skillpm itself."""
    return world.snapshot(ignore=NO_STATE)


def leftovers(world: World) -> list[str]:
    return [path for path in world.snapshot() if path.endswith(("/journal.json", "/staging", "/trash", ".tmp"))]


def test_a_killed_update_of_a_workspace_is_completed_or_was_not_begun(folder: Path) -> None:
    world = make_world(folder)
    done = copy(world, folder / "done")
    count = update(done, 0)
    states = [state(world), state(done)]
    assert states[0] != states[1]
    wanted = count if KILLS == "all" else int(KILLS)
    seen = set()
    for moment in sorted({1 + part * count // wanted for part in range(wanted)} | {count}):
        killed = copy(world, folder / "killed")
        update(killed, moment)
        for member in ("", *MEMBERS):  # readers see the old skill or the new one
            assert killed.run("load", "pdf", cwd=member or ".").code == 0, moment
        synced = killed.run("sync")
        assert synced.code == 0, (moment, synced)
        assert state(killed) in states, moment
        assert [killed.run("verify", cwd=member or ".").code for member in ("", *MEMBERS)] == [0] * 4, moment
        assert killed.run("sync").stdout.endswith("nothing to do in 3 members\n"), moment
        assert leftovers(killed) == [], moment
        seen.add(states.index(state(killed)))
    assert seen == {0, 1}
