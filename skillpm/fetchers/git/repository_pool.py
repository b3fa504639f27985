"""Run work in several repositories in parallel, with each cache locked, and recreated if it is damaged."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from typing import TypeVar

from skillpm.core.names import SkillName
from skillpm.errors import FetchError, FileError, SkillpmError
from skillpm.events import Reporter
from skillpm.fetchers.destinations import Destinations
from skillpm.fetchers.git.error_table import CACHE_DISK_FULL, FREE_SPACE_HINT
from skillpm.fetchers.git.errors import GitFailed, translate_error
from skillpm.fetchers.git.gitconfig import read_git_config
from skillpm.fetchers.git.objects import CacheDamaged
from skillpm.fetchers.git.process import GitProcesses
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.repository_cache import GitCache, create_repository, is_sound, remove_leftovers
from skillpm.fetchers.git.transfer.remote import GitContext, fetch_task
from skillpm.files import remove_tree, translate_os_errors
from skillpm.settings import Settings

Result = TypeVar("Result")
Work = Callable[[Repository, Sequence[SkillName]], dict[SkillName, Result]]
MAX_PARALLEL = 8
MIN_FREE_BYTES = 1 << 16


class RepositoryPool:
    """The git processes, the caches and the shared context of a command."""

    def __init__(self, settings: Settings, reporter: Reporter, cache: str, destinations: Destinations) -> None:
        self.settings = settings
        self.reporter = reporter
        self.destinations = destinations
        self.processes = GitProcesses(reporter.log_verbose, reporter.log_debug)
        self.cache = GitCache(cache)
        self._context: GitContext | None = None

    def run_each(self, urls: Mapping[SkillName, str], work: Work[Result]) -> dict[SkillName, Result]:
        """Run the work for each repository, several in parallel; the first failure stops all."""
        groups: dict[str, list[SkillName]] = {}
        for name, url in sorted(urls.items()):
            groups.setdefault(url, []).append(name)
        if not groups:
            return {}
        self._get_context()
        if len(groups) == 1:
            return self._run(*next(iter(groups.items())), work)
        with ThreadPoolExecutor(MAX_PARALLEL) as pool:
            jobs = [pool.submit(self._run, url, names, work) for url, names in sorted(groups.items())]
            try:
                done, _ = wait(jobs, return_when=FIRST_EXCEPTION)
                results: dict[SkillName, Result] = {}
                for job in (job for job in jobs if job in done):
                    results |= job.result()
            except BaseException as error:
                self.processes.stop_event.set()
                pool.shutdown(cancel_futures=True)
                if isinstance(error, Exception):
                    # All processes have ended. The caller may go on, one repository after the other
                    # (`operations/foreign_import/pins.py`).
                    self.processes.stop_event.clear()
                raise
        return results

    def _run(self, url: str, names: Sequence[SkillName], work: Work[Result]) -> dict[SkillName, Result]:
        task = fetch_task(url)
        self.reporter.start_task(task, [name for name in names if name != url])
        try:
            return self._run_locked(url, names, work)
        finally:
            self.reporter.finish_task(task)

    def _run_locked(
        self, url: str, names: Sequence[SkillName], work: Work[Result], *, is_last: bool = False
    ) -> dict[SkillName, Result]:
        """Run the work with the existing cache; if that is damaged, recreate it and run the work once more."""
        is_stopped = self.processes.stop_event.is_set
        with self.cache.lock_repository(url, self.settings.lock_timeout, self.reporter.warn, is_stopped) as (
            path,
            lock,
        ):
            is_new = self._ensure_sound(path, url)
            try:
                with closing(Repository(url, path, self._get_context(), lock)) as repository:
                    return work(repository, names)
            except CacheDamaged as damaged:
                # Recreating a cache that was just created would fail the same way, unless it was deleted meanwhile.
                if is_last or (is_new and os.path.isdir(path)):
                    raise _add_location(translate_error(GitFailed(str(damaged)), url), path) from damaged
                self._report_damage(url, damaged)
                with translate_os_errors("remove a git cache", path):
                    remove_tree(path)
            except FileError as error:
                _add_location(error, path)
                raise
        # Take the lock again: if the whole cache was deleted, its lock file is gone, too.
        return self._run_locked(url, names, work, is_last=True)

    def _ensure_sound(self, path: str, url: str) -> bool:
        """Create the cache repository if it is missing or unusable; return whether it is new."""
        if is_sound(path, url):
            remove_leftovers(path)
            return False
        if os.path.lexists(path):
            self._report_damage(url, None)
        create_repository(path, url)
        return True

    def _report_damage(self, url: str, damaged: CacheDamaged | None) -> None:
        """Warn that a cache is recreated.

        Raises `FetchError` if offline: the cache is kept, since other skills in it may be intact.
        """
        if self.settings.offline:
            raise FetchError(
                f"the cache of {url} is damaged, and cannot be fetched again offline",
                hint="run the same command once without --offline",
            ) from damaged
        self.reporter.warn(f"the cache of {url} was damaged; fetching it again")

    def _get_context(self) -> GitContext:
        if self._context is None:
            self.cache.prepare()
            config = read_git_config(self.settings, self.processes, self.cache.empty_folder)
            self._context = GitContext(
                settings=self.settings,
                processes=self.processes,
                config=config,
                folder=self.cache.empty_folder,
                destinations=self.destinations,
                on_progress=self.reporter.update_task,
            )
        return self._context


def _add_location(error: SkillpmError, path: str) -> SkillpmError:
    """Add what git often omits from a disk error: the file, and that the disk is full."""
    if isinstance(error, FileError):
        error.where = error.where or path
        with suppress(OSError):
            if shutil.disk_usage(os.path.dirname(path)).free < MIN_FREE_BYTES:
                error.message, error.hint = CACHE_DISK_FULL, FREE_SPACE_HINT
    return error
