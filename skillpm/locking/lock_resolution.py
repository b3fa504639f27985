"""From the manifest and the old lockfile to the lockfile that applies: resolved, or shown to be up to date."""

from collections.abc import Collection
from typing import Any

from skillpm.core.names import SkillName
from skillpm.core.suggestions import list_some
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import ANY, is_range, range_from
from skillpm.errors import LockfileOutdated, RefusedError
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.editing.json_edit import set_members
from skillpm.formats.lockfile import LockedSkill, Lockfile, write_lockfile
from skillpm.locking.index_policy import (
    LOST_RELEASE_HINT,
    find_locked_release,
    find_lost_releases,
    find_up_to_date,
    refuse_unconfigured,
)
from skillpm.locking.source_policy import check_sources
from skillpm.requirements.include import find_missing_includes, include_values
from skillpm.resolver.candidates import ResolutionRequest
from skillpm.resolver.resolution import (
    Resolution,
    find_lock_mismatches,
    is_locked_unchanged,
    reachable_skills,
    resolve,
)
from skillpm.scope.effective_settings import read_effective_cutoff, read_user_setting
from skillpm.scope.install_paths import refuse_installed_sources
from skillpm.scope.project_files import ProjectFiles, missing_project_message
from skillpm.scope.scope import Scope
from skillpm.scope.scope_fetchers import configured_indexes
from skillpm.settings import Settings
from skillpm.store import LockedContent

MAX_NAMES = 4
CI_IMPLIES_LOCKED = "; CI is set, which implies --locked"


class ReleaseChanged(RefusedError):
    """An index changed a version after it was published: a reason to stop, and not only for this skill."""


class LockPolicy(Value):
    """Whether the lockfile may change."""

    # It must not change.
    locked: bool = False
    # It is not even compared with upstream.
    frozen: bool = False
    # `locked` comes from the environment (CI), not from the command line.
    is_from_ci: bool = False


def resolve_lockfile(
    scope: Scope,
    files: ProjectFiles,
    fetchers: FetcherDispatcher,
    lock_policy: LockPolicy,
    upgrade: Collection[SkillName] = (),
    selected: Collection[str] | None = None,
) -> Lockfile:
    """Return the lockfile that applies to a manifest: in a workspace, the one that all its manifests share.

    `selected` are the only skills whose local folders are read again; None means all.

    Raises `LockfileOutdated` if it would have to change and may not, and `RefusedError` if it takes a skill from
    another source than the manifest specifies.
    """
    locked = files.whole_lockfile
    fetchers = fetchers.with_locked(locked.skills)
    fetchers.name_sources([*(source for each in files.by_manifest.values() for source in each.values())])
    fetchers.name_sources([*files.overrides.values()])
    refuse_installed_sources(scope, files, fetchers.settings)
    if files.lockfile_text is None and (lock_policy.locked or lock_policy.frozen):
        raise _missing_error(scope, files, lock_policy, fetchers.settings)
    if lock_policy.frozen:
        _require_locked(scope, files, lock_policy)
        check_sources(scope, files, locked)
        _check_indexes(scope, files, fetchers, files.lockfile.skills)
        if reasons := _find_local_changes(files, fetchers, selected):
            raise _outdated_error(scope, reasons, lock_policy)
        return locked
    check_sources(scope, files, locked, only_kept=True)
    _check_indexes(scope, files, fetchers, _find_unchanged(files) - {*upgrade})
    if lock_policy.locked and (reasons := find_lock_conflicts(files)):
        raise _outdated_error(scope, reasons, lock_policy)
    held = _find_held_folders(files, fetchers, selected, allow_missing=not lock_policy.locked)
    cutoff = read_effective_cutoff(scope, files.manifest, fetchers.settings)
    upgrade = {*upgrade}

    def resolve_with(upgrade: Collection[SkillName]) -> Resolution:
        request = _resolution_request(files, upgrade, held).replace(
            cutoff=cutoff, find_index_urls=lambda: [index.url for index in configured_indexes(scope, fetchers.settings)]
        )
        return resolve(request, fetchers, locked)

    resolution = resolve_with(upgrade)
    lockfile = resolution.lockfile
    while lost := find_lost_releases(scope, files, lockfile, fetchers):
        if not lost.keys() <= upgrade:
            name = next(name for name in lost if name not in upgrade)
            raise RefusedError(lost[name], where=scope.lockfile, hint=LOST_RELEASE_HINT, skills=[name])
        for message in lost.values():
            fetchers.reporter.warn(f"{message}; it stays as it is locked")
        upgrade -= lost.keys()
        resolution = resolve_with(upgrade)
        lockfile = resolution.lockfile
    _warn_undated(resolution.undated, fetchers)
    lockfile = _record_signers(locked, lockfile.replace(include=include_values(files.locked_includes)), fetchers)
    _check_versions(scope, locked, lockfile)
    if lock_policy.locked and lockfile != locked:
        changed = find_changed_skills(locked, lockfile)
        reasons = [_describe_change(name, old, new) for name, old, new in changed]
        raise _outdated_error(scope, reasons, lock_policy)
    return lockfile


