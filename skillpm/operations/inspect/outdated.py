"""`outdated`: list skills with newer versions. Changes nothing but caches."""

from collections.abc import Sequence
from contextlib import suppress

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import FetchError, NotFoundError, OfflineError
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.installer.actions import version_label
from skillpm.installer.disk.layout import load_receipt
from skillpm.kinds.base import Source
from skillpm.kinds.git import GitSource
from skillpm.locking.constraints import (
    ConstraintsByName,
    collect_constraints,
    find_exclusion_reason,
    find_pin_reason,
    select_skills,
)
from skillpm.locking.moved_refs import find_moved_tags
from skillpm.locking.upgrade import resolve_upgrade
from skillpm.locking.yanked import find_yank_reason
from skillpm.operations.inspect.upstream import (
    fetch_versions,
    find_excluded_commits,
    find_newer_version,
    find_newest,
    find_unchanged_versions,
)
from skillpm.requirements.include import find_locked_includes
from skillpm.scope.effective_settings import read_effective_cutoff
from skillpm.scope.locked_sources import find_unconfigured
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles, read_project_files
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.specs.includes import EVERY_REPOSITORY, expand_includes
from skillpm.store import StoreDamaged


class OutdatedSkill(Value):
    """A skill with a newer version, with a yanked version, or whose source could not be checked."""

    name: SkillName
    current: str  # locked
    compatible: str  # what `update` would lock
    latest: str
    source: str
    reason: str = ""  # why `update` does not take the latest, or that the current version was yanked
    moved_ref: str = ""  # that its tag points at another commit now
    error: str = ""  # why the source could not be checked


def find_outdated(project: Project, names: Sequence[str] = ()) -> list[OutdatedSkill]:
    """Return the skills, of these or of all, for which a newer version exists, whether the manifest allows it or not.

    Raises `NotFoundError` for an unknown name.
    """
    files = read_project_files(project)
    locked = files.covered_lockfile
    selected = [name for name in select_skills(project.scope, files, names) if name in locked.skills]
    unconfigured = {
        name: index
        for name, index in find_unconfigured(project.scope, files, locked, project.settings).items()
        if name in selected
    }
    rows = [
        _unreachable_row(name, locked, f"its index {index} is no longer configured")
        for name, index in unconfigured.items()
    ]
    selected = [name for name in selected if name not in unconfigured]
    try:
        if not names:
            fetchers = make_fetchers(project).with_locked(locked.skills)
            files = expand_includes(project.scope, files, fetchers, (EVERY_REPOSITORY,))
        rows += _check_outdated(project, files, selected)
    except (FetchError, NotFoundError) as error:
        groups = _group_by_origin(locked, selected)
        if len(groups) == 1 and not rows and {*error.skills} >= {*selected}:
            raise
        # Check each origin by itself, so that an unreachable one affects only its own skills.
        for group in groups:
            rows += _check_group(project, files, group)
    return sorted(rows, key=lambda row: row.name)


def _check_group(project: Project, files: ProjectFiles, group: Sequence[SkillName]) -> list[OutdatedSkill]:
    """Check the skills of one origin; those that an error concerns get a row with it, and the others are checked."""
    try:
        return _check_outdated(project, files, group) if group else []
    except (FetchError, NotFoundError) as error:
        failed = {*error.skills} & {*group} or {*group}
        rows = [_unreachable_row(name, files.covered_lockfile, error.message) for name in group if name in failed]
        return rows + _check_group(project, files, [name for name in group if name not in failed])


def _unreachable_row(name: SkillName, locked: Lockfile, error: str) -> OutdatedSkill:
    skill = locked.skills[name]
    current = version_label(skill)
    source = skill.pin.summarize()
    return OutdatedSkill(
        name=name, current=current, compatible=current, latest="?", source=source, error=sanitize(error)
    )


def _group_by_origin(locked: Lockfile, names: Sequence[SkillName]) -> list[list[SkillName]]:
    """Group skills by repository, index, URL, folder or package."""
    groups: dict[str, list[SkillName]] = {}
    for name in names:
        groups.setdefault(locked.skills[name].pin.origin(), []).append(name)
    return list(groups.values())


