"""Pin imported skills to the commit that the other tool recorded, or to the commit with the recorded content."""

from collections.abc import Callable, Mapping, Sequence

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import BusyError, OfflineError, SkillpmError
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.fetchers.verified_content import fetch_content
from skillpm.foreign_formats.base import ImportedSkill, SkippedSkill
from skillpm.foreign_formats.content_hashes import HashedFile, git_tree_id, vercel_hash
from skillpm.formats.lockfile import LockedSkill
from skillpm.kinds.base import RefKind, Source
from skillpm.kinds.git import GitPin, GitSource


class PinnedImport(Value):
    """A pinned skill: its requirement for the manifest and its entry for the lockfile."""

    name: SkillName
    source: Source
    locked: LockedSkill
    notes: tuple[str, ...] = ()  # about what the other tool did not record


class PinContext(Value):
    """The fetchers, and a function that reads the installed files of a skill from each folder of a host."""

    fetchers: FetcherDispatcher
    find_installed_files: Callable[[SkillName], Sequence[Sequence[HashedFile]]]


def pin_imports(
    skills: Sequence[ImportedSkill], pin_context: PinContext
) -> tuple[list[PinnedImport], list[SkippedSkill]]:
    """Pin each skill; one that cannot be fetched is skipped with the reason.

    Raises `OfflineError` if a source is not in the cache and the network is off.
    """
    pin_context.fetchers.name_sources(item.source for item in skills)
    current = _fetch_current({item.name: item.source for item in skills}, pin_context.fetchers)
    pinned: list[PinnedImport] = []
    skipped: list[SkippedSkill] = []
    for item in skills:
        try:
            pinned.append(_pin_import(item, current[item.name], pin_context))
        except (OfflineError, BusyError):
            raise
        except SkillpmError as error:
            skipped.append(SkippedSkill(name=item.name, reason=error.message, where=item.where))
    return pinned, skipped


def _fetch_current(
    sources: Mapping[SkillName, Source], fetchers: FetcherDispatcher
) -> dict[SkillName, FetchedSkill | SkillpmError]:
    """Fetch the current state of all sources at once; if that fails, one by one, to attribute errors to skills."""
    try:
        return dict(fetchers.pin(sources)) if sources else {}
    except (OfflineError, BusyError):
        raise
    except SkillpmError as error:
        if len(sources) == 1:
            return {name: error for name in sources}  # noqa: C420  (for the type checker)
        return {name: _fetch_current({name: source}, fetchers)[name] for name, source in sources.items()}


def _pin_import(item: ImportedSkill, current: FetchedSkill | SkillpmError, pin_context: PinContext) -> PinnedImport:
    source = item.source
    if isinstance(current, SkillpmError):
        if not isinstance(source, GitSource) or not item.commit:
            raise current
        # The branch or the folder may be gone by now; the recorded commit may still exist.
        old = _fetch_commit(item, source, item.commit, pin_context)
        note = f"its branch or folder is gone ({current.message}); pinned to the recorded commit"
        return _make_pinned(item, _make_requirement(source, old, "rev"), old, note)
    pin = current.pin
    if not isinstance(source, GitSource) or not isinstance(pin, GitPin):
        return _make_pinned(item, source, current)
    requirement = _make_requirement(source, current, "")
    if item.commit == pin.commit or (not item.commit and _matches_hash(item, current, pin_context)):
        return _make_pinned(item, requirement, current)
    commit, note = item.commit, ""
    if not commit:
        commit, note = _find_commit_by_content(item, requirement, pin, pin_context)
    if not commit:
        return _make_pinned(item, requirement, current, note)
    old = _fetch_commit(item, requirement, commit, pin_context)
    old = old.replace(pin=old.pin.replace(ref="" if source.kind == "rev" else pin.ref))
    return _make_pinned(item, requirement, old)


def _make_pinned(item: ImportedSkill, source: Source, skill: FetchedSkill, note: str = "") -> PinnedImport:
    notes = (*item.notes, note) if note else item.notes
    return PinnedImport(name=item.name, source=source, locked=_make_locked_skill(skill), notes=notes)


def _fetch_commit(item: ImportedSkill, source: GitSource, commit: str, pin_context: PinContext) -> FetchedSkill:
    return pin_context.fetchers.pin({item.name: source.replace(kind="rev", ref=commit)})[item.name]


def _make_requirement(source: GitSource, skill: FetchedSkill, kind: RefKind) -> GitSource:
    """Return the requirement for the folder found, with `tag` or `branch` spelled out for a ref of any kind."""
    pin = skill.pin
    if not isinstance(pin, GitPin):
        return source
    source = source.replace(path=pin.path, skill="")
    if kind == "rev":
        return source.replace(kind="rev", ref=pin.commit)
    for spelled, prefix in (("tag", "refs/tags/"), ("branch", "refs/heads/")):
        if source.kind == "any" and pin.ref.startswith(prefix):
            return source.replace(kind="tag" if spelled == "tag" else "branch", ref=pin.ref.removeprefix(prefix))
    return source


def _make_locked_skill(skill: FetchedSkill) -> LockedSkill:
    return LockedSkill(pin=skill.pin, digest=skill.digest, version=skill.version, dependencies=skill.dependencies)


def _matches_hash(item: ImportedSkill, current: FetchedSkill, pin_context: PinContext) -> bool:
    """Return whether the current content is what the other tool recorded."""
    if item.hash_kind == "tree":
        return isinstance(current.pin, GitPin) and current.pin.tree == item.content_hash
    if item.hash_kind != "vercel" or current.digest is None:
        return False
    tree = fetch_content(pin_context.fetchers, item.name, _make_locked_skill(current), current.digest)
    return vercel_hash(HashedFile(path=file.path, data=file.data) for file in tree.files) == item.content_hash


def _find_commit_by_content(
    item: ImportedSkill, source: GitSource, pin: GitPin, pin_context: PinContext
) -> tuple[str, str]:
    """Find the commit with the recorded content; return it, or an empty string and a note."""
    current_commit = short_commit(pin.commit)
    if source.kind == "rev":
        return "", ""
    if not item.content_hash:
        return "", f"neither commit nor checksum was recorded; locked to the current commit ({current_commit})"
    trees = [item.content_hash] if item.hash_kind == "tree" else _find_tree_ids(item, pin_context)
    for tree in trees:
        commit = pin_context.fetchers.find_commit_with_tree(source, pin.ref or "HEAD", tree)
        if commit:
            return commit, ""
    reason = "was not found in its history" if trees else "is not in any folder here"
    return "", (
        f"upstream has changed, and the recorded content {reason}; locked to the current commit ({current_commit})"
    )


def _find_tree_ids(item: ImportedSkill, pin_context: PinContext) -> list[str]:
    """Return the git tree ids of the installed folders with the recorded content."""
    return [
        git_tree_id(files)
        for files in pin_context.find_installed_files(item.name)
        if vercel_hash(files) == item.content_hash
    ]
