"""Fetch the missing objects of folders: the cheapest strategy first, the next one if the server refuses it.

    the exact trees by id          a few kB, whatever the size of the repository (protocol v2)
    the commit, without contents   then exactly the missing files, in one batch
    the branch or tag it was on    complete, at depth 1
    everything                     if the commit is deeper in the history, or the server serves nothing else

Before and after each fetch, the cache itself is searched for what is missing, without the network: a fetch into a
partial clone can succeed and bring nothing (ADR 3).
"""

from collections.abc import Iterator, Mapping, Sequence

from skillpm.core.limits import Limits
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, OfflineError, RefusedError, SkillpmError
from skillpm.fetchers.common.base import too_large_error
from skillpm.fetchers.git.program.error_table import ErrorKind
from skillpm.fetchers.git.program.errors import GitFailed, translate_error
from skillpm.fetchers.git.program.objects import GITLINK
from skillpm.fetchers.git.repository import Repository, cached_ref
from skillpm.fetchers.git.tree_proof import check_trees
from skillpm.fetchers.git.tree_walk import MAX_DEPTH, MAX_ENTRIES, TreeEntry, TreeTooLarge, walk_tree
from skillpm.kinds.git import FOLDER_MODE, GitPin

FolderKey = tuple[str, tuple[str, ...]]


class WantedFolder(Value):
    """A folder to fetch: the skill's name, its tree id, and the commit and ref to find it by.

    `files` are patterns that choose some of its files. `pin` is set for a locked skill, whose commit should have this
    tree.
    """

    name: str
    tree: str
    commit: str
    ref: str
    files: tuple[str, ...] = ()
    # What links of the folder lead to, as in a pin.
    links: tuple[tuple[str, str], ...] = ()
    pin: GitPin | None = None

    @property
    def trees(self) -> tuple[str, ...]:
        """The ids of the folder and of all folders that its links lead to."""
        targets = (target.split() for _, target in self.links)
        return self.tree, *(oid for mode, oid in targets if mode == FOLDER_MODE)

    @property
    def key(self) -> FolderKey:
        """What decides which entries are chosen: the tree and the patterns."""
        return self.tree, self.files


def wanted_folders(pins: Mapping[SkillName, GitPin], *, is_locked: bool = False) -> list[WantedFolder]:
    """Return the folders of pins, with what their links lead to."""
    return [
        WantedFolder(
            name=name,
            tree=pin.tree,
            commit=pin.commit,
            ref=pin.ref,
            files=pin.files,
            links=pin.links,
            pin=pin if is_locked else None,
        )
        for name, pin in pins.items()
    ]