def _check_outdated(project: Project, files: ProjectFiles, names: Sequence[SkillName]) -> list[OutdatedSkill]:
    """Check the origins of these skills and return the outdated ones."""
    locked = files.covered_lockfile
    fetchers = make_fetchers(project).with_locked(locked.skills)
    upgrade = resolve_upgrade(project.scope, files, fetchers, names)
    updated = upgrade.lockfile
    cutoff = read_effective_cutoff(project.scope, files.manifest, project.settings)
    constraints = {name: each for name, each in collect_constraints(files, updated).items() if name in names}
    versions = fetch_versions(constraints, locked.skills, fetchers, with_dates=bool(cutoff.moment))
    heads = _find_newer_heads(constraints, locked, fetchers)
    newest_versions = {name: find_newest(each) for name, each in versions.items()}
    unchanged = find_unchanged_versions(newest_versions, updated, fetchers)
    moved = find_moved_tags(locked, updated)
    failed = {SkillName(name): failure.message for failure in upgrade.failures for name in failure.names}
    rows = [_unreachable_row(name, locked, message) for name, message in failed.items()]
    excluded = find_excluded_commits(updated.skills, fetchers)
    names = [name for name in names if name not in failed]
    for name, skill in sorted((name, locked.skills[name]) for name in names if name in updated.skills):
        new = updated.skills[name]
        current, compatible = distinct_labels(skill, new)
        newest = None if name in unchanged else newest_versions.get(name)
        yank_reason = find_yank_reason(versions.get(name, ()), skill.version)
        pin_reason = find_pin_reason(constraints.get(name, ()))
        excluded_commit, exclusion = excluded.get(name, ("", ""))
        latest = heads.get(name) or excluded_commit or find_newer_version(newest, new, pin_reason) or compatible
        if {compatible, latest} != {current} or yank_reason:
            is_too_new = newest is not None and compatible != latest and cutoff.excludes(newest.published)
            reason = (
                f"{sanitize(latest, 40)} is {cutoff.description} (exclude-newer)"
                if is_too_new
                else yank_reason or exclusion
            )
            if not reason and latest != compatible:
                excluding = find_exclusion_reason(latest, constraints.get(name, ()))
                reason = excluding or _explain_command(name, new, latest)
            row = OutdatedSkill(
                name=name,
                current=current,
                compatible=compatible,
                latest=latest,
                source=skill.pin.summarize(),
                reason=reason,
                moved_ref=moved.get(name, ""),
            )
            rows.append(row)
    return rows + _find_new_and_gone(project, files, updated, names)


def _explain_command(name: SkillName, skill: LockedSkill, latest: str) -> str:
    """Return how to learn what keeps a skill from a version that its requirement allows: usually its dependencies."""
    spec = skill.pin.version_spec(name, latest)
    return spec and f"`skillpm install {shell_word(spec)} --dry-run` explains what prevents it"


def _find_new_and_gone(
    project: Project, files: ProjectFiles, updated: Lockfile, names: Sequence[SkillName]
) -> list[OutdatedSkill]:
    """Return the skills that included repositories have and that are not locked, and those they no longer have."""
    locked = files.lockfile
    new = [
        OutdatedSkill(
            name=name,
            current="",
            compatible=version_label(skill),
            latest=version_label(skill),
            source=skill.pin.summarize(),
            reason=f"new in {files.included[name].place}{_describe_refusal(project, name, skill)}",
        )
        for name, skill in updated.skills.items()
        if name in files.included and name not in locked.skills
    ]
    included = find_locked_includes(files.includes, files.manifest.skills, locked)
    gone = [
        OutdatedSkill(
            name=name,
            current=version_label(locked.skills[name]),
            compatible="",
            latest="",
            source=locked.skills[name].pin.summarize(),
            reason=f"no longer in {included[name][0].place}",
        )
        for name in names
        if name in included and name not in updated.skills
    ]
    return new + gone


def _describe_refusal(project: Project, name: SkillName, skill: LockedSkill) -> str:
    """Return why `update` would leave a new skill out, as far as its content is in the store; empty if it would not."""
    from skillpm.vetting.incoming import find_refusals  # noqa: PLC0415  (with the audit)

    with suppress(StoreDamaged):
        tree = None if skill.digest is None else project.store.read(skill.digest, skill.pin.store_variant())
        if tree is not None and (problems := find_refusals(project, name, skill, tree)):
            return f"; it would be left out: {problems[0].text}"
    return ""


