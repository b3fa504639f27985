"""Check whether a locked tree is the tree of its locked commit; called for missing trees only, to explain them."""

from skillpm.core.git_syntax import short_commit
from skillpm.core.text import sanitize
from skillpm.errors import EDITED_LOCK_HINT, DigestMismatch
from skillpm.fetchers.git.repository import MAX_COMMIT_SIZE, Repository
from skillpm.fetchers.git.tree_walk import TreeTooLarge, find_folder_id


def check_locked_tree(repository: Repository, name: str, commit: str, path: str, tree: str) -> None:
    """Raise `DigestMismatch` if the cache has the commit, and its folder has another tree, or does not exist.

    Uses no network. A commit never changes, so the lockfile must have been edited.
    """
    actual = _read_tree_id(repository, commit, path)
    if actual in {None, tree}:
        return
    raise DigestMismatch(
        name,
        locked=f"tree {short_commit(tree)}",
        actual=f"tree {short_commit(actual)}" if actual else "no such folder",
        origin=f"{repository.url} at {short_commit(commit)}{'' if path == '.' else f', {sanitize(path)}'}",
        key="source.tree",
        advice=EDITED_LOCK_HINT,
    )


def _read_tree_id(repository: Repository, commit: str, path: str) -> str | None:
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
