"""From what the cache has to what is needed: the cheapest way first, the next best where a server cannot.

    the exact trees by id          a few kB, whatever the size of the repository (protocol v2)
    the commit, without contents   then exactly the files needed, in one batch
    the branch or tag it was on    whole, at depth 1
    everything                     when the commit lies deeper, or nothing else is offered

Before and after each the cache is asked what it lacks, and that question never reaches for the network: a partial
clone would otherwise answer a fetch with success and bring nothing (docs/adr/0003-git.md).
"""

from collections.abc import Mapping, Sequence

from skillpm.core.file_tree import Limits
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, OfflineError, RefusedError, SkillpmError
from skillpm.fetchers.git.errors import translate_error
from skillpm.fetchers.git.locked_tree import check_locked_tree
from skillpm.fetchers.git.objects import GITLINK
from skillpm.fetchers.git.process import GitFailed
from skillpm.fetchers.git.repository import Repository, cached_ref
from skillpm.fetchers.git.stderr_patterns import is_object_missing, is_refusal
from skillpm.fetchers.git.tree_walk import MAX_DEPTH, TreeEntry, TreeTooLarge, walk_tree


class WantedFolder(Value):
    """A folder needed whole: whose it is, its tree id, and the commit and ref it may be found by.

    `path` is where the commit should have it, for one that a lockfile speaks of.
    """

    name: str
    tree: str
    commit: str
    ref: str
    path: str = ""


class CacheState(Value):
    """What the cache has of the trees asked for, and what it lacks."""

    entries: Mapping[str, Sequence[TreeEntry]]
    missing_trees: tuple[str, ...]
    missing_blobs: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Tell whether nothing is missing."""
        return not (self.missing_trees or self.missing_blobs)


def read_cache_state(repository: Repository, folders: Sequence[WantedFolder], limits: Limits) -> CacheState:
    """See what the cache has of these trees, without any network. A submodule's commit is never looked for.

    Raises `RefusedError` for one that is too big to be installed: nobody need fetch or read it.
    """
    leaves: dict[str, list[TreeEntry]] = {}
    lacking_trees: list[str] = []
    for want in folders:
        try:
            walked = walk_tree(repository.reader, want.tree, limits.files)
        except TreeTooLarge:
            raise _too_large_error(want, f"more than {limits.files} files", "FILES") from None
        if walked.is_truncated:
            raise RefusedError(f"skill {sanitize(want.name)}: it has folders deeper than {MAX_DEPTH} folders")
        leaves[want.tree] = walked.entries
        lacking_trees.extend([want.tree] if walked.missing_trees else [])
    sizes = repository.reader.read_sizes(leaf.id for found in leaves.values() for leaf in found if leaf.mode != GITLINK)
    for want in folders:
        _check_sizes(want, leaves[want.tree], sizes, limits)
    return CacheState(
        entries=leaves,
        missing_trees=tuple(dict.fromkeys(lacking_trees)),
        missing_blobs=tuple(oid for oid, size in sizes.items() if size is None),
    )


def fetch_missing(repository: Repository, folders: Sequence[WantedFolder], limits: Limits) -> CacheState:
    """Have all these folders in the cache, by the cheapest way that works.

    Raises `OfflineError`, `NotFoundError` when a commit is on the server no longer, `DigestMismatch` where it has
    another tree than the one wanted of it, or what git said.
    """
    have = read_cache_state(repository, folders, limits)
    if have.is_complete:
        return have
    _check_trees(repository, folders, have)
    if repository.context.settings.offline:
        raise OfflineError(
            sorted({f"{repository.url} at {want.commit[:12]}" for want in _incomplete_folders(folders, have)})
        )
    refused: GitFailed | None = None
    for way in (_fetch_by_id, _fetch_by_commit, _fetch_by_ref, _fetch_everything):
        try:
            way(repository, folders, have)
        except GitFailed as failed:
            if not is_refusal(failed):
                raise translate_error(failed, repository.url) from failed
            refused = failed
            if way is _fetch_by_commit and is_object_missing(failed):
                break
        have = read_cache_state(repository, folders, limits)
        if have.is_complete:
            return have
        _check_trees(repository, folders, have)
    raise _missing_commit_error(repository, folders, have) from refused


def _fetch_by_id(repository: Repository, _: Sequence[WantedFolder], state: CacheState) -> None:
    """Exactly what is missing. A tree must come whole, so the cache's own filter is switched off for it."""
    if state.missing_trees:
        repository.fetch(["--no-filter", "--refetch"], ids=[*state.missing_trees, *state.missing_blobs])
    else:
        repository.fetch(["--filter=blob:none"], ids=state.missing_blobs)


def _fetch_by_commit(repository: Repository, folders: Sequence[WantedFolder], state: CacheState) -> None:
    """The commits, shallow and without contents; then what is still missing."""
    commits = sorted({want.commit for want in folders if want.tree in state.missing_trees})
    if commits:
        repository.fetch(["--depth=1", "--filter=blob:none"], commits)
        state = read_cache_state(repository, folders, repository.context.settings.limits)
        if not state.missing_trees and state.missing_blobs:
            repository.fetch(["--filter=blob:none"], ids=state.missing_blobs)


def _fetch_by_ref(repository: Repository, folders: Sequence[WantedFolder], _: CacheState) -> None:
    """The refs the commits were found by, whole, at depth 1: the most that an old server gives in one piece."""
    refs = sorted({want.ref or "HEAD" for want in folders})
    repository.fetch(["--depth=1", "--no-filter", "--refetch"], [f"+{ref}:{cached_ref(ref)}" for ref in refs])


def _fetch_everything(repository: Repository, _: Sequence[WantedFolder], __: CacheState) -> None:
    """All branches and tags with all their history."""
    repository.fetch_all()


def _incomplete_folders(folders: Sequence[WantedFolder], state: CacheState) -> Sequence[WantedFolder]:
    blobs = {*state.missing_blobs}
    return [
        want
        for want in folders
        if want.tree in state.missing_trees or any(leaf.id in blobs for leaf in state.entries[want.tree])
    ]


def _check_trees(repository: Repository, folders: Sequence[WantedFolder], state: CacheState) -> None:
    """Refuse a tree that is not there since it never was what its commit has: no way would bring it."""
    for want in folders:
        if want.path and want.tree in state.missing_trees:
            check_locked_tree(repository, want.name, want.commit, want.path, want.tree)


def _missing_commit_error(repository: Repository, folders: Sequence[WantedFolder], state: CacheState) -> SkillpmError:
    commits = sorted({want.commit[:12] for want in _incomplete_folders(folders, state)})
    return NotFoundError(
        f"{repository.url} no longer has the locked commit {', '.join(commits)}, and neither has the cache",
        hint="lock what is there now with `skillpm update`, or sync on a machine whose cache still has it",
    )


def _check_sizes(
    folder: WantedFolder, entries: Sequence[TreeEntry], sizes: Mapping[str, int | None], limits: Limits
) -> None:
    total = 0
    for leaf in entries:
        size = sizes.get(leaf.id) or 0
        total += size
        if size > limits.file:
            raise _too_large_error(folder, f"'{sanitize(leaf.path)}' is over {limits.file} bytes", "FILE")
    if total > limits.skill:
        raise _too_large_error(folder, f"all files together are over {limits.skill} bytes", "SKILL")


def _too_large_error(folder: WantedFolder, what: str, setting: str) -> RefusedError:
    return RefusedError(f"skill {sanitize(folder.name)}: {what}", hint=f"if you trust it, raise SKILLPM_MAX_{setting}")
