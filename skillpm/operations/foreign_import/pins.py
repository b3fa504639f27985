"""Make exact what another tool knew of a skill: the commit it recorded, or the one whose content it recorded."""

from collections.abc import Callable, Mapping, Sequence

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import BusyError, OfflineError, SkillpmError
from skillpm.fetchers.base import FetchedSkill
from skillpm.fetchers.content import fetch_content
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.foreign_formats.base import ImportedSkill, SkippedSkill
from skillpm.foreign_formats.content_hashes import HashedFile, git_tree_id, vercel_hash
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import GitPin
from skillpm.requirements.source import GitSource, RefKind, Source


class PinnedImport(Value):
    """One skill made exact: what the manifest is to ask for, what the lockfile is to say, and what was not known."""

    name: SkillName
    source: Source
    locked: LockedSkill
    notes: tuple[str, ...] = ()


class PinContext(Value):
    """What there is to ask: servers and folders, what they brought, and what lies installed here by name."""

    fetchers: FetcherDispatcher
    find_installed_files: Callable[[SkillName], Sequence[Sequence[HashedFile]]]


def pin_imports(
    skills: Sequence[ImportedSkill], pin_context: PinContext
) -> tuple[list[PinnedImport], list[SkippedSkill]]:
    """Make each exact; one that cannot be had is left, with the reason, and stops no other.

    Raises `OfflineError` where what is needed is not in the caches.
    """
    now = _fetch_current({item.name: item.source for item in skills}, pin_context.fetchers)
    exact: list[PinnedImport] = []
    left: list[SkippedSkill] = []
    for item in skills:
        found = now[item.name]
        try:
            exact.append(_pin_import(item, found, pin_context))
        except (OfflineError, BusyError):
            raise
        except SkillpmError as error:
            left.append(SkippedSkill(name=item.name, reason=error.message, where=item.where))
    return exact, left


def _fetch_current(
    sources: Mapping[SkillName, Source], fetchers: FetcherDispatcher
) -> dict[SkillName, FetchedSkill | SkillpmError]:
    """Give what each source is now, all at once; where that fails, each by itself, with its own failure."""
    try:
        return dict(fetchers.pin(sources)) if sources else {}
    except (OfflineError, BusyError):
        raise
    except SkillpmError:
        found: dict[SkillName, FetchedSkill | SkillpmError] = {}
        for name, source in sources.items():
            try:
                found[name] = fetchers.pin({name: source})[name]
            except (OfflineError, BusyError):
                raise
            except SkillpmError as error:
                found[name] = error
        return found


def _pin_import(item: ImportedSkill, current: FetchedSkill | SkillpmError, pin_context: PinContext) -> PinnedImport:
    source = item.source
    if not isinstance(source, GitSource):
        if isinstance(current, SkillpmError):
            raise current
        return PinnedImport(name=item.name, source=source, locked=_make_locked_skill(current), notes=item.notes)
    if isinstance(current, SkillpmError):
        if not item.commit:
            raise current
        # The branch or the folder may be gone by now; the commit is what was recorded.
        old = _fetch_commit(item, source, item.commit, pin_context)
        note = f"what it followed is gone ({current.message}); it is asked for by its commit"
        return PinnedImport(
            name=item.name,
            source=_make_requirement(source, old, "rev"),
            locked=_make_locked_skill(old),
            notes=(*item.notes, note),
        )
    pin = current.pin
    if not isinstance(pin, GitPin):
        raise TypeError(pin)
    asking = _make_requirement(source, current, "")
    if item.commit == pin.commit or (not item.commit and _matches_hash(item, current, pin_context)):
        return PinnedImport(name=item.name, source=asking, locked=_make_locked_skill(current), notes=item.notes)
    commit, note = (item.commit, "") if item.commit else _find_commit_by_content(item, asking, current, pin_context)
    if not commit:
        notes = (*item.notes, note) if note else item.notes
        return PinnedImport(name=item.name, source=asking, locked=_make_locked_skill(current), notes=notes)
    old = _fetch_commit(item, asking, commit, pin_context)
    if isinstance(old.pin, GitPin):
        old = old.replace(pin=old.pin.replace(ref="" if source.kind == "rev" else pin.ref))
    notes = (*item.notes, note) if note else item.notes
    return PinnedImport(name=item.name, source=asking, locked=_make_locked_skill(old), notes=notes)


def _fetch_commit(item: ImportedSkill, source: GitSource, commit: str, pin_context: PinContext) -> FetchedSkill:
    return pin_context.fetchers.pin({item.name: source.replace(kind="rev", ref=commit)})[item.name]


def _make_requirement(source: GitSource, found: FetchedSkill, kind: RefKind) -> GitSource:
    """Give the requirement: the folder that was found, and what to follow, in a spelling of its own kind."""
    pin = found.pin
    if not isinstance(pin, GitPin):
        return source
    source = source.replace(path=pin.path, skill="")
    if kind == "rev":
        return source.replace(kind="rev", ref=pin.commit)
    for spelled, prefix in (("tag", "refs/tags/"), ("branch", "refs/heads/")):
        if source.kind == "any" and pin.ref.startswith(prefix):
            return source.replace(kind="tag" if spelled == "tag" else "branch", ref=pin.ref.removeprefix(prefix))
    return source


def _make_locked_skill(found: FetchedSkill) -> LockedSkill:
    return LockedSkill(pin=found.pin, digest=found.digest, version=found.version, dependencies=found.dependencies)


def _matches_hash(item: ImportedSkill, current: FetchedSkill, pin_context: PinContext) -> bool:
    """Tell whether what is there now is what the other tool recorded."""
    if item.hash_kind == "tree":
        return isinstance(current.pin, GitPin) and current.pin.tree == item.content_hash
    if item.hash_kind != "vercel" or current.digest is None:
        return False
    tree = fetch_content(pin_context.fetchers, item.name, _make_locked_skill(current), current.digest)
    return vercel_hash(HashedFile(path=file.path, data=file.data) for file in tree.files) == item.content_hash


def _find_commit_by_content(
    item: ImportedSkill, source: GitSource, current: FetchedSkill, pin_context: PinContext
) -> tuple[str, str]:
    """Look for the commit whose content was recorded; give it, or nothing, and what to say."""
    pin = current.pin
    if not isinstance(pin, GitPin):
        return "", ""
    here = short_commit(pin.commit)
    if source.kind == "rev":
        return "", ""
    if not item.content_hash:
        return "", f"it recorded neither commit nor sum, so it is locked to what is there now ({here})"
    trees = [item.content_hash] if item.hash_kind == "tree" else _find_tree_ids(item, pin_context)
    for tree in trees:
        commit = pin_context.fetchers.find_commit_with_tree(source, pin.ref or "HEAD", tree)
        if commit:
            return commit, ""
    why = "was not found" if trees else "is in no folder here"
    return "", f"upstream has moved, and what was recorded {why}: it is locked to what is there now ({here})"


def _find_tree_ids(item: ImportedSkill, pin_context: PinContext) -> list[str]:
    """Give the tree ids of what lies here and is what was recorded."""
    return [
        git_tree_id(files)
        for files in pin_context.find_installed_files(item.name)
        if vercel_hash(files) == item.content_hash
    ]
