"""From manifest and old lockfile to the lockfile that holds: resolved, or proved to need nothing."""

import os
from collections.abc import Collection
from functools import partial

from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import LockfileOutdated, RefusedError
from skillpm.fetchers.base import IndexSide
from skillpm.fetchers.dispatcher import Fetchers
from skillpm.formats.lockfile import LockedSkill, Lockfile, write_lockfile
from skillpm.formats.pin import IndexPin
from skillpm.operations.context.project_files import Paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_indexes import configured_indexes
from skillpm.operations.context.scope_settings import cutoff_of
from skillpm.operations.install.index_policy import lying_here, refuse_unnamed
from skillpm.operations.install.source_policy import check_places, refuse_own_sources
from skillpm.requirements.source import PathSource
from skillpm.resolver.candidates import Asked
from skillpm.resolver.resolution import disagreements, is_kept, reachable, resolve


def held_folders(
    papers: Paperwork, fetchers: Fetchers, touched: Collection[str] | None, *, may_be_away: bool
) -> set[SkillName]:
    """Give the skills from local folders that stay as they are locked: those that are not meant, and, where folders
    `may_be_away`, those whose folder is not there, which is told.
    """
    held = set()
    for name, source in papers.requirements.items():
        if not isinstance(source, PathSource) or not is_kept(name, source, papers.lockfile):
            continue
        if touched is not None:
            if name not in touched:
                held.add(name)
        elif may_be_away and not fetchers.has_folder(source):
            fetchers.reporter.warning(f"{name}: its folder {source.path} is not there; it stays as it was locked")
            held.add(name)
    return held


def changed_folders(papers: Paperwork, fetchers: Fetchers, touched: Collection[str] | None) -> list[SkillName]:
    """Give the skills whose folders are not as they were locked. Raises `NotFoundError` for one that is away."""
    meant = {
        name: source
        for name, source in papers.requirements.items()
        if isinstance(source, PathSource) and not source.link and (touched is None or name in touched)
    }
    found = fetchers.pin(meant) if meant else {}
    return [name for name, new in sorted(found.items()) if new.digest != papers.lockfile.skills[name].digest]


class Strictness(Value):
    """How the lockfile may be treated: `locked`: it must not change; `frozen`: nothing is even resolved.

    `by_ci`: nobody said so here, but that this is CI.
    """

    locked: bool = False
    frozen: bool = False
    by_ci: bool = False


def relocked(
    scope: Scope,
    papers: Paperwork,
    fetchers: Fetchers,
    strictness: Strictness,
    upgrade: Collection[SkillName] = (),
    touched: Collection[str] | None = None,
) -> Lockfile:
    """Give the lockfile that holds for a manifest; `touched` are the only skills that are meant, None means all.

    Raises `LockfileOutdated` where it would have to change and may not, `RefusedError` where it lets a skill come from
    somewhere else than the manifest says.
    """
    fetchers = fetchers.knowing(papers.lockfile.skills)
    refuse_own_sources(scope, papers, fetchers.settings)
    if papers.lockfile_text is None and (strictness.locked or strictness.frozen):
        raise _outdated(scope, papers, [], strictness)
    if strictness.frozen:
        _need_names(scope, papers, strictness)
        check_places(scope, papers, papers.lockfile)
        _check_indexes(scope, papers, fetchers, papers.lockfile.skills)
        if changed := changed_folders(papers, fetchers, touched):
            raise _outdated(scope, papers, [f"the content of `{name}` has changed" for name in changed], strictness)
        return papers.lockfile
    check_places(scope, papers, papers.lockfile, only_kept=True)
    _check_indexes(scope, papers, fetchers, _kept(papers) - {*upgrade})
    if strictness.locked and (reasons := outdated(papers)):
        raise _outdated(scope, papers, reasons, strictness)
    held = held_folders(papers, fetchers, touched, may_be_away=not strictness.locked)
    asked = _asked(papers, upgrade, held).but(cutoff=cutoff_of(papers.manifest, fetchers.settings))
    lockfile = resolve(asked, fetchers, papers.lockfile).lockfile
    _check_versions(papers.lockfile, lockfile)
    if strictness.locked and lockfile != papers.lockfile:
        changed = [name for name, skill in lockfile.skills.items() if papers.lockfile.skills.get(name) != skill]
        reasons = [f"the content of `{name}` has changed" for name in sorted(changed)]
        raise _outdated(scope, papers, reasons, strictness)
    return lockfile


