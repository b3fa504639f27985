"""Prove that locked trees are those of their commits, at the cost of a commit and the trees above the folders.

Two requests of a few kB, made beside the fetch of the content.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import EDITED_LOCK_HINT, DigestMismatch, OfflineError
from skillpm.events import Reporter
from skillpm.fetchers.git.error_table import ErrorKind
from skillpm.fetchers.git.errors import GitFailed, GitStopped, translate_error
from skillpm.fetchers.git.history import NO_FILTER, open_temporary
from skillpm.fetchers.git.objects import CacheDamaged
from skillpm.fetchers.git.repository import MAX_COMMIT_SIZE, Repository
from skillpm.fetchers.git.tree_walk import TreeTooLarge, find_folder_id
from skillpm.formats.pin import GitPin


@contextmanager
def prove_trees(repository: Repository, pins: Mapping[SkillName, GitPin], reporter: Reporter) -> Iterator[None]:
    """Prove the trees of these pins while the body fetches their content.

    Raises `DigestMismatch` for a tree that is not that of its commit, `NotFoundError` if the server does not have a
    commit, and `OfflineError`. A server that cannot send commits without contents proves nothing, which is reported.
    """
    check_trees(repository, pins)
    unproved = {name: pin for name, pin in pins.items() if read_tree_id(repository, pin.commit, pin.path) is None}
    if not unproved:
        yield
        return
    if repository.context.settings.offline:
        raise OfflineError([f"{repository.url} at {short_commit(pin.commit)}" for pin in unproved.values()])
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
) -> dict[SkillName, str | None]:
    """Return the trees that these commits really have at these paths, as `read_tree_id` does.

    `has_failed` is set if their content cannot be fetched: there is nothing to prove then.
    """
    depth = max(0 if pin.path == "." else pin.path.count("/") + 1 for pin in pins.values())
    commits = sorted({pin.commit for pin in pins.values()})
    if repository.has_one_connection:
        repository.content_arrived.wait()  # the content is needed first, and is then written while the proof arrives
        if has_failed.is_set():  # a server that was silent three times would be asked three times more
            return {}
    # Trees deeper than the folders, and all blobs, are left out: 2.6 kB instead of 73 MB for a large repository.
    object_filter = f"combine:tree:{depth}+blob:none"
    for is_last in (False, True):
        with open_temporary(repository) as temporary:
            try:
                temporary.fetch_ids(commits, depth=1, object_filter=object_filter, stop_on=NO_FILTER)
                return {name: read_tree_id(temporary, pin.commit, pin.path) for name, pin in pins.items()}
            except CacheDamaged:
                if is_last:
                    raise
    raise AssertionError


def check_trees(repository: Repository, pins: Mapping[SkillName, GitPin]) -> None:
    """Raise `DigestMismatch` if the cache shows that a commit has another tree, or no such folder. No network."""
    _compare(repository.url, pins, {name: read_tree_id(repository, pin.commit, pin.path) for name, pin in pins.items()})


def _compare(url: str, pins: Mapping[SkillName, GitPin], tree_ids: Mapping[SkillName, str | None]) -> None:
    for name, pin in pins.items():
        actual = tree_ids[name]
        if actual not in {None, pin.tree}:
            folder = "" if pin.path == "." else f", {sanitize(pin.path)}"
            # A commit never changes, so the lockfile must have been edited.
            raise DigestMismatch(
                name,
                locked=f"tree {short_commit(pin.tree)}",
                actual=f"tree {short_commit(actual)}" if actual else "no such folder",
                origin=f"{url} at {short_commit(pin.commit)}{folder}",
                key="source.tree",
                advice=EDITED_LOCK_HINT,
            )


def read_tree_id(repository: Repository, commit: str, path: str) -> str | None:
    """Return a folder's tree id in a commit; empty if the folder does not exist, None if objects are not cached."""
    reader = repository.reader
    item = reader.read([commit], max_size=MAX_COMMIT_SIZE)[commit]
    if item is None or item.kind != "commit":
        return None
    tree = item.data[5 : item.data.index(b"\n")].decode()
    for part in path.split("/") if path != "." else ():
        if reader.read_sizes([tree])[tree] is None:
            return None
        try:
            child = find_folder_id(reader, tree, part)
        except TreeTooLarge:
            return None
        if child is None:
            return ""
        tree = child
    return tree


def _finish(
    repository: Repository,
    fetch: "Future[dict[SkillName, str | None]]",
    pins: Mapping[SkillName, GitPin],
    reporter: Reporter,
) -> None:
    try:
        _compare(repository.url, pins, fetch.result())
    except GitFailed as failed:
        # A server that sends its whole history for the content has sent the commits, too.
        if all(read_tree_id(repository, pin.commit, pin.path) is not None for pin in pins.values()):
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