def distinct_labels(old: LockedSkill, new: LockedSkill) -> tuple[str, str]:
    """Return labels of two states of a skill; if their versions are equal, with the commit or a note."""
    old_label, new_label = version_label(old), version_label(new)
    if old == new or old_label != new_label:
        return old_label, new_label
    if "" != old.pin.commit_id != new.pin.commit_id != "":
        old_commit, new_commit = short_commit(old.pin.commit_id), short_commit(new.pin.commit_id)
        return f"{old_label} ({old_commit})", f"{new_label} ({new_commit})"
    return old_label, f"{new_label} (other {'source' if old.digest == new.digest else 'content'})"


def _find_newer_heads(
    constraints: ConstraintsByName, locked: Lockfile, fetchers: FetcherDispatcher
) -> dict[SkillName, str]:
    """Return, for skills pinned to a commit, the label of the default branch's state, if its content differs."""
    sources: dict[SkillName, Source] = {
        name: constraint.source.replace(kind="", ref="")
        for name, each in constraints.items()
        for constraint in each
        if isinstance(constraint.source, GitSource) and constraint.source.kind == "rev"
    }
    labels = {}
    for name, head in fetchers.pin_available(sources).items():
        skill = LockedSkill(pin=head.pin, digest=head.digest, version=head.version)
        if head.digest != locked.skills[name].digest:
            labels[name] = distinct_labels(locked.skills[name], skill)[1]
    return labels


MAX_NAMES = 4


def install_mismatch_messages(project: Project, names: Sequence[str] = ()) -> list[str]:
    """Return messages about skills, of these or of all, of which the locked state is not the installed one."""
    receipt = load_receipt(project.layout)
    messages, missing = [], []
    for name, skill in sorted(read_project_files(project).lockfile.skills.items()):
        installed = receipt.skills.get(name)
        if names and name not in names:
            continue
        if installed is None:
            missing.append(name)
        elif installed.digest != skill.digest:
            label = version_label(installed)
            locked = version_label(skill) if version_label(skill) != label else "other content"
            messages.append(f"{name}: {sanitize(label, 40)} is installed, {sanitize(locked, 40)} is locked")
    messages += [f"{format_names(missing)}: locked, but not installed"] if missing else []
    if messages:
        messages[-1] += f" (`skillpm sync{project.scope.flag}` installs what is locked)"
    return messages


def format_names(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more


def no_update_messages(project: Project, names: Sequence[str]) -> list[str]:
    """Return messages about what keeps skills from being newer, after an update that changed nothing.

    Reads the answers that the update has already fetched.
    """
    files = read_project_files(project)
    lockfile = files.covered_lockfile
    locked = lockfile.skills
    selected = [name for name in select_skills(project.scope, files, names) if name in locked]
    constraints = {name: each for name, each in collect_constraints(files, lockfile).items() if name in selected}
    pinned = [name for name in sorted(constraints) if find_pin_reason(constraints[name])]
    with_ranges = {name: each for name, each in constraints.items() if name not in pinned}
    fetchers = make_fetchers(project)
    held_back: list[SkillName] = []
    with suppress(OfflineError):
        versions = fetch_versions(with_ranges, locked, fetchers, with_dates=False)
        newest = {name: find_newest(each) for name, each in sorted(versions.items())}
        newer = {name: each for name, each in newest.items() if find_newer_version(each, locked[name], "pinned")}
        allowed = {
            name: each
            for name, each in newer.items()
            if each is not None and not find_exclusion_reason(each.version, constraints[name])
        }
        unchanged = find_unchanged_versions(allowed, lockfile, fetchers)
        held_back = [name for name in newer if name not in unchanged]
    reasons = [f"pinned to a tag or a commit: {format_names(pinned)}"] if pinned else []
    reasons += [f"held back from a newer version: {format_names(held_back)}"] if held_back else []
    return [f"{'; '.join(reasons)} (see `skillpm outdated{project.scope.flag}`)"] if reasons else []
