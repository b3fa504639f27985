"""Prove that locked trees are those of their commits, at the cost of a commit and the trees above the folders.

Two requests of a few kB, made beside the fetch of the content.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import EDITED_LOCK_HINT, DigestMismatch, OfflineError
from skillpm.events import Reporter
from skillpm.fetchers.git.error_table import ErrorKind
from skillpm.fetchers.git.errors import GitFailed, translate_error
from skillpm.fetchers.git.repository import MAX_COMMIT_SIZE, Repository
from skillpm.fetchers.git.tree_walk import TreeTooLarge, find_folder_id
from skillpm.formats.pin import GitPin

NO_FILTER = "filtering not recognized by server"


@contextmanager
def prove_trees(
    repository: Repository, pins: Mapping[SkillName, GitPin], reporter: Reporter
) -> Iterator[Callable[[], None]]:
    """Prove the trees of these pins when the body, which fetches their content, is done.

    Yields a function that waits for the fetch of the proof, if there is one.

    Raises `DigestMismatch` for a tree that is not that of its commit, and `NotFoundError` if the server does not have a
    commit. A server that cannot send commits without contents proves nothing, which is reported.
    """
    unproved = [pin for pin in pins.values() if read_tree_id(repository, pin.commit, pin.path) is None]
    if unproved and repository.context.settings.offline:
        raise OfflineError([f"{repository.url} at {short_commit(pin.commit)}" for pin in unproved])
    if not unproved:
        yield lambda: None
        check_trees(repository, pins)
        return
    with ThreadPoolExecutor(1) as pool, closing(repository.open_again()) as second:
        fetch = pool.submit(_fetch_trees_above, second, unproved)
        yield lambda: _wait(fetch)
        _finish(repository, fetch, unproved, reporter)
    repository.close()  # the reader does not see what was fetched since it started
    check_trees(repository, pins)


def check_trees(repository: Repository, pins: Mapping[SkillName, GitPin]) -> None:
    """Raise `DigestMismatch` if the cache shows that a commit has another tree, or no such folder.

    Uses no network. A commit never changes, so the lockfile must have been edited.
    """
    for name, pin in pins.items():
        actual = read_tree_id(repository, pin.commit, pin.path)
        if actual not in {None, pin.tree}:
            folder = "" if pin.path == "." else f", {sanitize(pin.path)}"
            raise DigestMismatch(
                name,
                locked=f"tree {short_commit(pin.tree)}",
                actual=f"tree {short_commit(actual)}" if actual else "no such folder",
                origin=f"{repository.url} at {short_commit(pin.commit)}{folder}",
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


def _fetch_trees_above(repository: Repository, pins: Sequence[GitPin]) -> None:
    depth = max(0 if pin.path == "." else pin.path.count("/") + 1 for pin in pins)
    commits = sorted({pin.commit for pin in pins})
    # Trees deeper than the folders, and all blobs, are left out: 2.6 kB instead of 73 MB for a large repository.
    repository.fetch(["--depth=1", f"--filter=combine:tree:{depth}+blob:none"], ids=commits, stop_on=NO_FILTER)


def _wait(fetch: "Future[None]") -> None:
    fetch.exception()


def _finish(repository: Repository, fetch: "Future[None]", pins: Sequence[GitPin], reporter: Reporter) -> None:
    try:
        fetch.result()
    except GitFailed as failed:
        repository.close()
        # The content may have needed the commits, too.
        if all(read_tree_id(repository, pin.commit, pin.path) is not None for pin in pins):
            return
        is_unable = NO_FILTER in failed.stderr or ErrorKind.UNADVERTISED in failed.kinds
        if not is_unable:
            raise translate_error(failed, repository.url) from failed
        commits = ", ".join(sorted({short_commit(pin.commit) for pin in pins}))
        reporter.warn(
            f"{repository.url} cannot prove that the locked files are those of {commits}: its server supports no "
            "filters; they match the tree and the digest in skills.lock"
        )
