"""`outdated`: what could be newer. Skills directory, manifest and lockfile stay as they are; caches may fill."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import FetchError, NotFoundError, OfflineError
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.pin import GitPin, IndexPin, PathPin, UrlPin, summarize_pin
from skillpm.installer.actions import version_label
from skillpm.installer.layout import load_receipt
from skillpm.operations.context.project_files import ProjectFiles, read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_settings import read_effective_cutoff
from skillpm.operations.inspect.constraints import (
    ConstraintsByName,
    collect_constraints,
    find_exclusion_reason,
    find_pin_reason,
    select_skills,
)
from skillpm.operations.inspect.upstream import (
    fetch_versions,
    find_moved_tags,
    find_newer_version,
    find_newest,
    find_yank_reason,
)
from skillpm.operations.install.index_policy import find_unconfigured
from skillpm.operations.install.lock_resolution import LockPolicy, make_fetchers, resolve_lockfile
from skillpm.requirements.source import GitSource
from skillpm.resolver.provider import AvailableVersion


class OutdatedSkill(Value):
    """A skill that could be newer: what is locked, what `update` would take, and the newest there is at all.

    `held` says why the newest is not taken, or that the one there is was yanked; `moved` that a tag or a branch is
    not where it was; `unasked` why nobody could be asked, where it is only known what is locked.
    """

    name: SkillName
    current: str
    compatible: str
    latest: str
    source: str
    reason: str = ""
    moved_ref: str = ""
    error: str = ""


def find_outdated(scope: Scope, context: Context, names: Sequence[str] = ()) -> list[OutdatedSkill]:
    """Give the locked skills, of these or of all, for which there is something newer, within what the manifest asks or
    beyond it. Raises `NotFoundError` for a name that nobody asked for.
    """
    papers = read_project_files(scope, context)
    locked = papers.lockfile
    meant = [name for name in select_skills(papers, names) if name in locked.skills]
    gone = {
        name: index
        for name, index in find_unconfigured(scope, papers, locked, context.settings).items()
        if name in meant
    }
    rows = [_unreachable_row(name, locked, f"nobody names its index {index} any more") for name, index in gone.items()]
    meant = [name for name in meant if name not in gone]
    try:
        rows += _check_outdated(scope, context, papers, meant)
    except (FetchError, NotFoundError):
        places = _group_by_origin(locked, meant)
        if len(places) == 1 and not rows:
            raise
        # One that cannot be asked costs only what comes from there: each place by itself, with its own failure.
        for there in places:
            try:
                rows += _check_outdated(scope, context, papers, there)
            except (FetchError, NotFoundError) as error:
                rows += [_unreachable_row(name, locked, error.message) for name in there]
    return sorted(rows, key=lambda row: row.name)


def _unreachable_row(name: SkillName, locked: Lockfile, error: str) -> OutdatedSkill:
    skill = locked.skills[name]
    current = version_label(skill)
    source = summarize_pin(skill.pin)
    return OutdatedSkill(
        name=name, current=current, compatible=current, latest="?", source=source, error=sanitize(error)
    )


def _group_by_origin(locked: Lockfile, names: Sequence[SkillName]) -> list[list[SkillName]]:
    """Give skills by where they come from: a repository, an index, an address, a folder."""
    places: dict[str, list[SkillName]] = {}
    for name in names:
        match locked.skills[name].pin:
            case GitPin(url=place) | IndexPin(index=place) | UrlPin(url=place) | PathPin(path=place):
                places.setdefault(place, []).append(name)
            case _:
                places.setdefault("", []).append(name)
    return list(places.values())


def _check_outdated(
    scope: Scope, context: Context, files: ProjectFiles, names: Sequence[SkillName]
) -> list[OutdatedSkill]:
    """Give those of these skills for which there is something newer, from what all their places say."""
    locked = files.lockfile
    fetchers = make_fetchers(scope, context).with_locked(locked.skills)
    after = resolve_lockfile(scope, files, fetchers, LockPolicy(), names)
    cutoff = read_effective_cutoff(files.manifest, context.settings)
    askers = {name: asks for name, asks in collect_constraints(files, after).items() if name in names}
    offers = fetch_versions(askers, fetchers, with_dates=bool(cutoff.moment))
    heads = _find_newer_heads(askers, locked, fetchers)
    moved = find_moved_tags(locked, after)
    rows: list[OutdatedSkill] = []
    for name, skill in sorted((name, locked.skills[name]) for name in names):
        new = after.skills.get(name, skill)
        current, wanted = distinct_labels(skill, new)
        best, yanked = find_newest(offers.get(name, ())), find_yank_reason(offers.get(name, ()), skill.version)
        latest = heads.get(name) or find_newer_version(best, new, find_pin_reason(askers.get(name, ()))) or wanted
        if {wanted, latest} != {current} or yanked:
            young = best is not None and wanted != latest and cutoff.excludes(best.published)
            held = f"{sanitize(latest, 40)} is {cutoff.description} (exclude-newer)" if young else yanked
            if not held and latest != wanted:
                held = find_exclusion_reason(latest, askers.get(name, ()))
            source = summarize_pin(skill.pin)
            row = OutdatedSkill(
                name=name, current=current, compatible=wanted, latest=latest, source=source, reason=held
            )
            rows.append(row.replace(moved_ref=moved.get(name, "")))
    return rows


def distinct_labels(old: LockedSkill, new: LockedSkill) -> tuple[str, str]:
    """Give what two states of a skill are called; of one version with other content, what else tells them apart."""
    was, becomes = version_label(old), version_label(new)
    if old == new or was != becomes:
        return was, becomes
    if isinstance(old.pin, GitPin) and isinstance(new.pin, GitPin) and old.pin.commit != new.pin.commit:
        one, other = short_commit(old.pin.commit), short_commit(new.pin.commit)
        return f"{was} ({one})", f"{becomes} ({other})"
    return was, f"{becomes} (other content)"


def _find_newer_heads(
    constraints: ConstraintsByName, locked: Lockfile, fetchers: FetcherDispatcher
) -> dict[SkillName, str]:
    """Give what the default branch has of skills that are pinned to a commit, where it is something else."""
    found = {}
    for name, asks in constraints.items():
        for source in [ask.source for ask in asks if isinstance(ask.source, GitSource) and ask.source.kind == "rev"]:
            with suppress(NotFoundError):
                head = fetchers.pin({name: source.replace(kind="", ref="")})[name]
                skill = LockedSkill(pin=head.pin, digest=head.digest, version=head.version)
                if head.digest != locked.skills[name].digest:
                    found[name] = distinct_labels(locked.skills[name], skill)[1]
    return found


MAX_NAMES = 4


def install_mismatch_messages(scope: Scope, context: Context, names: Sequence[str] = ()) -> list[str]:
    """Say of locked skills, of these or of all, that another state of them is installed than the locked one, or none:
    that is no question to a server.
    """
    installed = load_receipt(scope.layout).skills
    said, absent = [], []
    for name, skill in sorted(read_project_files(scope, context).lockfile.skills.items()):
        there = installed.get(name)
        if names and name not in names:
            continue
        if there is None:
            absent.append(name)
        elif there.digest != skill.digest:
            locked = version_label(skill) if version_label(skill) != version_label(there) else "other content"
            said.append(f"{name}: {sanitize(version_label(there), 40)} is installed, {sanitize(locked, 40)} is locked")
    said += [f"{_format_names(absent)}: locked, and not installed"] if absent else []
    return [*said[:-1], f"{said[-1]} (`skillpm sync{scope.flag}` installs what is locked)"] if said else []


def no_update_messages(scope: Scope, context: Context, names: Sequence[str]) -> list[str]:
    """Say what keeps skills from being newer, after an update that found nothing: from what it asked for anyway."""
    papers = read_project_files(scope, context)
    locked = papers.lockfile.skills
    meant = [name for name in select_skills(papers, names) if name in locked]
    askers = {name: asks for name, asks in collect_constraints(papers, papers.lockfile).items() if name in meant}
    pinned = [name for name in sorted(askers) if find_pin_reason(askers[name])]
    with_ranges = {name: asks for name, asks in askers.items() if name not in pinned}
    offers: Mapping[SkillName, Sequence[AvailableVersion]] = {}
    with suppress(OfflineError):
        offers = fetch_versions(with_ranges, make_fetchers(scope, context), with_dates=False)
    newer = [name for name in sorted(offers) if find_newer_version(find_newest(offers[name]), locked[name], "pinned")]
    said = [f"pinned to a tag or a commit: {_format_names(pinned)}"] if pinned else []
    said += [f"held back from a newer version: {_format_names(newer)}"] if newer else []
    return [f"{'; '.join(said)} (`skillpm outdated{scope.flag}` says more)"] if said else []


def _format_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more
