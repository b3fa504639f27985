"""Is the tree that a lockfile names the one that its commit has? Asked only of what cannot be found, to say why."""

from skillpm.core.git_syntax import short_commit
from skillpm.core.text import sanitize
from skillpm.errors import CHECK_LOCK_HINT, DigestMismatch
from skillpm.fetchers.git.repository import MAX_COMMIT_SIZE, Repository
from skillpm.fetchers.git.tree_walk import TreeTooLarge, find_folder_id


def check_locked_tree(repository: Repository, name: str, commit: str, path: str, tree: str) -> None:
    """Raise `DigestMismatch` where the cache knows the commit, and it has another tree in this folder, or none.

    Nobody is asked. A commit never changes, so it is the lockfile that did.
    """
    found = _read_tree_id(repository, commit, path)
    if found in {None, tree}:
        return
    wrong = DigestMismatch(
        name,
        locked=f"tree {short_commit(tree)}",
        actual=f"tree {short_commit(found)}" if found else "no such folder",
        origin=f"{repository.url} at {short_commit(commit)}{'' if path == '.' else f', {sanitize(path)}'}",
        key="source.tree",
    )
    wrong.hint = f"{CHECK_LOCK_HINT}, or lock it anew with `skillpm update {name}`"
    raise wrong


def _read_tree_id(repository: Repository, commit: str, path: str) -> str | None:
    """Give a folder's tree id in a commit; empty where there is no such folder, None where the cache cannot tell."""
    reader = repository.reader
    found = reader.read([commit], max_size=MAX_COMMIT_SIZE)[commit]
    if found is None or found.kind != "commit":
        return None
    tree = found.data[5 : found.data.index(b"\n")].decode()
    for part in path.split("/") if path != "." else ():
        if reader.read_sizes([tree])[tree] is None:
            return None
        try:
            below = find_folder_id(reader, tree, part)
        except TreeTooLarge:
            return None
        if below is None:
            return ""
        tree = below
    return tree
