"""From what the cache has to what is needed: the cheapest way first, the next best where a server cannot.

    the exact trees by id          a few kB, whatever the size of the repository (protocol v2)
    the commit, without contents   then exactly the files needed, in one batch
    the branch or tag it was on    whole, at depth 1
    everything                     when the commit lies deeper, or nothing else is offered

Before and after each the cache is asked what it lacks, and that question never reaches for the network: a partial
clone would otherwise answer a fetch with success and bring nothing (docs/adr/0003-git.md).
"""

from collections.abc import Callable, Mapping, Sequence

from skillpm.documents.text import show
from skillpm.documents.tree import Entry, Limits
from skillpm.errors import NotFoundError, OfflineError, SkillpmError
from skillpm.fetching.git.complaints import is_damage, is_refusal, translated
from skillpm.fetching.git.objects import EXECUTABLE, GITLINK, LINK, CacheDamaged, GitObject, Leaf, walk
from skillpm.fetching.git.process import GitFailed
from skillpm.fetching.git.repository import Repository, kept
from skillpm.values import Value


class Wanted(Value):
    """A folder needed whole: its tree id, and the commit and ref it may be found by."""

    tree: str
    commit: str
    ref: str


class AtHand(Value):
    """What the cache has of the trees asked for, and what it lacks."""

    leaves: Mapping[str, Sequence[Leaf]]
    blobs: Mapping[str, GitObject]
    lacking_trees: tuple[str, ...]
    lacking_blobs: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Tell whether nothing is missing."""
        return not (self.lacking_trees or self.lacking_blobs)


def look(repository: Repository, trees: Sequence[str], limits: Limits) -> AtHand:
    """See what the cache has of these trees, without any network."""
    leaves: dict[str, list[Leaf]] = {}
    lacking: list[str] = []
    for tree in trees:
        found_tree = walk(repository.reader, tree, limits.files)
        leaves[tree] = found_tree.leaves
        lacking.extend([tree] if found_tree.lacking else [])
    wanted = [leaf.id for tree in trees for leaf in leaves[tree] if leaf.mode != GITLINK]
    found = repository.reader.read(wanted, largest=limits.file)
    return AtHand(
        leaves=leaves,
        blobs={oid: blob for oid, blob in found.items() if blob is not None},
        lacking_trees=tuple(dict.fromkeys(lacking)),
        lacking_blobs=tuple(oid for oid, blob in found.items() if blob is None),
    )


def bring(repository: Repository, wanted: Sequence[Wanted], limits: Limits) -> AtHand:
    """Have all these folders in the cache, by the cheapest way that works.

    Raises `OfflineError`, `NotFoundError` when a commit is on the server no longer, or what git said.
    """
    trees = list(dict.fromkeys(want.tree for want in wanted))
    have = look(repository, trees, limits)
    if have.complete:
        return have
    if repository.around.settings.offline:
        lacking = {*have.lacking_trees} or {*trees}
        places = {f"{repository.url} at {want.commit[:12]}" for want in wanted if want.tree in lacking}
        raise OfflineError(sorted(places))
    refused: GitFailed | None = None
    for way in (_by_id, _by_commit, _by_ref, _everything):
        try:
            way(repository, wanted, have)
        except GitFailed as failed:
            if is_damage(failed):
                raise CacheDamaged(failed.said) from failed
            if not is_refusal(failed):
                raise translated(failed, repository.url) from failed
            refused = failed
        have = look(repository, trees, limits)
        if have.complete:
            return have
    raise _gone(repository, wanted, have) from refused


def entries_of(have: AtHand, tree: str, name: str, warn: Callable[[str], None]) -> list[Entry]:
    """Give a folder's files as entries for the gate. A submodule is left out with a warning."""
    entries = []
    for leaf in have.leaves[tree]:
        if leaf.mode == GITLINK:
            warn(f"{name}: `{show(leaf.path)}` is a submodule, which is not followed")
            continue
        kind = "link" if leaf.mode == LINK else "file"
        data = have.blobs[leaf.id].data
        entries.append(Entry(path=leaf.path, kind=kind, data=data, executable=leaf.mode == EXECUTABLE))  # type: ignore[arg-type]
    return entries


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
        have = look(repository, [want.tree for want in wanted], repository.around.settings.limits)
        if not have.lacking_trees and have.lacking_blobs:
            repository.fetch(["--filter=blob:none"], ids=have.lacking_blobs)


def _by_ref(repository: Repository, wanted: Sequence[Wanted], _: AtHand) -> None:
    """The refs the commits were found by, whole, at depth 1: the most that an old server gives in one piece."""
    refs = sorted({want.ref or "HEAD" for want in wanted})
    repository.fetch(["--depth=1", "--no-filter", "--refetch"], [f"+{ref}:{kept(ref)}" for ref in refs])


def _everything(repository: Repository, _: Sequence[Wanted], __: AtHand) -> None:
    """All branches and tags with all their history: the last resort."""
    refs = ["+refs/heads/*:refs/skillpm/all/heads/*", "+refs/tags/*:refs/skillpm/all/tags/*"]
    repository.fetch(["--depth=2147483647", "--no-filter", "--refetch"], refs)


def _gone(repository: Repository, wanted: Sequence[Wanted], have: AtHand) -> SkillpmError:
    lacking = {*have.lacking_trees} or {want.tree for want in wanted}
    commits = sorted({want.commit[:12] for want in wanted if want.tree in lacking})
    return NotFoundError(
        f"{repository.url} no longer has the locked commit {', '.join(commits)}, and neither has the cache",
        hint="lock what is there now with `skillpm update`, or sync on a machine whose cache still has it",
    )
