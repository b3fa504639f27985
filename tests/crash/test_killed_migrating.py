"""`kill -9` at each stage of a migration: no byte is ever gone, and the next command that writes comes to one end."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from kit import Sandbox, prefix_paths

STRACE = shutil.which("strace")
CHANGING = "renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,rmdir,symlink,symlinkat,fsync,fchmod,write"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(STRACE is None, reason="strace chooses the moment of death; it is not on PATH"),
]
HERE = ".agent-skills"
NO_PYC = {"PYTHONDONTWRITEBYTECODE": "1"}  # Python renames what it compiles, too
CATEGORIES = ["development", "operations", "quality"]
LEFT_OVER = [f"{HERE}/.skillpm/{name}" for name in ("lock", "lock.pid")]
CHANGED_WARNING = "warning: development/skill-9.md has changed since it was converted to skill-9; left as it is"


def body(number: int) -> str:
    return f"# Skill {number}\n\n" + f"Words of skill {number}.\n" * number


@pytest.fixture
def old(tmp_path: Path) -> Sandbox:
    """Twelve flat files in three categories, every third without frontmatter, what an old skills.json says, a README,
    two files of one name, and an installed skill.
    """
    sandbox = Sandbox(tmp_path / "old")
    sandbox.run("init", check=True)
    sandbox.run("install", "testing", check=True)
    entries = []
    for number in range(12):
        head = "" if number % 3 == 0 else f"---\nname: skill-{number}\ndescription: Skill {number}.\n---\n"
        path = f"{CATEGORIES[number % 3]}/skill-{number}.md"
        sandbox.write(f"{HERE}/{path}", head + body(number))
        entries.append({"name": f"skill-{number}", "triggers": [f"do {number}"], "filePath": path})
    sandbox.write_files(
        prefix_paths(f"{HERE}/quality", {"README.md": "# Quality\n", "two.md": body(2), "Two.md": body(3)})
    )
    sandbox.write(f"{HERE}/skills.json", json.dumps({"version": "1", "skills": entries}))
    return sandbox


def bodies_of(sandbox: Sandbox) -> list[int]:
    """Return the numbers of the skills whose body is at its old or its new path."""
    files = [
        *(f"{HERE}/{CATEGORIES[number % 3]}/skill-{number}.md" for number in range(12)),
        *(f"{HERE}/skill-{number}/SKILL.md" for number in range(12)),
    ]
    there = [sandbox.read(path) for path in files if sandbox.exists(path)]
    return [number for number in range(12) if any(text.endswith(body(number)) for text in there)]


def settled(sandbox: Sandbox) -> dict[str, object]:
    """Take down everything but what every command leaves behind; half a stat cache goes with the next change."""
    cache = f"{HERE}/.skillpm/scan.json"
    return {path: entry for path, entry in sandbox.snapshot().items() if path not in LEFT_OVER and cache not in path}


def calls_of(sandbox: Sandbox, log: Path) -> list[str]:
    """Migrate, and give every change of the file system that it took, by the name of the call and what it was."""
    subprocess.run(
        [str(STRACE), "-f", "-e", f"trace={CHANGING}", "-o", str(log), *sandbox.command, "migrate"],
        cwd=sandbox.work, env=sandbox.environment(NO_PYC), check=True, capture_output=True,
    )  # fmt: skip
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line.split(maxsplit=1)[1] for line in lines if "(" in line]


def kill(sandbox: Sandbox, call: str, number: int) -> None:
    """Migrate, and die at the n-th call of one kind."""
    process = subprocess.run(
        [
            str(STRACE), "-f", "-o", os.devnull, "-e", f"trace={call}",
            "-e", f"inject={call}:signal=SIGKILL:when={number}", *sandbox.command, "migrate",
        ],
        cwd=sandbox.work, env=sandbox.environment(NO_PYC), check=False, capture_output=True,
    )  # fmt: skip
    assert process.returncode in {-signal.SIGKILL, 128 + signal.SIGKILL}, process.stderr


# The old skills.json is being kept · the journal comes next · half of the folders are there · half of the flat files
# are gone · the journal is gone and rubbish is left.
POINTS = ["backup/skills.json", "journal.json", "skill-4", "skill-5.md", "staging", "trash"]


@pytest.mark.parametrize("point", POINTS)
def test_each_stage_of_a_migration_survives_being_killed(old: Sandbox, tmp_path: Path, point: str) -> None:
    calm = old.copy(tmp_path / "calm")
    calls = calls_of(calm, tmp_path / "log")
    wanted = {"staging": "unlinkat", "trash": "unlinkat"}.get(point, "renameat")
    if point == "backup/skills.json":
        wanted = "fsync"  # of what is written beside it first
    of_its_kind = [call for call in calls if call.startswith(f"{wanted}(")]
    number = 1 if wanted == "fsync" else next(n for n, call in enumerate(of_its_kind, 1) if f"{point}" in call)

    kill(old, wanted, number)

    names = [entry["name"] for entry in old.run("list", "--json", check=True).json["skills"]]
    is_decided = point not in {"backup/skills.json", "journal.json"}
    assert len(names) == (13 if is_decided else 1)
    assert old.run("registry", "check").code == (0 if is_decided else 1)
    assert bodies_of(old) == [*range(12)]
    old.run("migrate", check=True)
    assert settled(old) == settled(calm)


def test_an_edit_between_a_crash_and_the_next_command_is_kept(old: Sandbox, tmp_path: Path) -> None:
    """Nothing but the journal is there yet; then the person goes on writing in the flat file."""
    calls = calls_of(old.copy(tmp_path / "calm"), tmp_path / "log")
    renames = [call for call in calls if call.startswith("renameat(")]
    kill(old, "renameat", 1 + next(n for n, call in enumerate(renames, 1) if "journal.json" in call))
    path = f"{HERE}/development/skill-9.md"
    old.write(path, old.read(path) + "One more thought.\n")

    healed = old.run("migrate", check=True)

    assert CHANGED_WARNING in healed.stderr
    assert old.read(path) == body(9) + "One more thought.\n"
    assert old.read(f"{HERE}/skill-9/SKILL.md").endswith(body(9))
    assert "development/skill-9.md  skill-9/ already exists" in healed.stdout


SAVING = f"""
import sys
done = []
def save(event, arguments):
    if event in ("os.remove", "os.rename") and str(arguments[0]).endswith("skill-9.md") and not done:
        done.append(True)
        with open("{HERE}/development/skill-9.md", "a") as file:
            file.write("One more thought.\\n")
sys.addaudithook(save)
"""


def test_an_edit_in_the_moment_a_flat_file_goes_is_kept(old: Sandbox) -> None:
    old.write("site/sitecustomize.py", SAVING)

    result = old.run("migrate", env={"PYTHONPATH": str(old.work / "site")}, check=True)

    assert CHANGED_WARNING in result.stderr
    assert old.read(f"{HERE}/development/skill-9.md") == body(9) + "One more thought.\n"
    assert old.read(f"{HERE}/skill-9/SKILL.md").endswith(body(9))
