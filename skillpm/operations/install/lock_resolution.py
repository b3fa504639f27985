"""From manifest and old lockfile to the lockfile that holds: resolved, or proved to need nothing."""

import os
from collections.abc import Collection
from functools import partial

from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import LockfileOutdated, RefusedError
from skillpm.fetchers.base import IndexQueries
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import LockedSkill, Lockfile, write_lockfile
from skillpm.formats.pin import IndexPin
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_indexes import configured_indexes
from skillpm.operations.context.scope_settings import read_effective_cutoff
from skillpm.operations.install.index_policy import find_up_to_date, refuse_unconfigured
from skillpm.operations.install.source_policy import check_sources, refuse_installed_sources
from skillpm.requirements.source import PathSource
from skillpm.resolver.candidates import ResolutionRequest
from skillpm.resolver.resolution import find_lock_mismatches, is_locked_unchanged, reachable_skills, resolve


def find_held_folders(
    files: ProjectFiles, fetchers: FetcherDispatcher, touched: Collection[str] | None, *, allow_missing: bool
) -> set[SkillName]:
    """Give the skills from local folders that stay as they are locked: those that are not meant, and, where folders
    `may_be_away`, those whose folder is not there, which is told.
    """
    held = set()
    for name, source in files.requirements.items():
        if not isinstance(source, PathSource) or not is_locked_unchanged(name, source, files.lockfile):
            continue
        if touched is not None:
            if name not in touched:
                held.add(name)
        elif allow_missing and not fetchers.has_folder(source):
            fetchers.reporter.warn(f"{name}: its folder {source.path} is not there; it stays as it was locked")
            held.add(name)
    return held


def find_changed_folders(
    files: ProjectFiles, fetchers: FetcherDispatcher, touched: Collection[str] | None
) -> list[SkillName]:
    """Give the skills whose folders are not as they were locked. Raises `NotFoundError` for one that is away."""
    meant = {
        name: source
        for name, source in files.requirements.items()
        if isinstance(source, PathSource) and not source.link and (touched is None or name in touched)
    }
    found = fetchers.pin(meant) if meant else {}
    return [name for name, new in sorted(found.items()) if new.digest != files.lockfile.skills[name].digest]


class LockPolicy(Value):
    """How the lockfile may be treated: `locked`: it must not change; `frozen`: nothing is even resolved.

    `by_ci`: nobody said so here, but that this is CI.
    """

    locked: bool = False
    frozen: bool = False
    is_from_ci: bool = False


def resolve_lockfile(
    scope: Scope,
    files: ProjectFiles,
    fetchers: FetcherDispatcher,
    lock_policy: LockPolicy,
    upgrade: Collection[SkillName] = (),
    touched: Collection[str] | None = None,
) -> Lockfile:
    """Give the lockfile that holds for a manifest; `touched` are the only skills that are meant, None means all.

    Raises `LockfileOutdated` where it would have to change and may not, `RefusedError` where it lets a skill come from
    somewhere else than the manifest says.
    """
    fetchers = fetchers.with_locked(files.lockfile.skills)
    refuse_installed_sources(scope, files, fetchers.settings)
    if files.lockfile_text is None and (lock_policy.locked or lock_policy.frozen):
        raise _outdated_error(scope, files, [], lock_policy)
    if lock_policy.frozen:
        _require_locked(scope, files, lock_policy)
        check_sources(scope, files, files.lockfile)
        _check_indexes(scope, files, fetchers, files.lockfile.skills)
        if changed := find_changed_folders(files, fetchers, touched):
            raise _outdated_error(
                scope, files, [f"the content of `{name}` has changed" for name in changed], lock_policy
            )
        return files.lockfile
    check_sources(scope, files, files.lockfile, only_kept=True)
    _check_indexes(scope, files, fetchers, _find_unchanged(files) - {*upgrade})
    if lock_policy.locked and (reasons := find_lock_conflicts(files)):
        raise _outdated_error(scope, files, reasons, lock_policy)
    held = find_held_folders(files, fetchers, touched, allow_missing=not lock_policy.locked)
    asked = _resolution_request(files, upgrade, held).replace(
        cutoff=read_effective_cutoff(files.manifest, fetchers.settings)
    )
    lockfile = resolve(asked, fetchers, files.lockfile).lockfile
    _check_versions(files.lockfile, lockfile)
    if lock_policy.locked and lockfile != files.lockfile:
        changed = [name for name, skill in lockfile.skills.items() if files.lockfile.skills.get(name) != skill]
        reasons = [f"the content of `{name}` has changed" for name in sorted(changed)]
        raise _outdated_error(scope, files, reasons, lock_policy)
    return lockfile


