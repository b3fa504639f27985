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
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, OfflineError, RefusedError, SkillpmError
from skillpm.fetchers.git.errors import translated
from skillpm.fetchers.git.locked_tree import check_tree
from skillpm.fetchers.git.objects import GITLINK
from skillpm.fetchers.git.process import GitFailed
from skillpm.fetchers.git.repository import Repository, kept
from skillpm.fetchers.git.stderr_patterns import is_gone, is_refusal
from skillpm.fetchers.git.tree_walk import DEEPEST_WALK, Leaf, TooMuch, walk


class Wanted(Value):
    """A folder needed whole: whose it is, its tree id, and the commit and ref it may be found by.

    `path` is where the commit should have it, for one that a lockfile speaks of.
    """

    name: str
    tree: str
    commit: str
    ref: str
    path: str = ""


class AtHand(Value):
    """What the cache has of the trees asked for, and what it lacks."""

    leaves: Mapping[str, Sequence[Leaf]]
    lacking_trees: tuple[str, ...]
    lacking_blobs: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Tell whether nothing is missing."""
        return not (self.lacking_trees or self.lacking_blobs)


def look(repository: Repository, wanted: Sequence[Wanted], limits: Limits) -> AtHand:
    """See what the cache has of these trees, without any network. A submodule's commit is never looked for.

    Raises `RefusedError` for one that is too big to be installed: nobody need fetch or read it.
    """
    leaves: dict[str, list[Leaf]] = {}
    lacking_trees: list[str] = []
    for want in wanted:
        try:
            walked = walk(repository.reader, want.tree, limits.files)
        except TooMuch:
            raise _too_big(want, f"more than {limits.files} files", "FILES") from None
        if walked.cut:
            raise RefusedError(f"skill {show(want.name)}: it has folders deeper than {DEEPEST_WALK} folders")
        leaves[want.tree] = walked.leaves
        lacking_trees.extend([want.tree] if walked.lacking else [])
    sizes = repository.reader.sizes(leaf.id for found in leaves.values() for leaf in found if leaf.mode != GITLINK)
    for want in wanted:
        _check_sizes(want, leaves[want.tree], sizes, limits)
    return AtHand(
        leaves=leaves,
        lacking_trees=tuple(dict.fromkeys(lacking_trees)),
        lacking_blobs=tuple(oid for oid, size in sizes.items() if size is None),
    )


def bring(repository: Repository, wanted: Sequence[Wanted], limits: Limits) -> AtHand:
    """Have all these folders in the cache, by the cheapest way that works.

    Raises `OfflineError`, `NotFoundError` when a commit is on the server no longer, `DigestMismatch` where it has
    another tree than the one wanted of it, or what git said.
    """
    have = look(repository, wanted, limits)
    if have.complete:
        return have
    _check_trees(repository, wanted, have)
    if repository.around.settings.offline:
        raise OfflineError(sorted({f"{repository.url} at {want.commit[:12]}" for want in _lacking(wanted, have)}))
    refused: GitFailed | None = None
    for way in (_by_id, _by_commit, _by_ref, _everything):
        try:
            way(repository, wanted, have)
        except GitFailed as failed:
            if not is_refusal(failed):
                raise translated(failed, repository.url) from failed
            refused = failed
            if way is _by_commit and is_gone(failed):
                break
        have = look(repository, wanted, limits)
        if have.complete:
            return have
        _check_trees(repository, wanted, have)
    raise _gone(repository, wanted, have) from refused


def _by_id(repository: Repository, _: Sequence[Wanted], have: AtHand) -> None:
    """Exactly what is missing. A tree must come whole, so the cache's own filter is switched off for it."""
    if have.lacking_trees:
        repository.fetch(["--no-filter", "--refetch"], ids=[*have.lacking_trees, *have.lacking_blobs])
    else:
        repository.fetch(["--filter=blob:none"], ids=have.lacking_blobs)


def _by_commit(repository: Repository, wanted: Sequence[Wanted], have: AtHand) -> None:
    """The commits, shallow and without contents; then what is still missing."""
    commits = sorted({want.commit for want in wanted if want.tree in have.lacking_trees})
    if commits:
        repository.fetch(["--depth=1", "--filter=blob:none"], commits)
        have = look(repository, wanted, repository.around.settings.limits)
        if not have.lacking_trees and have.lacking_blobs:
            repository.fetch(["--filter=blob:none"], ids=have.lacking_blobs)


def _by_ref(repository: Repository, wanted: Sequence[Wanted], _: AtHand) -> None:
    """The refs the commits were found by, whole, at depth 1: the most that an old server gives in one piece."""
    refs = sorted({want.ref or "HEAD" for want in wanted})
    repository.fetch(["--depth=1", "--no-filter", "--refetch"], [f"+{ref}:{kept(ref)}" for ref in refs])


def _everything(repository: Repository, _: Sequence[Wanted], __: AtHand) -> None:
    """All branches and tags with all their history."""
    repository.fetch_all()


def _lacking(wanted: Sequence[Wanted], have: AtHand) -> Sequence[Wanted]:
    blobs = {*have.lacking_blobs}
    return [
        want
        for want in wanted
        if want.tree in have.lacking_trees or any(leaf.id in blobs for leaf in have.leaves[want.tree])
    ]


def _check_trees(repository: Repository, wanted: Sequence[Wanted], have: AtHand) -> None:
    """Refuse a tree that is not there since it never was what its commit has: no way would bring it."""
    for want in wanted:
        if want.path and want.tree in have.lacking_trees:
            check_tree(repository, want.name, want.commit, want.path, want.tree)


def _gone(repository: Repository, wanted: Sequence[Wanted], have: AtHand) -> SkillpmError:
    commits = sorted({want.commit[:12] for want in _lacking(wanted, have)})
    return NotFoundError(
        f"{repository.url} no longer has the locked commit {', '.join(commits)}, and neither has the cache",
        hint="lock what is there now with `skillpm update`, or sync on a machine whose cache still has it",
    )


def _check_sizes(want: Wanted, leaves: Sequence[Leaf], sizes: Mapping[str, int | None], limits: Limits) -> None:
    total = 0
    for leaf in leaves:
        size = sizes.get(leaf.id) or 0
        total += size
        if size > limits.file:
            raise _too_big(want, f"'{show(leaf.path)}' is over {limits.file} bytes", "FILE")
    if total > limits.skill:
        raise _too_big(want, f"all files together are over {limits.skill} bytes", "SKILL")


def _too_big(want: Wanted, what: str, setting: str) -> RefusedError:
    return RefusedError(f"skill {show(want.name)}: {what}", hint=f"if you trust it, raise SKILLPM_MAX_{setting}")
