"""A folder that another process swaps with a link while a command runs: nothing in the folder it leads to changes."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from kit import Repository, Sandbox, make_skill, prefix_paths, snapshot
from kit.sandbox import Environment
from races.sweep import Sweep, add_precious_files

Sweeper = subprocess.Popen[str]

HERE = ".agent-skills"
FOLDERS = (HERE, f"{HERE}/.skillpm", f"{HERE}/.skillpm/backup", f"{HERE}/pdf", ".claude", ".claude/skills")
COMMANDS = (
    ("sync", "--force"),
    ("update", "--force"),
    ("doctor", "--fix"),
    ("backup", "restore", "pdf-1", "--force"),
    ("uninstall", "docx"),
)
# So that a path which starts at the link leads to something, whichever folder is swapped.
INNER = ("staging", "trash", "backup", "left", "rejected", ".skillpm/staging", ".skillpm/trash", "skills/docx", "docx")
needs_exchange = pytest.mark.skipif(sys.platform != "linux", reason="swaps by renameat2, which Linux has")
# Swaps two paths as often as it can, until it is killed.
SWAPPER = """\
import ctypes, sys
one, other = sys.argv[1].encode(), sys.argv[2].encode()
renameat2 = ctypes.CDLL(None).renameat2
while True:
    renameat2(-100, one, -100, other, 2)
"""
BY_PATH = """\
import sys
from skillpm import directories
directories.HAS_DESCRIPTORS = False
from skillpm.cli.main import main
main(sys.argv[1:])
"""


class World(Sandbox):
    """A project in which each of the commands has something to do."""

    use_fork_server = False

    def environment(self, changes: Environment | None = None) -> dict[str, str]:
        """Build the environment; nothing is flushed, since no power is lost here."""
        return super().environment({"SKILLPM_FSYNC": "0", "PYTHONDONTWRITEBYTECODE": "1", **(changes or {})})

    def edit(self) -> None:
        """Make an edit, which `--force` backs up."""
        with (self.work / HERE / "pdf/SKILL.md").open("a") as file:
            file.write("an edit\n")


def publish(repository: Repository, word: str) -> None:
    for name in ("pdf", "docx"):
        repository.write(prefix_paths(f"skills/{name}", make_skill(name, body=f"{word}\n") | {"notes/a.md": word}))
    repository.commit(word)


def create_world(base: Path) -> World:
    """Create the project at the place where it is run: the receipt and links name no other."""
    repository = Repository.create(base / "upstream")
    publish(repository, "one")
    world = World(base / "world")
    world.write("skills.json", '{"skills": {}, "agents": ["claude-code"]}\n')
    world.run("install", repository.file_url, "--all", "--yes", check=True)
    world.edit()
    world.run("sync", "--force", check=True)
    publish(repository, "two")
    world.edit()
    return world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return create_world(tmp_path_factory.mktemp("races"))


@pytest.fixture(scope="module")
def sweeper() -> Iterator[Sweeper]:
    """Start a process that imports the package once for all sweeps."""
    script = Path(__file__).with_name("sweep.py")
    with subprocess.Popen(
        [sys.executable, script],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        yield process


def sweep(
    sweeper: Sweeper, world: World, command: tuple[str, ...], folder: str, *, duration: int, moments: int
) -> list[str]:
    """Run the command once for each moment; return what went wrong."""
    template = world.root.parent / "template"
    if not template.exists():
        shutil.copytree(world.root, template, symlinks=True)
    fields = Sweep(
        template=str(template),
        scratch=str(world.root),
        words=[*command],
        variables=world.environment(),
        folder=f"work/{folder}",
        duration=duration,
        moments=moments,
        inner=[*INNER],
    )
    assert sweeper.stdin is not None
    assert sweeper.stdout is not None
    sweeper.stdin.write(json.dumps(asdict(fields)) + "\n")
    found: list[str] = json.loads(sweeper.stdout.readline())
    return found


@needs_exchange
@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_outside_changes(sweeper: Sweeper, world: World, folder: str) -> None:
    assert sweep(sweeper, world, COMMANDS[0], folder, duration=0, moments=4) == []


@needs_exchange
@pytest.mark.parametrize("folder", [HERE, f"{HERE}/.skillpm"])
def test_nothing_outside_changes_when_there_is_nothing_to_do(
    sweeper: Sweeper, tmp_path_factory: pytest.TempPathFactory, folder: str
) -> None:
    """Each run is in a copy, so that the command records what it had to read."""
    world = create_world(tmp_path_factory.mktemp("calm"))
    world.run("update", "--force", check=True)

    assert sweep(sweeper, world, ("sync",), folder, duration=0, moments=6) == []


@pytest.mark.slow
@needs_exchange
@pytest.mark.parametrize("duration", [0, 1])
@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_outside_changes_at_any_moment(
    sweeper: Sweeper, world: World, command: tuple[str, ...], folder: str, duration: int
) -> None:
    assert sweep(sweeper, world, command, folder, duration=duration, moments=20) == []


@pytest.mark.slow
@needs_exchange
@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_outside_changes_while_a_process_swaps_without_pause(tmp_path: Path, folder: str) -> None:
    world = create_world(tmp_path)
    outside = tmp_path / "outside"
    shutil.copytree(world.work / folder, outside, symlinks=True)
    add_precious_files(outside, [*INNER])
    (world.work / "link").symlink_to(outside)
    before = snapshot(outside)
    paths = [str(world.work / folder), str(world.work / "link")]
    with subprocess.Popen([sys.executable, "-c", SWAPPER, *paths]) as swapper:
        try:
            results = [world.run(*command) for command in COMMANDS]
        finally:
            swapper.kill()

    assert snapshot(outside) == before
    assert [result for result in results if result.code not in {0, 1, 2}] == []


def test_without_descriptors_commands_work_by_path(tmp_path: Path) -> None:
    world = create_world(tmp_path)
    for command in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-c", BY_PATH, *command], cwd=world.work, env=world.environment(), check=True
        )
        assert done.returncode == 0
    assert not world.exists(f"{HERE}/docx")
    assert "work/.agent-skills/pdf" in world.run("list", "--json").stdout
