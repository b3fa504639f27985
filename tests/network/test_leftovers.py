"""Leftovers of a killed git block nothing; locks of a running one do."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from fetchers.world import Project, find_git_processes, use_git_without_connections
from kit import GitServer, Repository, make_skill, prefix_paths, wait_for

pytestmark = pytest.mark.slow

STRACE = shutil.which("strace")
MOMENTS = range(1, 9)


@pytest.fixture
def url(server: GitServer, tmp_path: Path) -> str:
    upstream = Repository.create(tmp_path / "upstream")
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf") | {"data": os.urandom(300_000)})).commit()
    return server.serve("acme/skills", upstream)


def left(project: Project) -> list[str]:
    """Return the names of git's leftovers, with placeholders for what differs between runs."""
    found = (path.relative_to(project.git_cache) for path in project.git_cache.rglob("*"))
    names = {re.sub(r"(tmp_[a-z]+_).*|[0-9a-f]{32}", r"\1", str(path)) for path in found}
    return sorted(name for name in names if name.endswith(".lock") or "tmp_" in name)


def half_a_pack(project: Project, server: GitServer) -> list[Path]:
    """Return the received part of the second pack, as soon as there is one.

    Half of it is sent; git does not write an incomplete packet (64 kB).
    """
    fetches = [request for request in server.requests if request.command == "fetch"]
    found = list(project.cache.rglob("tmp_pack_*")) if len(fetches) > 1 else []
    return [path for path in found if path.exists() and path.stat().st_size > 50_000]


def test_a_git_killed_while_receiving_a_pack_blocks_nothing(
    project: Project, server: GitServer, url: str, tmp_path: Path
) -> None:
    server.add_fault("POST .* fetch", "stall-in-body", after=1)  # the first fetches the commit, the second the files
    with project.spawn("install", f"{url}@pdf", env=use_git_without_connections(tmp_path / "bin")) as process:
        half = wait_for(lambda: half_a_pack(project, server))
        for group in {os.getpgid(child) for child in find_git_processes(project)}:
            os.killpg(group, signal.SIGKILL)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
    server.clear_faults()
    wait_for(lambda: not find_git_processes(project))
    assert [path for path in half if path.exists()] == half

    project.run("install", f"{url}@pdf", check=True)

    assert left(project) == []


@pytest.mark.skipif(STRACE is None, reason="no strace here")
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_git_killed_while_renaming_a_file_blocks_nothing(
    project: Project, url: str, tmp_path: Path, moment: int
) -> None:
    """Git first writes each file as a lock or a `tmp_*`, and then renames it."""
    git = tmp_path / "bin/git"
    git.parent.mkdir()
    kill = f"rename,renameat,renameat2,link,linkat:signal=SIGKILL:when={moment}"
    real = shutil.which("git")
    git.write_text(
        f'#!/bin/sh\ncase "$*" in *fetch*) exec {STRACE} -f -qq -o {tmp_path}/calls -e inject={kill} '
        f'{real} "$@";; esac\nexec {real} "$@"\n'
    )
    git.chmod(0o755)

    killed = project.run("install", f"{url}@pdf", env={"PATH": f"{git.parent}:{os.environ['PATH']}"})
    behind = left(project)
    again = project.run("install", f"{url}@pdf")

    assert "SIGKILL" not in (tmp_path / "calls").read_text() or killed.code == 1, killed
    assert (again.code, left(project)) == (0, []), (behind, again)


def test_the_lock_of_a_running_git_of_another_skillpm_is_kept(
    project: Project, server: GitServer, url: str, tmp_path: Path
) -> None:
    other = Project(tmp_path / "other")
    server.add_fault("POST .* fetch", "stall-in-body", after=1)
    with project.spawn("install", f"{url}@pdf", env=use_git_without_connections(tmp_path / "bin")) as first:
        half = wait_for(lambda: half_a_pack(project, server))
        (project.git_cache / "shallow.lock").write_text("mine")
        waiting = other.run(
            "install", f"{url}@pdf", "--lock-timeout", "1.5", env={"SKILLPM_CACHE_DIR": str(project.cache)}
        )
        kept = [path.exists() for path in (*half, project.git_cache / "shallow.lock")]
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=60)

    assert (waiting.code, waiting.stderr.splitlines()[-3]) == (
        1,
        f"error: the cache of {url} has been locked by process {first.pid} for more than 1.5 s",
    )
    assert (all(kept), other.is_untouched) == (True, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk")
def test_the_disk_is_full_while_a_pack_arrives(project: Project, server: GitServer, url: str) -> None:
    words = ["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(project.cache)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("mounting a disk is not allowed here")
    try:
        before = project.snapshot()
        full = project.run("install", f"{url}@pdf")
        unchanged = project.snapshot() == before
        subprocess.run(["mount", "-o", "remount,size=50m", str(project.cache)], check=True)
        again = project.run("install", f"{url}@pdf")
        behind, where = left(project), project.git_cache
    finally:
        subprocess.run(["umount", "-l", str(project.cache)], check=True)

    assert (full.code, full.stderr, unchanged) == (
        1,
        (
            f"error: cannot write to the git cache: no space left on the device\n  where: {where}\n"
            "  hint: free some space and run the command again; no partial change was left\n"
        ),
        True,
    )
    assert (again.code, behind) == (0, []), again


def test_the_file_size_limit_is_reached(project: Project, url: str) -> None:
    """A limit set by the user (`ulimit -f`), as a quota."""
    before = project.snapshot()

    words = ["sh", "-c", 'ulimit -f 200; exec "$@"', "sh", *project.command, "install", f"{url}@pdf"]
    environment = project.environment()
    full = subprocess.run(words, cwd=project.work, env=environment, capture_output=True, text=True, check=False)
    unchanged = project.snapshot() == before
    project.run("install", f"{url}@pdf", check=True)

    assert (full.returncode, unchanged) == (1, True), full
    assert full.stderr == (
        "error: cannot write to the git cache: the file is larger than the file system or a limit of this process "
        f"allows\n  where: {project.git_cache}\n"
        "  hint: check the limit of file sizes (`ulimit -f`); no partial change was left\n"
    )
    assert left(project) == []