def _record_signers(before: Lockfile, after: Lockfile, fetchers: FetcherDispatcher) -> Lockfile:
    is_signed = any(skill.signer for skill in before.skills.values())
    if not is_signed and read_user_setting(fetchers.settings, "trust") is None:
        return after
    from skillpm.vetting.signers import record_signers  # noqa: PLC0415  (few users trust signers)

    return record_signers(before, after, fetchers)


def find_lock_conflicts(files: ProjectFiles) -> list[str]:
    """Return how the lockfile differs from what the manifest requires. Reads no folder and contacts no server."""
    locked = files.whole_lockfile
    if missing := find_missing_includes(files.locked_includes, locked):
        return missing  # until they are listed, nothing shows which of the locked skills they stand for
    has_changed = include_values(files.locked_includes) != locked.include
    reasons = ["`include` has changed since it was locked"] if has_changed else []
    return reasons + find_lock_mismatches(_resolution_request(files), locked)


def _warn_undated(undated: tuple[str, ...], fetchers: FetcherDispatcher) -> None:
    """Warn that `exclude-newer` does not apply to versions whose age is unknown."""
    if undated:
        are = "are allowed, although their age is" if len(undated) > 1 else "is allowed, although its age is"
        names = sanitize(list_some(undated, MAX_NAMES), 300)
        fetchers.reporter.warn(f"{names} {are} unknown: exclude-newer needs a date, and none is published")


def write_ranges(files: ProjectFiles, lockfile: Lockfile, fetchers: FetcherDispatcher) -> tuple[ProjectFiles, Lockfile]:
    """Write the range of each skill that was required by its name only: from its version to the next major one.

    A site of Agent Skills Discovery publishes no versions to choose from, so its skills keep `*`.
    """
    values: dict[str, Any] = {}
    for name in sorted(files.ranged):
        source, skill = files.requirements[name], lockfile.skills[name]
        version_range = range_from(skill.version)
        if source.scheme == "index" and is_range(version_range):
            release = find_locked_release(name, skill, fetchers)
            if release is not None and release.source.version_range != ANY:
                values[name] = source.with_range(version_range).to_json()
    if not values:
        return files, lockfile
    files = files.with_manifest_text(set_members(files.editable_manifest, ("skills",), values))
    return files, _resolution_request(files).record(lockfile)


def render_lockfile(lockfile: Lockfile, files: ProjectFiles) -> str:
    """Return the text of a whole lockfile; the existing text if the meaning is the same."""
    if files.lockfile_text is not None and lockfile == files.whole_lockfile and not files.is_lockfile_composed:
        return files.lockfile_text
    return write_lockfile(lockfile)


def find_changed_skills(
    before: Lockfile, after: Lockfile
) -> list[tuple[SkillName, LockedSkill | None, LockedSkill | None]]:
    """Return every skill that differs between two lockfiles, with both states."""
    names = sorted({*before.skills, *after.skills})
    pairs = ((name, before.skills.get(name), after.skills.get(name)) for name in names)
    return [(name, old, new) for name, old, new in pairs if old != new]


def _resolution_request(
    files: ProjectFiles, upgrade: Collection[SkillName] = (), held: Collection[SkillName] = ()
) -> ResolutionRequest:
    manifests = files.by_manifest
    members = {folder: each for folder, each in manifests.items() if folder}
    return ResolutionRequest(
        requirements=manifests.get("", {}),
        members=members,
        overrides=files.overrides,
        upgrade=upgrade,
        frozen=held,
        added=frozenset((files.member, name) for name in files.added),
    )


def _find_held_folders(
    files: ProjectFiles, fetchers: FetcherDispatcher, selected: Collection[str] | None, *, allow_missing: bool
) -> set[SkillName]:
    """Return the skills from local folders and installed packages that stay as they are locked, without reading them.

    These are the ones that are not selected, and with `allow_missing` those that are missing, with a warning.
    """
    held = set()
    for name, source in files.all_requirements.items():
        if not source.is_read_each_time or not is_locked_unchanged(name, source, files.whole_lockfile):
            continue
        if selected is not None:
            if name not in selected:
                held.add(name)
        elif allow_missing and (absence := fetchers.find_absence(source)):
            fetchers.reporter.warn(f"{name}: {absence}; it stays as it is locked")
            held.add(name)
    return held


