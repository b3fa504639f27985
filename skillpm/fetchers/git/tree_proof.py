"""Prove that locked trees, and what links lead to, are those of their commits.

It costs a commit and the trees above the folders: two requests of a few kB, made beside the fetch of the content.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import EDITED_LOCK_HINT, DigestMismatch, OfflineError
from skillpm.events import Reporter
from skillpm.fetchers.git.history import NO_FILTER, open_temporary
from skillpm.fetchers.git.program.error_table import ErrorKind
from skillpm.fetchers.git.program.errors import GitFailed, GitStopped, translate_error
from skillpm.fetchers.git.program.objects import CacheDamaged
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.tree_walk import format_entry, read_entry
from skillpm.kinds.git import EXECUTABLE_MODE, FOLDER_MODE, GitPin

if TYPE_CHECKING:
    from concurrent.futures import Future

Difference = tuple[()] | tuple[str, str, str]
"""Path, object of the pin, object of the commit (empty for none); empty if there is no difference."""


@contextmanager
def prove_trees(repository: Repository, pins: Mapping[SkillName, GitPin], reporter: Reporter) -> Iterator[None]:
    """Prove the trees of these pins while the body fetches their content.

    Raises `DigestMismatch` for a tree that is not that of its commit, `NotFoundError` if the server does not have a
    commit, and `OfflineError`. A server that cannot send commits without contents proves nothing, which is reported.
    """
    differences = {name: find_difference(repository, pin) for name, pin in pins.items()}
    _compare(repository.url, pins, differences)
    unproved = {name: pin for name, pin in pins.items() if differences[name] is None}
    if not unproved:
        yield
        return
    if repository.context.settings.offline:
        raise OfflineError([f"{repository.url} at {short_commit(pin.commit)}" for pin in unproved.values()])
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (only to restore)

    has_failed = Event()
    with ThreadPoolExecutor(1) as pool:
        fetch = pool.submit(_fetch_tree_ids, repository, unproved, has_failed)
        try:
            yield
        except BaseException as error:
            has_failed.set()
            if not isinstance(error, Exception):  # an interrupt
                repository.context.processes.stop_event.set()
            raise
        finally:
            repository.content_arrived.set()
        _finish(repository, fetch, unproved, reporter)


def _fetch_tree_ids(
    repository: Repository, pins: Mapping[SkillName, GitPin], has_failed: Event
) -> "dict[SkillName, Difference | None]":
    """Return in what these commits really differ from the pins, as `find_difference` does.

    `has_failed` is set if their content cannot be fetched: there is nothing to prove then.
    """
    paths = [path for pin in pins.values() for path, _ in pin.objects]
    depth = max(0 if path == "." else path.count("/") + 1 for path in paths)
    commits = sorted({pin.commit for pin in pins.values()})
    # Trees deeper than the folders, and all blobs, are left out: 2.6 kB instead of 73 MB for a large repository.
    object_filter = f"combine:tree:{depth}+blob:none"
    if repository.has_one_connection:
        repository.content_arrived.wait()  # the content is needed first, and is then written while the proof arrives
        if has_failed.is_set():  # a server that was silent three times would be asked three times more
            return {}
    if (apart := repository.fetch_apart(commits, depth=1, object_filter=object_filter)) is not None:
        return _find_differences(apart, pins)
    for is_last in (False, True):
        with open_temporary(repository) as temporary:
            try:
                temporary.fetch_ids(commits, depth=1, object_filter=object_filter, stop_on=NO_FILTER)
                return _find_differences(temporary, pins)
            except CacheDamaged:
                if is_last:
                    raise
    raise AssertionError


def _find_differences(repository: Repository, pins: Mapping[SkillName, GitPin]) -> "dict[SkillName, Difference | None]":
    """Return the differences of pins. Raises `GitFailed` if the server has left something out: that proves nothing."""
    differences = {name: find_difference(repository, pin) for name, pin in pins.items()}
    if None in differences.values():
        raise GitFailed("error: remote did not send all necessary objects")
    return differences


def check_trees(repository: Repository, pins: Mapping[SkillName, GitPin]) -> None:
    """Raise `DigestMismatch` if the cache shows that a commit has another tree, or no such folder. No network."""
    _compare(repository.url, pins, {name: find_difference(repository, pin) for name, pin in pins.items()})


def _compare(url: str, pins: Mapping[SkillName, GitPin], differences: "Mapping[SkillName, Difference | None]") -> None:
    for name, pin in pins.items():
        if difference := differences[name]:
            path, expected, actual = difference
            place = "" if path == "." else f", {sanitize(path)}"
            # A commit never changes, so the lockfile must have been edited.
            raise DigestMismatch(
                name,
                locked=_describe(expected),
                actual=_describe(actual) or f"no such {'folder' if expected.startswith(FOLDER_MODE) else 'file'}",
                origin=f"{url} at {short_commit(pin.commit)}{place}",
                key="source.tree" if path == pin.path else "source.links",
                advice=EDITED_LOCK_HINT,
            )


def _describe(entry: str) -> str:
    mode, _, oid = entry.partition(" ")
    if not oid:
        return ""
    kind = "tree" if mode == FOLDER_MODE else "executable file" if mode == EXECUTABLE_MODE else "file"
    return f"{kind} {short_commit(oid)}"


def find_difference(repository: Repository, pin: GitPin, commit: str = "") -> Difference | None:
    """Return the first object of a pin that its commit, or this one, does not have; None if objects are not cached."""
    for path, expected in pin.objects:
        if (found := read_entry(repository, commit or pin.commit, path)) is None:
            return None
        if (actual := format_entry(*found)) != expected:
            return path, expected, actual if found[0] else ""
    return ()


def _finish(
    repository: Repository,
    fetch: "Future[dict[SkillName, Difference | None]]",
    pins: Mapping[SkillName, GitPin],
    reporter: Reporter,
) -> None:
    try:
        _compare(repository.url, pins, fetch.result())
    except GitFailed as failed:
        # A server that sends its whole history for the content has sent the commits, too.
        if all(find_difference(repository, pin) is not None for pin in pins.values()):
            check_trees(repository, pins)
            return
        is_unable = isinstance(failed, GitStopped) or ErrorKind.UNADVERTISED in failed.kinds
        if not is_unable or ErrorKind.OBJECT_MISSING in failed.kinds:
            raise translate_error(failed, repository.url) from failed
        commits = ", ".join(sorted({short_commit(pin.commit) for pin in pins.values()}))
        reporter.warn(
            f"{repository.url} cannot prove that the locked files are those of {commits}: its server supports no "
            "filters; they match the tree and the digest in skills.lock"
        )
