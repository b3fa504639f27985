"""Another process empties the cache, or deletes it, at the worst moment: what is missing is fetched again, quietly."""

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
from skillpm.fetchers.content import fetch_content
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.fetchers.git.process import GitProcesses
from skillpm.fetchers.git.repository_cache import GitCache
from skillpm.formats.lockfile import LockedSkill, read_lockfile
from skillpm.indexes.client.index_fetcher import IndexFetcher
from skillpm.settings import Settings, read_settings
from skillpm.store import Store

pytestmark = pytest.mark.slow

EMPTYING = {"prune": ("cache", "prune", "--unused-for", "0"), "clean": ("cache", "clean", "--yes")}
WORDS = pytest.mark.parametrize("words", EMPTYING.values(), ids=EMPTYING)
NEXT = "next: `skillpm link AGENT` shows them to your agent; `skillpm agents --all` lists the agents it knows"


@pytest.fixture
def first(upstream: Repository, server: GitServer) -> str:
    """Give the address of a repository of two skills."""
    upstream.write(
        prefix_paths("skills/pdf", make_skill("pdf")) | prefix_paths("skills/ocr", make_skill("ocr"))
    ).commit()
    return server.serve("acme/first", upstream)


@pytest.fixture
def second(tmp_path: Path, server: GitServer) -> str:
    """Give the address of a repository of one skill."""
    other = Repository.create(tmp_path / "other").write(make_skill("chart"))
    other.commit()
    return server.serve("acme/second", other)


def said(result: Result) -> list[str]:
    """Give the lines on stderr, but for the one that a slow machine adds."""
    return result.error_output.splitlines()


def emptied(project: Project, words: tuple[str, ...], held: str) -> None:
    """Empty the cache of a project, while it has one repository in its hands."""
    done = Project(project.root / "other").run(*words, env={"SKILLPM_CACHE_DIR": str(project.cache)})
    (path,) = (project.cache / "v1/git").glob(f"*{held}*.git")
    assert done.stderr == f"warning: {path} is in use; it is left\n"
    assert done.stdout.endswith("; left 1 in use\n")
    assert {found.name for found in (project.cache / "v1/git").glob("*.git")} == {path.name}


@WORDS
def test_what_was_learnt_of_a_repository_does_not_outlive_its_cache(
    project: Project, server: GitServer, first: str, second: str, words: tuple[str, ...]
) -> None:
    """The first repository was looked at, and is gone when its skill is to be fetched."""
    server.add_fault(r"acme/second\.git.* fetch", respond_after(lambda: emptied(project, words, "second")), times=1)

    done = project.run("install", f"{first}@pdf", second, check=True)

    assert said(done) == [NEXT]
    assert {*project.installed_files("pdf")} == {"SKILL.md"}


def test_what_another_process_put_into_its_place_is_not_taken_for_all_of_it(
    project: Project, upstream: Repository, server: GitServer, first: str, second: str, tmp_path: Path
) -> None:
    """There is a repository again, and in it only what somebody else needed."""
    other = Project(tmp_path / "twin")
    shared = {"SKILLPM_CACHE_DIR": str(project.cache)}
    other.run("install", f"{first}@ocr", check=True)
    shutil.rmtree(other.work / ".agent-skills")

    def replaced() -> None:
        emptied(project, EMPTYING["clean"], "second")
        other.run("sync", "--frozen", env=shared, check=True)

    server.add_fault(r"acme/second\.git.* fetch", respond_after(replaced), times=1)

    done = project.run("install", f"{first}@pdf", second, check=True)

    assert said(done) == [NEXT]
    assert project.installed_files("pdf") == upstream.read_files("skills/pdf")


@WORDS
def test_what_was_taken_out_of_the_store_before_it_was_read_is_fetched_again(
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

    assert said(other.run("sync", "--frozen", check=True)) == [NEXT]

    assert other.installed_files("pdf") == project.installed_files("pdf")


@pytest.mark.parametrize("whose", ["git", "v1"])
def test_a_cache_that_is_deleted_in_the_midst_of_a_fetch_is_made_again(
    project: Project, server: GitServer, first: str, whose: str
) -> None:
    gone = project.cache / ("v1" if whose == "v1" else "v1/git")
    server.add_fault(r"acme/first\.git.* fetch", respond_after(lambda: shutil.rmtree(gone)), times=1)

    done = project.run("install", f"{first}@pdf", check=True)

    assert said(done) == [f"warning: the cache of {first} was damaged; it is fetched anew", NEXT]
    assert (project.cache / "v1/CACHEDIR.TAG").exists()


class Emptying(Recorder):
    """A listener that takes everything out of the store whenever a fetch is over, so many times."""

    def __init__(self, store: Path, times: int) -> None:
        super().__init__()
        self.store, self.times = store, times

    def finished(self, what: str) -> None:
        """Empty the store."""
        if self.times:
            self.times -= 1
            shutil.rmtree(self.store)
        super().finish_task(what)


def content(project: Project, name: str, listener: Recorder) -> FileTree:
    """Have the content of what is locked, with a listener."""
    settings: Settings = read_settings(project.environment())
    locked: Mapping[SkillName, LockedSkill] = read_lockfile(project.read("skills.lock"), "skills.lock").skills
    store = Store(f"{settings.cache_dir}/store")
    base = str(project.work)

    def index() -> IndexFetcher:
        return IndexFetcher(settings, base, store, listener, lambda: ())

    fetchers = FetcherDispatcher(settings, base, store, listener, lambda: f"{settings.cache_dir}/git", index)
    skill_name = SkillName(name)
    return fetch_content(fetchers, skill_name, locked[skill_name], locked[skill_name].digest or Digest(""))


def test_what_goes_again_and_again_is_fetched_four_times_and_then_told(project: Project, first: str) -> None:
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
    assert raised.value.message == f"`pdf` did not arrive from {pdf}, or was taken out of the cache each time"
    assert raised.value.where == str(store)


def digest_of(project: Project, name: str) -> str:
    """Give the digest that the lockfile has of a skill."""
    digest: str = json.loads(project.read("skills.lock"))["skills"][name]["digest"]
    return digest


def test_the_folder_that_git_is_run_in_may_go_right_before_git_is_started(tmp_path: Path) -> None:
    cache = GitCache(str(tmp_path / "v1/git"))
    cache.prepare()
    with run_before_event("subprocess.Popen", "git", lambda: shutil.rmtree(tmp_path / "v1")):
        said = GitProcesses().run(["version"], {"PATH": "/usr/bin:/bin"}, cache.empty_folder)

    assert said == subprocess.check_output(["git", "version"])