def _find_local_changes(
    files: ProjectFiles, fetchers: FetcherDispatcher, selected: Collection[str] | None
) -> list[str]:
    """Return how local folders and installed packages differ from the lockfile.

    Raises `NotFoundError` for a missing one.
    """
    sources = {
        name: source
        for name, source in files.all_requirements.items()
        if (source.is_read_each_time and not source.is_live_link) and (selected is None or name in selected)
    }
    skills = fetchers.pin(sources) if sources else {}
    locked = files.whole_lockfile.skills
    return [
        _describe_change(name, locked[name], skill)
        for name, skill in sorted(skills.items())
        if (skill.digest, skill.pin) != (locked[name].digest, locked[name].pin)
    ]


def _describe_change(name: SkillName, old: LockedContent | None, new: LockedContent | None) -> str:
    """Return how a skill differs from the lockfile: for an installed package, with both versions if these differ."""
    if old is not None and new is not None and new.pin.package_name and old.pin != new.pin:
        package, version = sanitize(new.pin.package_name), sanitize(new.version, 40)
        if old.version != new.version:
            return f"`{name}` is locked to {package} {sanitize(old.version, 40)}, but {version} is installed"
    return f"the content of `{name}` has changed"


def _missing_error(scope: Scope, files: ProjectFiles, lock_policy: LockPolicy, settings: Settings) -> LockfileOutdated:
    hint = f"create it with `{scope.command('lock')}`{' and commit it' if lock_policy.is_from_ci else ''}"
    if scope.is_fallback and files.manifest_text is None:
        missing = missing_project_message(settings)
        hint = f"{missing}, so this is user scope; go to the project, or use --project DIR"
    elif lock_policy.is_from_ci:
        hint += CI_IMPLIES_LOCKED
    return LockfileOutdated("there is no lockfile", where=scope.lockfile, hint=hint)


def _outdated_error(scope: Scope, reasons: list[str], lock_policy: LockPolicy) -> LockfileOutdated:
    ci = CI_IMPLIES_LOCKED if lock_policy.is_from_ci else ""
    return LockfileOutdated(
        f"the lockfile is not up to date: {'; '.join(reasons)}",
        where=scope.lockfile,
        hint=f"run `{scope.command('lock')}` and commit skills.lock{ci}",
    )


def _require_locked(scope: Scope, files: ProjectFiles, lock_policy: LockPolicy) -> None:
    locked = files.whole_lockfile
    dependencies = {name for skill in locked.skills.values() for name in skill.dependencies}
    missing = sorted({*files.all_requirements, *dependencies} - {*locked.skills})
    reasons = [f"`{name}` is not locked" for name in missing]
    if reasons := [*find_missing_includes(files.locked_includes, locked), *reasons]:
        raise _outdated_error(scope, reasons, lock_policy)


def _find_unchanged(files: ProjectFiles) -> set[SkillName]:
    """Return the locked skills that are still required, with the requirement that they were locked for."""
    return {
        name
        for name in reachable_skills(files.requirements, files.lockfile)
        if name not in files.requirements or is_locked_unchanged(name, files.requirements[name], files.whole_lockfile)
    }


def _check_indexes(
    scope: Scope, files: ProjectFiles, fetchers: FetcherDispatcher, names: Collection[SkillName]
) -> None:
    """Refuse a lockfile that would fetch one of these skills from an index that is not configured."""
    missing = {*names} - find_up_to_date(scope, files.lockfile)
    refuse_unconfigured(scope, files, files.lockfile, missing, fetchers.settings)


def _check_versions(scope: Scope, before: Lockfile, after: Lockfile) -> None:
    """Refuse a version whose content has changed: the versions of an index are immutable."""
    for name, skill in sorted(after.skills.items()):
        old = before.skills.get(name)
        if (
            old is not None
            and old.pin.index_url == skill.pin.index_url != ""
            and old.version == skill.version != ""
            and old.digest != skill.digest
        ):
            uninstall, install = scope.command("uninstall", name), scope.command("install", name)
            raise ReleaseChanged(
                f"the index {skill.pin.index_url} changed `{name}` {skill.version} after it was published: locked is "
                f"{old.digest}, and now it is {skill.digest}",
                hint="nothing was changed; check who changed skills.lock, or ask the index maintainer: a published "
                f"version must never change. To accept the new content, run `{uninstall}`, then `{install}`",
                skills=[name],
            )
