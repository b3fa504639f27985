"""`kill -9` at any moment: what is seen right afterwards is whole, and the next command that writes heals it."""

import json
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from kit import Repository, Sandbox, skill, under

STRACE = shutil.which("strace")
# Everything that changes a file system; `write` too, since a half-written document is a state of its own.
CHANGING = "rename,renameat2,mkdir,mkdirat,unlink,unlinkat,rmdir,symlink,symlinkat,fsync,fchmod,write"
# CI looks at a few moments of each story; SKILLPM_KILLS=20 looks at many (CONTRIBUTING.md).
MOMENTS = int(os.environ.get("SKILLPM_KILLS", "5"))
AGENTS = ["claude-code", "codex"]
pytestmark = pytest.mark.skipif(STRACE is None, reason="strace chooses the moment of death; it is not on PATH")


def upstream(path: Path, words: str) -> Repository:
    repository = Repository.create(path)
    for number in range(15):
        name = f"{path.name}-{number:02}"
        files = skill(name, body=words) | {"scripts/run.sh": f"echo {words}\n", "notes/a.md": words * 50}
        repository.write(under(f"skills/{name}", files), executable=[f"skills/{name}/scripts/run.sh"])
    repository.commit("all")
    return repository


@pytest.fixture
def repositories(tmp_path: Path) -> list[Repository]:
    return [upstream(tmp_path / "red", "first "), upstream(tmp_path / "blue", "first ")]


@pytest.fixture
def project(tmp_path: Path, repositories: list[Repository]) -> Sandbox:
    """Thirty skills wanted from two repositories, two agents to link, and something the user made by hand."""
    sandbox = Sandbox(tmp_path / "project")
    skills = {
        f"{repository.path.name}-{number:02}": {
            "git": repository.file_url,
            "path": f"skills/{repository.path.name}-{number:02}",
            "branch": "main",
        }
        for repository in repositories
        for number in range(15)
    }
    sandbox.git_config("[safe]\n\tdirectory = *\n")
    sandbox.write("skills.json", json.dumps({"skills": skills, "agents": AGENTS}))
    sandbox.write(".agent-skills/mine/SKILL.md", "---\nname: mine\ndescription: By hand.\n---\nmy own words\n")
    sandbox.write(".claude/skills/own/SKILL.md", "---\nname: own\ndescription: Not yours.\n---\nmine too\n")
    return sandbox


def moments(sandbox: Sandbox, words: list[str], log: Path) -> Iterator[int]:
    """Count what a command changes in the file system, and choose some of these moments."""
    copy = sandbox.copy(log.parent / "counted")
    subprocess.run(
        [str(STRACE), "-e", f"trace={CHANGING}", "-o", str(log), *copy.command, *words],
        cwd=copy.work, env=copy.environment({}), check=True, capture_output=True,
    )  # fmt: skip
    steps = sum("(" in line for line in log.read_text(encoding="utf-8", errors="replace").splitlines())
    assert steps > 100
    return iter(sorted(random.Random(20).sample(range(1, steps + 1), MOMENTS)))


def killed(sandbox: Sandbox, words: list[str], moment: int) -> None:
    """Run a command that is killed at its n-th change of the file system."""
    inject = f"inject={CHANGING}:signal=SIGKILL:when={moment}"
    process = subprocess.run(
        [str(STRACE), "-f", "-o", os.devnull, "-e", f"trace={CHANGING}", "-e", inject, *sandbox.command, *words],
        cwd=sandbox.work, env=sandbox.environment({}), check=False, capture_output=True,
    )  # fmt: skip
    assert process.returncode in {-signal.SIGKILL, 128 + signal.SIGKILL, 0, 1}, process.stderr


def assert_whole_for_a_reader(sandbox: Sandbox) -> None:
    listing = sandbox.run("list", "--json").json
    states = {entry["name"]: entry["state"] for entry in listing["skills"]}
    assert states.pop("mine") == "unmanaged"
    assert set(states.values()) <= {"installed"}, states
    assert len(states) in {0, 30}
    for name in sorted(states)[:2]:
        shown = sandbox.run("show", name, "--json").json
        assert {file["state"] for file in shown["files"]} == {"ok"}


def assert_heals(sandbox: Sandbox, body: str) -> None:
    """The next sync finishes or undoes; then all is clean, and a second one has nothing to do."""
    healed = sandbox.run("sync")
    assert healed.code == 0, healed.stderr
    for check in (["verify"], ["registry", "check"]):
        result = sandbox.run(*check)
        assert result.code == 0, result.stdout + result.stderr
    assert body in sandbox.read(".agent-skills/red-00/SKILL.md")
    assert os.readlink(sandbox.work / ".claude/skills/red-00") == "../../.agent-skills/red-00"
    assert os.readlink(sandbox.work / ".agents/skills/blue-14") == "../../.agent-skills/blue-14"
    assert sandbox.read(".agent-skills/mine/SKILL.md").endswith("my own words\n")
    assert sandbox.read(".claude/skills/own/SKILL.md").endswith("mine too\n")
    before = sandbox.snapshot()
    assert sandbox.run("sync").stdout.startswith("nothing to do")
    assert sandbox.snapshot() == before
    left = sorted(entry.name for entry in (sandbox.work / ".agent-skills/.skillpm").iterdir())
    assert left == [".gitignore", "lock", "lock.pid", "receipt.json", "scan.json"]


def test_an_install_of_thirty_skills_survives_being_killed(project: Sandbox, tmp_path: Path) -> None:
    for moment in moments(project, ["sync"], tmp_path / "log"):
        copy = project.copy(tmp_path / f"killed-{moment}")
        killed(copy, ["sync"], moment)
        assert_whole_for_a_reader(copy)
        assert_heals(copy, "first ")


def test_an_update_of_thirty_skills_survives_being_killed(
    project: Sandbox, repositories: list[Repository], tmp_path: Path
) -> None:
    project.run("sync", check=True)
    for repository in repositories:
        for name in (f"skills/{repository.path.name}-{number:02}/SKILL.md" for number in range(15)):
            repository.write({name: repository.blob(name).decode().replace("first ", "second ")})
        repository.commit("news")
    for moment in moments(project, ["update"], tmp_path / "log"):
        copy = project.copy(tmp_path / f"killed-{moment}")
        killed(copy, ["update"], moment)
        assert_whole_for_a_reader(copy)
        healed = copy.run("sync")
        assert healed.code == 0, healed.stderr
        now = copy.read(".agent-skills/red-00/SKILL.md")
        assert_heals(copy, "second " if "second " in now else "first ")
