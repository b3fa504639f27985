"""Run work in several repositories in parallel, with each cache locked, and recreated if it is damaged."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, suppress
from typing import TypeVar

from skillpm.cachedir import translate_cache_errors
from skillpm.core.names import SkillName
from skillpm.errors import FetchError, FileError, SkillpmError
from skillpm.events import Reporter
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.git.program.cache_check import is_sound
from skillpm.fetchers.git.program.error_table import CACHE_DISK_FULL, FREE_SPACE_HINT
from skillpm.fetchers.git.program.errors import GitFailed, quote_stderr, translate_error
from skillpm.fetchers.git.program.gitconfig import read_git_config
from skillpm.fetchers.git.program.objects import CacheDamaged
from skillpm.fetchers.git.program.process import GitProcesses
from skillpm.fetchers.git.program.repository_cache import GitCache, create_repository, remove_leftovers
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.transfer.remote import GitContext, fetch_task
from skillpm.files import remove_tree
from skillpm.settings import Settings

Result = TypeVar("Result")
Work = Callable[[Repository, Sequence[SkillName]], dict[SkillName, Result]]
MAX_PARALLEL = 8
MIN_FREE_BYTES = 1 << 16
ONLY_HINT = "if no other repository fails, its server sends damaged objects"


class RepositoryPool:
    """The git processes, the caches and the shared context of a command. `is_anonymous`: send no login."""

    def __init__(
        self,
        settings: Settings,
        reporter: Reporter,
        cache: str,
        destinations: Destinations,
        *,
        is_anonymous: bool = False,
    ) -> None:
        self.settings = settings
        self.reporter = reporter
        self.destinations = destinations
        self.processes = GitProcesses(reporter.log_verbose, reporter.log_debug)
        self.cache = GitCache(cache)
        self._is_anonymous = is_anonymous
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
        from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait  # noqa: PLC0415  (for several)

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
                    # (`adopt/pins.py`).
                    self.processes.stop_event.clear()
                raise
        return results

    def run_independently(
        self, urls: Collection[str], work: Callable[[Repository], Result]
    ) -> dict[str, Result | SkillpmError]:
        """Run the work for each repository, several in parallel; an error is the result of its repository."""

        def run(url: str) -> Result | SkillpmError:
            key = SkillName(url)
            try:
                return self._run(url, [key], lambda repository, _: {key: work(repository)})[key]
            except SkillpmError as error:
                return error

        try:
            self._get_context()
        except SkillpmError as error:
            return dict.fromkeys(urls, error)
        if len(urls) == 1:
            return {url: run(url) for url in urls}
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (for several)

        with ThreadPoolExecutor(MAX_PARALLEL) as pool:
            jobs = {url: pool.submit(run, url) for url in urls}
            try:
                return {url: job.result() for url, job in jobs.items()}
            except BaseException:
                self.processes.stop_event.set()
                pool.shutdown(cancel_futures=True)
                raise

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
                    raise _damaged_again_error(damaged, url, path) from damaged
                self._report_damage(url, damaged)
                with translate_cache_errors("remove a git cache", path):
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
            if self._is_anonymous:
                config = config.without_logins(self.settings.home)
            self._context = GitContext(
                settings=self.settings,
                processes=self.processes,
                config=config,
                folder=self.cache.empty_folder,
                destinations=self.destinations,
                reporter=self.reporter,
            )
        return self._context


def _damaged_again_error(damaged: CacheDamaged, url: str, path: str) -> SkillpmError:
    """Return the error for a cache that is damaged although it was just created."""
    error = translate_error(GitFailed(str(damaged)), url)
    if not isinstance(error, FileError):
        message = f"the cache of {url} is damaged again after it was fetched again{quote_stderr(str(damaged))}"
        error = FileError(message, hint=f"check the disk, and the cache with `skillpm doctor --fix`; {ONLY_HINT}")
    return _add_location(error, path)


def _add_location(error: SkillpmError, path: str) -> SkillpmError:
    """Add what git often omits from a disk error: the file, and that the disk is full."""
    if isinstance(error, FileError):
        from shutil import disk_usage  # noqa: PLC0415  (imports bz2 and lzma, and few disks are full)

        error.where = error.where or path
        with suppress(OSError):
            if disk_usage(os.path.dirname(path)).free < MIN_FREE_BYTES:
                error.message, error.hint = CACHE_DISK_FULL, FREE_SPACE_HINT
    return error