class CacheState(Value):
    """The chosen entries of each folder in the cache, by its key, those of targets of links, and what is missing."""

    entries: Mapping[FolderKey, Sequence[TreeEntry]]
    # By mode and id; a file has an empty path.
    targets: Mapping[str, Sequence[TreeEntry]]
    missing_trees: tuple[str, ...]
    missing_blobs: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Return whether nothing is missing."""
        return not (self.missing_trees or self.missing_blobs)


def read_cache_state(repository: Repository, folders: Sequence[WantedFolder], limits: Limits) -> CacheState:
    """Return which objects of these folders are cached, without the network. Commits of submodules are not needed.

    Raises `RefusedError` for a skill that exceeds a limit, before any more of it is fetched or read.
    """
    entries: dict[FolderKey, list[TreeEntry]] = {}
    targets: dict[str, list[TreeEntry]] = {}
    missing_trees: list[str] = []
    for want in folders:
        walked, missing = _walk(repository, want, want.tree, MAX_ENTRIES if want.files else limits.files, limits)
        if want.files:
            from skillpm.fetchers.common.file_patterns import select_files  # noqa: PLC0415  (few have patterns)

            walked = [*select_files(walked, want.files, want.name)]
        entries[want.key] = walked
        missing_trees.extend(missing)
        count = len(entries[want.key])
        for _, target in want.links:
            mode, oid = target.split()
            if mode == FOLDER_MODE:
                targets[target], missing = _walk(repository, want, oid, limits.files, limits)
                missing_trees.extend(missing)
            else:
                targets[target] = [TreeEntry("", int(mode, 8), oid)]
            count += len(targets[target])
            if count > limits.files:
                break
        if count > limits.files:
            raise too_large_error(want.name, f"more than {limits.files} files", "FILES")
    sizes = repository.reader.read_sizes(
        entry.id for listed in (*entries.values(), *targets.values()) for entry in listed if entry.mode != GITLINK
    )
    for want in folders:
        linked = (entry for target in {target for _, target in want.links} for entry in targets[target])
        _check_sizes(want, [*entries[want.key], *linked], sizes, limits)
    return CacheState(
        entries=entries,
        targets=targets,
        missing_trees=tuple(dict.fromkeys(missing_trees)),
        missing_blobs=tuple(oid for oid, size in sizes.items() if size is None),
    )


def _walk(
    repository: Repository, want: WantedFolder, tree: str, max_entries: int, limits: Limits
) -> tuple[list[TreeEntry], list[str]]:
    """Return the entries of a folder of a skill; and its id, if any of its trees is not cached.

    One missing tree anywhere: the whole folder is fetched, since what is below the gap is unknown.
    """
    try:
        walked = walk_tree(repository.reader, tree, max_entries)
    except TreeTooLarge:
        raise too_large_error(want.name, f"more than {limits.files} files", "FILES") from None
    if walked.is_truncated:
        raise RefusedError(
            f"skill {sanitize(want.name)}: a path is nested deeper than {MAX_DEPTH} folders", skills=[want.name]
        )
    return walked.entries, [tree] if walked.missing_trees else []


def fetch_missing(repository: Repository, folders: Sequence[WantedFolder], limits: Limits) -> CacheState:
    """Fetch what the cache lacks of these folders, by the cheapest strategy that works, and return what it has then.

    Raises `OfflineError`, `NotFoundError` if the server no longer has a commit, `DigestMismatch` if a commit has
    another tree than the locked one, and the translated errors of git.
    """
    state = read_cache_state(repository, folders, limits)
    if state.is_complete:
        return state
    _check_trees(repository, folders, state)
    if repository.context.settings.offline:
        raise OfflineError(
            sorted({f"{repository.url} at {want.commit[:12]}" for want in _incomplete_folders(folders, state)})
        )
    refused: GitFailed | None = None
    for fetch in (_fetch_by_id, _fetch_by_commit, _fetch_by_ref, _fetch_everything):
        if fetch is _fetch_by_id and state.missing_trees and any(want.files for want in folders):
            continue  # which would fetch all files; the next one fetches the trees first
        try:
            fetch(repository, folders, state)
        except GitFailed as failed:
            if ErrorKind.REFUSED not in failed.kinds:
                raise translate_error(failed, repository.url) from failed
            refused = failed
            # Servers may refuse any tree id as "not our ref", but a commit only if they do not have it.
            if fetch is _fetch_by_commit and ErrorKind.OBJECT_MISSING in failed.kinds:
                break
        # Also after a refusal: of a strategy's two fetches, the first may have succeeded.
        state = read_cache_state(repository, folders, limits)
        if state.is_complete:
            return state
        _check_trees(repository, folders, state)
    raise _missing_commit_error(repository, folders, state) from refused


def _fetch_by_id(repository: Repository, _: Sequence[WantedFolder], state: CacheState) -> None:
    """Fetch exactly the missing objects."""
    if state.missing_trees:
        repository.fetch_ids([*state.missing_trees, *state.missing_blobs])
    else:
        repository.fetch_blobs(state.missing_blobs)


def _fetch_by_commit(repository: Repository, folders: Sequence[WantedFolder], state: CacheState) -> None:
    """Fetch the commits, shallow and without file contents; then the files that are still missing."""
    missing = {*state.missing_trees}
    commits = sorted({want.commit for want in folders if not missing.isdisjoint(want.trees)})
    if commits:
        repository.fetch_ids(commits, depth=1, object_filter="blob:none")
        state = read_cache_state(repository, folders, repository.context.settings.limits)
        if not state.missing_trees and state.missing_blobs:
            repository.fetch_blobs(state.missing_blobs)


def _fetch_by_ref(repository: Repository, folders: Sequence[WantedFolder], _: CacheState) -> None:
    """Fetch the refs of the commits completely, at depth 1: even an old server can send that."""
    refs = sorted({want.ref or "HEAD" for want in folders})
    repository.fetch(["--depth=1", "--no-filter", "--refetch"], [f"+{ref}:{cached_ref(ref)}" for ref in refs])


def _fetch_everything(repository: Repository, _: Sequence[WantedFolder], __: CacheState) -> None:
    """Fetch all branches and tags with their complete history."""
    repository.fetch_all()


def _incomplete_folders(folders: Sequence[WantedFolder], state: CacheState) -> Sequence[WantedFolder]:
    trees, blobs = {*state.missing_trees}, {*state.missing_blobs}
    return [
        want
        for want in folders
        if not trees.isdisjoint(want.trees) or any(entry.id in blobs for entry in _entries_of(want, state))
    ]


def _entries_of(want: WantedFolder, state: CacheState) -> Iterator[TreeEntry]:
    yield from state.entries[want.key]
    for _, target in want.links:
        yield from state.targets[target]


def _check_trees(repository: Repository, folders: Sequence[WantedFolder], state: CacheState) -> None:
    """Raise `DigestMismatch` if a missing tree is not the one of its commit: no strategy could fetch it."""
    missing = {*state.missing_trees}
    pins = {SkillName(want.name): want.pin for want in folders if not missing.isdisjoint(want.trees)}
    check_trees(repository, {name: pin for name, pin in pins.items() if pin is not None})


def _missing_commit_error(repository: Repository, folders: Sequence[WantedFolder], state: CacheState) -> SkillpmError:
    incomplete = _incomplete_folders(folders, state)
    commits = sorted({want.commit[:12] for want in incomplete})
    names = sorted({want.name for want in incomplete})
    update = f"skillpm update{repository.context.settings.scope_flag} {' '.join(names)}"
    return NotFoundError(
        f"{repository.url} no longer has the locked commit {', '.join(commits)}, and it is not cached",
        hint=f"lock the current commit with `{update}`, or sync on a machine that still has it cached",
        skills=names,
    )


def _check_sizes(
    folder: WantedFolder, entries: Sequence[TreeEntry], sizes: Mapping[str, int | None], limits: Limits
) -> None:
    total = 0
    for entry in entries:
        size = sizes.get(entry.id) or 0
        total += size
        if size > limits.file:
            raise too_large_error(folder.name, f"'{sanitize(entry.path)}' is over {limits.file} bytes", "FILE")
    if total > limits.skill:
        raise too_large_error(folder.name, f"all files together are over {limits.skill} bytes", "SKILL")
