"""Ctrl-C, SIGTERM and `kill -9` during a fetch: it ends soon, leaves no git running, and damages nothing."""

import os
import signal
from pathlib import Path

import pytest
from fetchers.world import Project, find_git_processes, use_git_without_connections
from kit import GitServer, Repository, make_skill, wait_for

pytestmark = pytest.mark.slow


@pytest.fixture
def url(upstream: Repository, server: GitServer) -> str:
    upstream.write(make_skill("pdf")).commit()
    return server.serve("acme/pdf", upstream)


@pytest.fixture
def urls(server: GitServer, url: str, tmp_path: Path) -> list[str]:
    other = Repository.create(tmp_path / "other")
    other.write(make_skill("other")).commit()
    return [url, server.serve("acme/other", other)]


@pytest.mark.parametrize("repositories", [1, 2])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_all_processes(locked: Project, server: GitServer, number: int, code: int) -> None:
    before = locked.snapshot()
    server.stall = True
    with locked.spawn("sync", "--frozen") as process:
        wait_for(lambda: len(server.requests) >= locked.read("skills.lock").count("commit"))
        assert find_git_processes(locked)
        os.kill(process.pid, number)
        stdout, stderr = process.communicate(timeout=60)
    server.stall = False

    assert (process.returncode, stdout) == (code, b""), stderr
    assert b"Traceback" not in stderr
    assert not find_git_processes(locked)
    assert locked.snapshot() == before
    locked.run("sync", "--frozen", check=True)


@pytest.fixture
def locked(project: Project, server: GitServer, urls: list[str], tmp_path: Path, repositories: int) -> Project:
    """A project with a lockfile and nothing else."""
    project.run("install", *urls[:repositories], check=True)
    server.clear_requests()
    return project.clone(tmp_path / "twin")


def test_an_interrupt_while_waiting_for_locked_caches(
    project: Project, server: GitServer, urls: list[str], tmp_path: Path
) -> None:
    project.run("install", *urls, check=True)
    holder, waiting = project.clone(tmp_path / "holder"), project.clone(tmp_path / "waiting")
    env = {"SKILLPM_CACHE_DIR": str(holder.cache)}
    server.clear_requests()
    server.stall = True
    with holder.spawn("sync", "--frozen") as first:
        wait_for(lambda: len(server.requests) >= 2)
        with waiting.spawn("sync", "--frozen", env=env) as process:
            assert process.stderr
            assert process.stderr.readline().startswith(b"warning: waiting for the cache of ")
            os.kill(process.pid, signal.SIGINT)
            process.communicate(timeout=60)
        first.terminate()
        first.communicate(timeout=60)

    assert process.returncode == 130


def test_a_killed_git_leaves_a_usable_cache(
    project: Project, server: GitServer, upstream: Repository, url: str
) -> None:
    project.run("install", url, check=True)
    commit = upstream.write({"more": "x" * 1000}).commit()
    server.clear_requests()
    server.stall = True
    with project.spawn("update") as process:
        children = wait_for(lambda: server.requests and find_git_processes(project))
        for child in children:
            os.kill(child, signal.SIGKILL)
        _, stderr = process.communicate(timeout=60)
    server.stall = False

    assert process.returncode == 1
    assert b"Traceback" not in stderr
    project.run("update", check=True)
    assert project.locked_source("pdf")["commit"] == commit
    assert project.installed_files("pdf") == upstream.read_files()


def test_a_cache_stays_locked_until_the_git_of_a_killed_command_ends(
    project: Project, server: GitServer, url: str, tmp_path: Path
) -> None:
    other = Project(tmp_path / "other")
    env = {"SKILLPM_CACHE_DIR": str(project.cache)}
    server.stall = True
    with project.spawn("install", url, env=use_git_without_connections(tmp_path / "bin")) as process:
        wait_for(lambda: server.requests)
        process.kill()
        process.communicate(timeout=60)
    waiting = other.run("install", url, "--lock-timeout", "1.5", env=env)
    server.stall = False
    wait_for(lambda: not find_git_processes(project))

    holder = f"a child of process {process.pid}, which has exited"
    assert waiting.stderr.splitlines()[:2] == [
        f"warning: waiting for the cache of {url}, locked by {holder}",
        f"error: the cache of {url} has been locked by {holder} for more than 1.5 s",
    ]
    other.run("install", url, env=env, check=True)


def test_a_killed_command_leaves_a_usable_cache(
    project: Project, server: GitServer, upstream: Repository, url: str
) -> None:
    server.stall = True
    with project.spawn("install", url) as process:
        wait_for(lambda: server.requests)
        left = find_git_processes(project)
        process.kill()
        process.communicate(timeout=60)
    server.stall = False
    wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in left))

    project.run("install", url, check=True)
    assert project.installed_files("pdf") == upstream.read_files()