def find_lock_conflicts(files: ProjectFiles) -> list[str]:
    """Say in what the lockfile does not say what the manifest asks; no folder and no server is looked at."""
    return find_lock_mismatches(_resolution_request(files), files.lockfile)


def _resolution_request(
    files: ProjectFiles, upgrade: Collection[SkillName] = (), held: Collection[SkillName] = ()
) -> ResolutionRequest:
    return ResolutionRequest(requirements=files.requirements, overrides=files.overrides, upgrade=upgrade, frozen=held)


def render_lockfile(lockfile: Lockfile, files: ProjectFiles) -> str:
    """Give the lockfile's text; what is written already when it means the same."""
    if files.lockfile_text is not None and lockfile == files.lockfile and not files.is_lockfile_imported:
        return files.lockfile_text
    return write_lockfile(lockfile)


def make_fetchers(scope: Scope, context: Context) -> FetcherDispatcher:
    """Give the fetchers of a scope, the same ones all run long: relative paths start at the manifest's folder."""
    base = os.path.dirname(scope.manifest)
    if base not in context.fetchers:

        def index() -> IndexQueries:
            from skillpm.indexes.client.index_fetcher import IndexFetcher  # noqa: PLC0415  (and with it all that reads a skill)

            places = partial(configured_indexes, scope, context.settings)
            return IndexFetcher(context.settings, base, context.store, context.reporter, places)

        context.fetchers[base] = FetcherDispatcher(
            context.settings, base, context.store, context.reporter, context.git_cache_dir, index
        )
    return context.fetchers[base]


def _outdated_error(scope: Scope, files: ProjectFiles, reasons: list[str], lock_policy: LockPolicy) -> LockfileOutdated:
    why = "; CI is set, so this is as with --locked, and nothing is locked here" if lock_policy.is_from_ci else ""
    if files.lockfile_text is None:
        hint = f"make it with `skillpm lock{scope.flag}`{' and commit it' if why else ''}{why}"
        if scope.is_fallback and files.manifest_text is None:
            hint = "no skills.json is here or above, so user scope was meant; go to the project, or --project DIR"
        return LockfileOutdated("there is no lockfile", where=scope.lockfile, hint=hint)
    return LockfileOutdated(
        f"the lockfile is not up to date: {'; '.join(reasons)}",
        where=scope.lockfile,
        hint=f"run `skillpm lock{scope.flag}` and commit skills.lock{why}",
    )


def _require_locked(scope: Scope, files: ProjectFiles, lock_policy: LockPolicy) -> None:
    needs = {name for skill in files.lockfile.skills.values() for name in skill.dependencies}
    missing = sorted({*files.requirements, *needs} - {*files.lockfile.skills})
    if missing:
        raise _outdated_error(scope, files, [f"`{name}` is not locked" for name in missing], lock_policy)


def _find_unchanged(files: ProjectFiles) -> set[SkillName]:
    """Give the locked skills that are wanted on, and as they are locked."""
    return {
        name
        for name in reachable_skills(files.requirements, files.lockfile)
        if name not in files.requirements or is_locked_unchanged(name, files.requirements[name], files.lockfile)
    }


def _check_indexes(
    scope: Scope, files: ProjectFiles, fetchers: FetcherDispatcher, names: Collection[SkillName]
) -> None:
    """Refuse a lockfile that brings skills from an index that nobody named, or not from the one it is in."""
    refuse_unconfigured(
        scope, files, files.lockfile, {*names} - find_up_to_date(scope, files.lockfile), fetchers.settings
    )


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


def find_changed_skills(
    before: Lockfile, after: Lockfile
) -> list[tuple[SkillName, LockedSkill | None, LockedSkill | None]]:
    """Give every skill that two lockfiles say different things of."""
    names = sorted({*before.skills, *after.skills})
    pairs = ((name, before.skills.get(name), after.skills.get(name)) for name in names)
    return [(name, old, new) for name, old, new in pairs if old != new]
