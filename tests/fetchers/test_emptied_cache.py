"""Another process empties or deletes the cache at the worst moment: missing content is fetched again, silently."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, Result, make_skill, prefix_paths, respond_after, run_before_event, wait_for

from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.errors import FetchError
from skillpm.events import Recorder
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.common.gate import Gate
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.fetchers.git.program.process import GitProcesses
from skillpm.fetchers.git.program.repository_cache import GitCache
from skillpm.fetchers.verified_content import fetch_content
from skillpm.formats.lockfile import LockedSkill, read_lockfile
from skillpm.indexes.client.index_fetcher import IndexFetcher
from skillpm.settings import Settings, read_settings
from skillpm.store import Store

pytestmark = pytest.mark.slow

EMPTYING = {"prune": ("cache", "prune", "--unused-for", "0"), "clean": ("cache", "clean", "--yes")}
WORDS = pytest.mark.parametrize("words", EMPTYING.values(), ids=EMPTYING)
NEXT = "next: `skillpm link AGENT` makes them visible to your agent; `skillpm agents --all` lists the agents it knows"


@pytest.fixture
def first(upstream: Repository, server: GitServer) -> str:
    """The URL of a repository with two skills."""
    upstream.write(
        prefix_paths("skills/pdf", make_skill("pdf")) | prefix_paths("skills/ocr", make_skill("ocr"))
    ).commit()
    return server.serve("acme/first", upstream)


@pytest.fixture
def second(tmp_path: Path, server: GitServer) -> str:
    """The URL of a repository with one skill."""
    other = Repository.create(tmp_path / "other").write(make_skill("chart"))
    other.commit()
    return server.serve("acme/second", other)


def stderr_lines(result: Result) -> list[str]:
    """Return the lines of stderr, without the one that a slow machine adds."""
    return result.error_output.splitlines()


def emptied(project: Project, words: tuple[str, ...], held: str) -> None:
    """Empty the cache of a project while it works in one repository."""
    done = Project(project.root / "other").run(*words, env={"SKILLPM_CACHE_DIR": str(project.cache)})
    (path,) = (project.cache / "v1/git").glob(f"*{held}*.git")
    assert done.stderr == f"warning: {path} is in use; skipped\n"
    assert done.stdout.endswith("; skipped 1 in use\n")
    assert {found.name for found in (project.cache / "v1/git").glob("*.git")} == {path.name}


@WORDS
def test_resolved_refs_do_not_outlive_the_cache(
    project: Project, server: GitServer, first: str, second: str, words: tuple[str, ...]
) -> None:
    """The cache of the first repository is deleted between resolving its ref and fetching its skill."""
    server.add_fault(r"acme/second\.git.* fetch", respond_after(lambda: emptied(project, words, "second")), times=1)

    done = project.run("install", f"{first}@pdf", second, check=True)

    assert stderr_lines(done) == [NEXT]
    assert {*project.installed_files("pdf")} == {"SKILL.md"}


def test_a_cache_recreated_by_another_process_is_completed(
    project: Project, upstream: Repository, server: GitServer, first: str, second: str, tmp_path: Path
) -> None:
    """The cache exists again, but has only the objects that the other process needed."""
    other = Project(tmp_path / "twin")
    shared = {"SKILLPM_CACHE_DIR": str(project.cache)}
    other.run("install", f"{first}@ocr", check=True)
    shutil.rmtree(other.work / ".agent-skills")

    def replaced() -> None:
        emptied(project, EMPTYING["clean"], "second")
        other.run("sync", "--frozen", env=shared, check=True)

    server.add_fault(r"acme/second\.git.* fetch", respond_after(replaced), times=1)

    done = project.run("install", f"{first}@pdf", second, check=True)

    assert stderr_lines(done) == [NEXT]
    assert project.installed_files("pdf") == upstream.read_files("skills/pdf")


@WORDS
def test_content_removed_before_it_is_read_is_fetched_again(
    project: Project, server: GitServer, first: str, second: str, tmp_path: Path, words: tuple[str, ...]
) -> None:
    project.run("install", f"{first}@pdf", second, check=True)
    other = project.clone(tmp_path / "twin")

    def store() -> list[Path]:
        return [path for path in (other.cache / "v1/store").rglob("*") if path.is_file() and ".new" not in path.name]

    def taken_out() -> None:
        wait_for(store)
        wait_for(lambda: not [*(other.cache / "v1/git").glob("*first*.git/*.lock")])
        other.run(*words, cwd=other.root)
        assert store() == []

    server.add_fault(r"acme/second\.git.* fetch", respond_after(taken_out), times=1)

    assert stderr_lines(other.run("sync", "--frozen", check=True)) == [NEXT]

    assert other.installed_files("pdf") == project.installed_files("pdf")


@pytest.mark.parametrize("whose", ["git", "v1"])
def test_a_cache_deleted_during_a_fetch_is_created_again(
    project: Project, server: GitServer, first: str, whose: str
) -> None:
    gone = project.cache / ("v1" if whose == "v1" else "v1/git")
    server.add_fault(r"acme/first\.git.* fetch", respond_after(lambda: shutil.rmtree(gone)), times=1)

    done = project.run("install", f"{first}@pdf", check=True)

    assert stderr_lines(done) == [f"warning: the cache of {first} was damaged; fetching it again", NEXT]
    assert (project.cache / "v1/CACHEDIR.TAG").exists()


class Emptying(Recorder):
    """A reporter that empties the store after each of the first `times` fetches."""

    def __init__(self, store: Path, times: int) -> None:
        super().__init__()
        self.store, self.times = store, times

    def finish_task(self, what: str) -> None:
        """Empty the store."""
        if self.times:
            self.times -= 1
            shutil.rmtree(self.store)
        super().finish_task(what)


def content(project: Project, name: str, listener: Recorder) -> FileTree:
    """Fetch the locked content, with a reporter."""
    settings: Settings = read_settings(project.environment())
    locked: Mapping[SkillName, LockedSkill] = read_lockfile(project.read("skills.lock"), "skills.lock").skills
    store = Store(f"{settings.cache_dir}/store")
    base = str(project.work)

    def index(settings: Settings, destinations: Destinations) -> IndexFetcher:
        return IndexFetcher(settings, base, store, listener, lambda: (), destinations)

    fetchers = FetcherDispatcher(settings, store, listener, lambda: f"{settings.cache_dir}/git", index, Gate(base))
    fetchers.destinations.name(project.locked_source(name).get("git", ""))
    skill_name = SkillName(name)
    return fetch_content(fetchers, skill_name, locked[skill_name], locked[skill_name].digest or Digest(""))


def test_content_that_keeps_disappearing_is_an_error_after_four_fetches(project: Project, first: str) -> None:
    project.run("install", f"{first}@pdf", check=True)
    store = project.cache / "v1/store"
    shutil.rmtree(store)
    listener = Emptying(store, times=3)

    tree = content(project, "pdf", listener)

    assert (tree.digest, listener.times, listener.warnings) == (digest_of(project, "pdf"), 0, [])
    shutil.rmtree(store)
    with pytest.raises(FetchError) as raised:
        content(project, "pdf", Emptying(store, times=4))
    commit = project.locked_source("pdf")["commit"]
    pdf = f"git+{first}@{commit}#subdirectory=skills/pdf"
    assert raised.value.message == f"cannot fetch `pdf` from {pdf}: it was removed from the cache each time"
    assert raised.value.where == str(store)


def digest_of(project: Project, name: str) -> str:
    """Return the locked digest of a skill."""
    digest: str = json.loads(project.read("skills.lock"))["skills"][name]["digest"]
    return digest


def test_the_working_folder_of_git_may_be_deleted_before_git_starts(tmp_path: Path) -> None:
    cache = GitCache(str(tmp_path / "v1/git"))
    cache.prepare()
    with run_before_event("subprocess.Popen", "git", lambda: shutil.rmtree(tmp_path / "v1")):
        output = GitProcesses().run(["version"], {"PATH": "/usr/bin:/bin"}, cache.empty_folder)

    assert output == subprocess.check_output(["git", "version"])
