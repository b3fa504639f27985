"""Make exact what another tool knew of a skill: the commit it recorded, or the one whose content it recorded."""

from collections.abc import Callable, Mapping, Sequence

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import BusyError, OfflineError, SkillpmError
from skillpm.fetchers.base import Found
from skillpm.fetchers.content import content_of
from skillpm.fetchers.dispatcher import Fetchers
from skillpm.foreign_formats.base import Left, Taken
from skillpm.foreign_formats.content_hashes import File, git_tree, vercel_sum
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import GitPin
from skillpm.requirements.source import GitSource, RefKind, Source


class Exact(Value):
    """One skill made exact: what the manifest is to ask for, what the lockfile is to say, and what was not known."""

    name: SkillName
    source: Source
    locked: LockedSkill
    notes: tuple[str, ...] = ()


class Knowledge(Value):
    """What there is to ask: servers and folders, what they brought, and what lies installed here by name."""

    fetchers: Fetchers
    installed: Callable[[SkillName], Sequence[Sequence[File]]]


def make_exact(taken: Sequence[Taken], known: Knowledge) -> tuple[list[Exact], list[Left]]:
    """Make each exact; one that cannot be had is left, with the reason, and stops no other.

    Raises `OfflineError` where what is needed is not in the caches.
    """
    now = _as_it_is_now({item.name: item.source for item in taken}, known.fetchers)
    exact: list[Exact] = []
    left: list[Left] = []
    for item in taken:
        found = now[item.name]
        try:
            exact.append(_exact(item, found, known))
        except (OfflineError, BusyError):
            raise
        except SkillpmError as error:
            left.append(Left(name=item.name, why=error.message, where=item.where))
    return exact, left


def _as_it_is_now(wanted: Mapping[SkillName, Source], fetchers: Fetchers) -> dict[SkillName, Found | SkillpmError]:
    """Give what each source is now, all at once; where that fails, each by itself, with its own failure."""
    try:
        return dict(fetchers.pin(wanted)) if wanted else {}
    except (OfflineError, BusyError):
        raise
    except SkillpmError:
        found: dict[SkillName, Found | SkillpmError] = {}
        for name, source in wanted.items():
            try:
                found[name] = fetchers.pin({name: source})[name]
            except (OfflineError, BusyError):
                raise
            except SkillpmError as error:
                found[name] = error
        return found


def _exact(item: Taken, now: Found | SkillpmError, known: Knowledge) -> Exact:
    source = item.source
    if not isinstance(source, GitSource):
        if isinstance(now, SkillpmError):
            raise now
        return Exact(name=item.name, source=source, locked=_locked(now), notes=item.notes)
    if isinstance(now, SkillpmError):
        if not item.commit:
            raise now
        # The branch or the folder may be gone by now; the commit is what was recorded.
        old = _at(item, source, item.commit, known)
        note = f"what it followed is gone ({now.message}); it is asked for by its commit"
        return Exact(name=item.name, source=_asking(source, old, "rev"), locked=_locked(old), notes=(*item.notes, note))
    pin = now.pin
    if not isinstance(pin, GitPin):
        raise TypeError(pin)
    asking = _asking(source, now, "")
    if item.commit == pin.commit or (not item.commit and _is_marked(item, now, known)):
        return Exact(name=item.name, source=asking, locked=_locked(now), notes=item.notes)
    commit, note = (item.commit, "") if item.commit else _by_content(item, asking, now, known)
    if not commit:
        notes = (*item.notes, note) if note else item.notes
        return Exact(name=item.name, source=asking, locked=_locked(now), notes=notes)
    old = _at(item, asking, commit, known)
    if isinstance(old.pin, GitPin):
        old = old.but(pin=old.pin.but(ref="" if source.kind == "rev" else pin.ref))
    notes = (*item.notes, note) if note else item.notes
    return Exact(name=item.name, source=asking, locked=_locked(old), notes=notes)


def _at(item: Taken, source: GitSource, commit: str, known: Knowledge) -> Found:
    return known.fetchers.pin({item.name: source.but(kind="rev", ref=commit)})[item.name]


def _asking(source: GitSource, found: Found, kind: RefKind) -> GitSource:
    """Give the requirement: the folder that was found, and what to follow, in a spelling of its own kind."""
    pin = found.pin
    if not isinstance(pin, GitPin):
        return source
    source = source.but(path=pin.path, skill="")
    if kind == "rev":
        return source.but(kind="rev", ref=pin.commit)
    for spelled, prefix in (("tag", "refs/tags/"), ("branch", "refs/heads/")):
        if source.kind == "any" and pin.ref.startswith(prefix):
            return source.but(kind="tag" if spelled == "tag" else "branch", ref=pin.ref.removeprefix(prefix))
    return source


def _locked(found: Found) -> LockedSkill:
    return LockedSkill(pin=found.pin, digest=found.digest, version=found.version, dependencies=found.dependencies)


def _is_marked(item: Taken, now: Found, known: Knowledge) -> bool:
    """Tell whether what is there now is what the other tool recorded."""
    if item.mark_kind == "tree":
        return isinstance(now.pin, GitPin) and now.pin.tree == item.mark
    if item.mark_kind != "vercel" or now.digest is None:
        return False
    tree = content_of(known.fetchers, item.name, _locked(now), now.digest)
    return vercel_sum(File(path=file.path, data=file.data) for file in tree.files) == item.mark


def _by_content(item: Taken, source: GitSource, now: Found, known: Knowledge) -> tuple[str, str]:
    """Look for the commit whose content was recorded; give it, or nothing, and what to say."""
    pin = now.pin
    if not isinstance(pin, GitPin):
        return "", ""
    here = short_commit(pin.commit)
    if source.kind == "rev":
        return "", ""
    if not item.mark:
        return "", f"it recorded neither commit nor sum, so it is locked to what is there now ({here})"
    trees = [item.mark] if item.mark_kind == "tree" else _trees_of(item, known)
    for tree in trees:
        commit = known.fetchers.found_by_content(source, pin.ref or "HEAD", tree)
        if commit:
            return commit, ""
    why = "was not found" if trees else "is in no folder here"
    return "", f"upstream has moved, and what was recorded {why}: it is locked to what is there now ({here})"


def _trees_of(item: Taken, known: Knowledge) -> list[str]:
    """Give the tree ids of what lies here and is what was recorded."""
    return [git_tree(files) for files in known.installed(item.name) if vercel_sum(files) == item.mark]
