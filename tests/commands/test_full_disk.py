"""A disk that fills up at any level: an install succeeds, or the old state stays and the error says what is full."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import Repository, Sandbox
from kit.disks import folder_on_another_disk

pytestmark = pytest.mark.slow

SIZE = 16_000_000
# How many blocks are left: at some levels or, with SKILLPM_LEVELS=all, at each up to more than an install needs.
LEVELS = range(64) if os.environ.get("SKILLPM_LEVELS") == "all" else [0, 3, 10, 18, 28, 40]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[CommandSandbox]:
    """Return a project on a disk of sixteen megabytes, with a skill installed."""
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(disk)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("mounting a disk is not permitted here")
    try:
        scene = CommandSandbox(disk / "scene").create_project()
        scene.run("install", "testing", check=True)
        yield scene
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(disk: Path, left: int) -> Path:
    """Fill a disk but for so many blocks."""
    state = os.statvfs(disk)
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, state.f_bavail - left) * state.f_frsize)
    return ballast


@pytest.mark.parametrize("left", LEVELS)
def test_an_install_on_a_full_disk_is_whole_or_nothing(small: CommandSandbox, upstream: Repository, left: int) -> None:
    """A bundled skill at even levels, and at odd ones a skill from git, whose cache is on that disk too."""
    skill = "code-review" if left % 2 == 0 else "pdf"
    spec = skill if left % 2 == 0 else f"{upstream.file_url}@pdf"
    before = small.full_snapshot
    ballast = fill(small.root.parent, left)

    result = small.run("install", spec, env={"SKILLPM_FSYNC": "0"})
    listed = small.run("list")
    looked_at = small.run("doctor")
    ballast.unlink()

    assert listed.code == 0
    assert "problem: the disk is full: " in looked_at.stdout
    assert "Traceback" not in result.stderr
    if result.code == 0:
        assert small.run("verify").code == 0
        assert small.exists(f".agent-skills/{skill}/SKILL.md")
    else:
        output = result.stderr.splitlines()
        if output[0] != "error: no space left for the git cache":
            assert re.fullmatch(r"error: cannot .*: no space left on the device", output[0]), result.stderr
        assert any(line.startswith(f"  where: {small.root}") for line in output[1:3])
        if not small.exists(".agent-skills/.skillpm/journal.json"):
            assert small.full_snapshot == before
    small.run("sync", check=True)
    assert small.run("verify").code == 0
    assert small.run("registry", "check").code == 0
    assert small.run("doctor").code == 0


def test_a_cache_on_another_disk(tmp_path: Path) -> None:
    """Nothing is ever renamed from the cache to the skills directory."""
    scene = CommandSandbox(tmp_path / "scene").create_project()
    with folder_on_another_disk(tmp_path) as other:
        if other is None:
            pytest.skip("there is only one disk here")
        variables = {"SKILLPM_CACHE_DIR": str(other / "cache"), "TMPDIR": str(other)}
        scene.run("install", "testing", env=variables, check=True)
        assert scene.run("verify").code == 0


def test_a_clock_that_jumps_decides_nothing(tmp_path: Path) -> None:
    scene = CommandSandbox(tmp_path / "scene").create_project()
    scene.run("install", "testing", check=True)
    file = scene.work / ".agent-skills/testing/SKILL.md"
    for second in (0, 2**32 + 5, 4_000_000_000):
        os.utime(file, (second, second))
        assert scene.run("sync").stdout.startswith("nothing to do")
        assert scene.run("verify").code == 0
        file.write_text(file.read_text() + f"{second}\n")
        os.utime(file, (second, second))
        assert scene.run("sync").stderr.startswith("edited: testing;"), "an edit is seen, whatever its time"
        assert scene.run("sync", "--frozen").code == 1
        scene.run("sync", "--force", check=True)


def test_a_skills_directory_deep_down(tmp_path: Path) -> None:
    """A path of nearly 4,096 bytes: it works, or fails with an error; never a traceback."""
    scene = CommandSandbox(tmp_path / "scene")
    for depth in (10, 16):
        folder = scene.home
        for _ in range(depth):
            folder = folder / ("d" * 240)
        env = {"SKILLPM_HOME": str(folder)}
        result = scene.run("install", "-g", "testing", env=env)
        assert "Traceback" not in result.stderr
        if result.code:
            assert "the path is too long for this file system" in result.stderr
        else:
            assert scene.run("verify", "-g", env=env).code == 0


def test_truncated_documents_are_reported_or_recreated(tmp_path: Path) -> None:
    base = Sandbox(tmp_path / "base")
    base.write("skills.json", '{"skills": {}}\n')
    base.run("install", "testing", check=True)
    for number, name in enumerate(
        ["receipt.json", "scan.json", "../skills.json", "../../skills.lock", "../../skills.json"]
    ):
        for size in (0, 10):
            scene = base.copy(tmp_path / f"{number}-{size}")
            path = scene.work / ".agent-skills/.skillpm" / name
            path.write_bytes(path.read_bytes()[:size])
            result = scene.run("sync")
            assert "Traceback" not in result.stderr
            if result.code == 0:
                assert scene.run("verify").code == 0
                assert scene.run("registry", "check").code == 0
            else:
                assert os.path.basename(name) in result.stderr


def test_a_trash_that_cannot_be_emptied_does_not_fail_the_change(tmp_path: Path) -> None:
    """No folder can be removed."""
    scene = CommandSandbox(tmp_path / "scene").create_project()
    refusing = (
        "import sys\n"
        "def refuse(event, arguments):\n"
        "    if event == 'os.rmdir':\n"
        "        raise PermissionError(13, 'Permission denied')\n"
        "sys.addaudithook(refuse)\n"
        "from skillpm.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", refusing, "install", "testing"],
        cwd=scene.work,
        env=scene.environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    left = ".agent-skills/.skillpm/left"
    assert f"    where: {scene.work}/{left}\n" in scene.run("doctor").stdout
    scene.run("install", "code-review", check=True)
    assert not scene.exists(left)
    scene.run("doctor", check=True)
