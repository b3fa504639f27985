"""Work in repositories: each by itself, its cache held and made anew when it is damaged; several at once."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from skillpm.core.names import SkillName
from skillpm.errors import FetchError, FileError, SkillpmError
from skillpm.events import Reporter
from skillpm.fetchers.git.errors import translated
from skillpm.fetchers.git.gitconfig import read_user_config
from skillpm.fetchers.git.objects import CacheDamaged
from skillpm.fetchers.git.process import Children, GitFailed
from skillpm.fetchers.git.remote import Surroundings
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.repository_cache import GitCache, create, is_sound, sweep
from skillpm.files import remove_tree, told
from skillpm.settings import Settings

Result = TypeVar("Result")
Work = Callable[[Repository, Sequence[SkillName]], dict[SkillName, Result]]
AT_ONCE = 8


class Visits:
    """Where all git work of a run is done: the processes, the caches, what a run has learnt."""

    def __init__(self, settings: Settings, reporter: Reporter, cache: str) -> None:
        self.settings = settings
        self.reporter = reporter
        self.children = Children(reporter.note, reporter.detail)
        self.cache = GitCache(cache)
        self._around: Surroundings | None = None

    def each(self, urls: Mapping[SkillName, str], work: Work[Result]) -> dict[SkillName, Result]:
        """Do the work for each repository, several at once; the first failure ends all."""
        groups: dict[str, list[SkillName]] = {}
        for name, url in sorted(urls.items()):
            groups.setdefault(url, []).append(name)
        if not groups:
            return {}
        self._surroundings()
        if len(groups) == 1:
            return self._visit(*next(iter(groups.items())), work)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            jobs = [pool.submit(self._visit, url, names, work) for url, names in sorted(groups.items())]
            try:
                done, _ = wait(jobs, return_when=FIRST_EXCEPTION)
                results: dict[SkillName, Result] = {}
                for job in (job for job in jobs if job in done):
                    results |= job.result()
            except BaseException as error:
                self.children.stopped.set()
                pool.shutdown(cancel_futures=True)
                if isinstance(error, Exception):
                    # All have ended; whoever asks for the others, one by one, begins anew
                    # (`operations/foreign_import/pins.py`).
                    self.children.stopped.clear()
                raise
        return results

    def _visit(self, url: str, names: Sequence[SkillName], work: Work[Result]) -> dict[SkillName, Result]:
        self.reporter.started(f"fetching {url}")
        try:
            return self._held(url, names, work)
        finally:
            self.reporter.finished(f"fetching {url}")

    def _held(
        self, url: str, names: Sequence[SkillName], work: Work[Result], *, is_last: bool = False
    ) -> dict[SkillName, Result]:
        """Work with the cache that is there; with one that fails anew, once."""
        stopped = self.children.stopped.is_set
        with self.cache.held(url, self.settings.lock_timeout, self.reporter.warning, stopped) as (path, lock):
            is_new = self._made_sound(path, url)
            try:
                return self._with(Repository(url, path, self._surroundings(), lock), names, work)
            except CacheDamaged as damaged:
                if is_last or (is_new and os.path.isdir(path)):
                    raise _placed(translated(GitFailed(str(damaged)), url), path) from damaged
                self._give_up_cache(url, damaged)
                with told("remove a git cache", path):
                    remove_tree(path)
            except FileError as error:
                _placed(error, path)
                raise
        # Held anew: where somebody deleted the whole cache, the lock went with it.
        return self._held(url, names, work, is_last=True)

    def _made_sound(self, path: str, url: str) -> bool:
        """Have a cache repository that can be worked with, and tell whether it is a new one."""
        if is_sound(path, url):
            sweep(path)
            return False
        if os.path.lexists(path):
            self._give_up_cache(url, None)
        create(path, url)
        return True

    def _with(self, repository: Repository, names: Sequence[SkillName], work: Work[Result]) -> dict[SkillName, Result]:
        """Work with the cache that is there. Raises `CacheDamaged`."""
        try:
            return work(repository, names)
        finally:
            repository.close()

    def _give_up_cache(self, url: str, damaged: CacheDamaged | None) -> None:
        """Say that a cache is made anew. Offline it is kept: other skills may be whole."""
        if self.settings.offline:
            raise FetchError(
                f"the cache of {url} is damaged, and the network is switched off",
                hint="run the same command once without --offline",
            ) from damaged
        self.reporter.warning(f"the cache of {url} was damaged; it is fetched anew")

    def _surroundings(self) -> Surroundings:
        if self._around is None:
            self.cache.prepare()
            config = read_user_config(self.settings, self.children, self.cache.empty)
            self._around = Surroundings(
                settings=self.settings, children=self.children, config=config, folder=self.cache.empty
            )
        return self._around


def _placed(error: SkillpmError, path: str) -> SkillpmError:
    """Add where it was to an error of the disk: git seldom says which file it could not write."""
    if isinstance(error, FileError):
        error.where = error.where or path
    return error