def outdated(papers: Paperwork) -> list[str]:
    """Say in what the lockfile does not say what the manifest asks; no folder and no server is looked at."""
    return disagreements(_asked(papers), papers.lockfile)


def _asked(papers: Paperwork, upgrade: Collection[SkillName] = (), held: Collection[SkillName] = ()) -> Asked:
    return Asked(requirements=papers.requirements, overrides=papers.overrides, upgrade=upgrade, held=held)


def lock_text(lockfile: Lockfile, papers: Paperwork) -> str:
    """Give the lockfile's text; what is written already when it means the same."""
    if papers.lockfile_text is not None and lockfile == papers.lockfile and not papers.is_seeded:
        return papers.lockfile_text
    return write_lockfile(lockfile)


def make_fetchers(scope: Scope, tools: Tools) -> Fetchers:
    """Give the fetchers of a scope, the same ones all run long: relative paths start at the manifest's folder."""
    base = os.path.dirname(scope.manifest)
    if base not in tools.fetchers:

        def index() -> IndexSide:
            from skillpm.indexes.client.index_fetcher import IndexFetcher  # noqa: PLC0415  (and with it all that reads a skill)

            places = partial(configured_indexes, scope, tools.settings)
            return IndexFetcher(tools.settings, base, tools.store, tools.reporter, places)

        tools.fetchers[base] = Fetchers(tools.settings, base, tools.store, tools.reporter, tools.git_cache, index)
    return tools.fetchers[base]


def _outdated(scope: Scope, papers: Paperwork, reasons: list[str], strictness: Strictness) -> LockfileOutdated:
    why = "; CI is set, so this is as with --locked, and nothing is locked here" if strictness.by_ci else ""
    if papers.lockfile_text is None:
        hint = f"make it with `skillpm lock{scope.flag}`{' and commit it' if why else ''}{why}"
        if scope.is_fallback and papers.manifest_text is None:
            hint = "no skills.json is here or above, so user scope was meant; go to the project, or --project DIR"
        return LockfileOutdated("there is no lockfile", where=scope.lockfile, hint=hint)
    return LockfileOutdated(
        f"the lockfile is not up to date: {'; '.join(reasons)}",
        where=scope.lockfile,
        hint=f"run `skillpm lock{scope.flag}` and commit skills.lock{why}",
    )


def _need_names(scope: Scope, papers: Paperwork, strictness: Strictness) -> None:
    needs = {name for skill in papers.lockfile.skills.values() for name in skill.dependencies}
    missing = sorted({*papers.requirements, *needs} - {*papers.lockfile.skills})
    if missing:
        raise _outdated(scope, papers, [f"`{name}` is not locked" for name in missing], strictness)


def _kept(papers: Paperwork) -> set[SkillName]:
    """Give the locked skills that are wanted on, and as they are locked."""
    return {
        name
        for name in reachable(papers.requirements, papers.lockfile)
        if name not in papers.requirements or is_kept(name, papers.requirements[name], papers.lockfile)
    }


def _check_indexes(scope: Scope, papers: Paperwork, fetchers: Fetchers, names: Collection[SkillName]) -> None:
    """Refuse a lockfile that brings skills from an index that nobody named, or not from the one it is in."""
    refuse_unnamed(scope, papers, papers.lockfile, {*names} - lying_here(scope, papers.lockfile), fetchers.settings)


def _check_versions(before: Lockfile, after: Lockfile) -> None:
    """Refuse a version that is not what it was: an index promises that none ever changes."""
    for name, skill in sorted(after.skills.items()):
        old = before.skills.get(name)
        if (
            old is not None
            and isinstance(old.pin, IndexPin)
            and isinstance(skill.pin, IndexPin)
            and old.pin.index == skill.pin.index
            and old.version == skill.version != ""
            and old.digest != skill.digest
        ):
            raise RefusedError(
                f"the index {skill.pin.index} changed `{name}` {skill.version}: "
                f"it is {skill.digest} now, and was {old.digest} when it was locked",
                hint=f"a version must never change: see who changed skills.lock, else ask whoever keeps the index. "
                f"Nothing was changed here; `skillpm uninstall {name}` and `skillpm install {name}` take what is there "
                "now",
            )


def changed_skills(before: Lockfile, after: Lockfile) -> list[tuple[SkillName, LockedSkill | None, LockedSkill | None]]:
    """Give every skill that two lockfiles say different things of."""
    names = sorted({*before.skills, *after.skills})
    pairs = ((name, before.skills.get(name), after.skills.get(name)) for name in names)
    return [(name, old, new) for name, old, new in pairs if old != new]
