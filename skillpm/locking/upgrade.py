"""Resolve an upgrade: what has the same content is kept, and a skill that has vanished upstream stops no other."""

import posixpath
from collections.abc import Collection, Mapping

from skillpm.core.git_syntax import abbreviate_url
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import MissingSkill, NotFoundError, RefusedError, SkillpmError
from skillpm.events import Reporter
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.kinds.base import of_kind
from skillpm.kinds.git import GitPin
from skillpm.locking.lock_resolution import LockPolicy, ReleaseChanged, resolve_lockfile
from skillpm.resolver.resolution import reachable_skills
from skillpm.scope.left_out import LeftOut, describe_reason, report_left_out
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope import Scope


class FailedUpdate(Value):
    """Skills that stay as they are locked, since their newest state cannot be installed, and why."""

    names: tuple[str, ...]
    message: str
    hint: str = ""


class Upgrade(Value):
    """The lockfile after an upgrade, and the skills that could not be upgraded."""

    lockfile: Lockfile
    # Without what is left out.
    files: ProjectFiles
    failures: tuple[FailedUpdate, ...] = ()
    # What is left out of includes, and what stays as it is locked.
    left_out: tuple[LeftOut, ...] = ()


class UpgradeOptions(Value):
    """How an upgrade is resolved; `lock_policy` and `selected` as in `resolve_lockfile`."""

    lock_policy: LockPolicy = LockPolicy()
    selected: Collection[str] | None = None
    # Whether skills that cannot be upgraded stay as they are locked, while the others are upgraded.
    allows_failures: bool = True
    # The names that the command has as arguments: what the user asked for is neither left out nor stays silently.
    chosen: Collection[str] = ()
    # Whether a commit that the server no longer has, as after a branch was rewritten, is replaced by one that it has,
    # even if the content is the same: another machine could not install the skill from it.
    checks_commits: bool = False


def resolve_upgrade(
    scope: Scope,
    files: ProjectFiles,
    fetchers: FetcherDispatcher,
    upgrade: Collection[SkillName],
    options: UpgradeOptions = UpgradeOptions(),  # noqa: B008  (immutable)
) -> Upgrade:
    """Return the lockfile with these skills at the newest content that the manifest allows.

    Those that no longer exist, or whose newest content is refused, stay as they are locked if the options allow that,
    and the others are upgraded. New skills of an include are left out then, and it fails for no skill that it has.
    """
    remaining, failures, before = {*upgrade}, list[FailedUpdate](), files.whole_lockfile
    left_out, held = dict[SkillName, SkillpmError](), list[LeftOut]()
    while True:
        try:
            lockfile = resolve_lockfile(scope, files, fetchers, options.lock_policy, remaining, options.selected)
        except (NotFoundError, RefusedError) as error:
            failed = {SkillName(name) for name in error.skills}
            locked = before.skills.keys()
            new = (failed & files.included.keys()) - locked
            can_stay = failed and not isinstance(error, ReleaseChanged) and failed - new <= remaining & locked
            if not (options.allows_failures and can_stay):
                raise
            parts = [part for part in error.parts if not new & {*part.skills}]
            for part in parts:
                if isinstance(part, RefusedError) and {*part.skills} <= files.included.keys() - {*options.chosen}:
                    held += [_hold(files, SkillName(name), describe_reason(name, part)) for name in part.skills]
                else:
                    failures.append(_describe_failure(scope, before, part))
            remaining -= failed
            left_out |= dict.fromkeys(new, error)
            files = _leave_out(scope, files, new, error, fetchers.reporter)
        else:
            # Breaking a skill must not give its name to another one.
            if taken := left_out.keys() & lockfile.skills.keys():
                name = min(taken)
                requirers = find_requirers(files, lockfile, taken)
                new, staying = requirers - before.skills.keys(), requirers & remaining
                if not (new or staying):
                    raise left_out[name]
                broken = NotFoundError(f"it requires `{name}`, which was left out", skills=sorted(requirers))
                held += [_hold(files, each, broken.message) for each in sorted(staying - {*options.chosen})]
                named = sorted(staying & {*options.chosen})
                failures += [FailedUpdate(names=(each,), message=broken.message) for each in named]
                remaining -= staying
                left_out |= dict.fromkeys(new, broken)
                files = _leave_out(scope, files, new, broken, fetchers.reporter)
                continue
            report_left_out(fetchers.reporter, held)
            if remaining:
                lockfile = _keep_unchanged(before, lockfile, fetchers, checks_commits=options.checks_commits)
            failures.sort(key=lambda failure: failure.names)
            return Upgrade(lockfile=lockfile, files=files, failures=tuple(failures), left_out=(*files.left_out, *held))


def _leave_out(
    scope: Scope, files: ProjectFiles, names: Collection[SkillName], error: SkillpmError, reporter: Reporter
) -> ProjectFiles:
    from skillpm.specs.includes import leave_out  # noqa: PLC0415  (few include whole repositories)

    return leave_out(scope, files, names, error, reporter)


def _keep_unchanged(
    before: Lockfile, lockfile: Lockfile, fetchers: FetcherDispatcher, *, checks_commits: bool
) -> Lockfile:
    """Return an upgraded lockfile with the old entries of the skills whose content is the same."""
    kept = find_unchanged(before, lockfile)
    if checks_commits and kept:
        pins = of_kind(GitPin, {name: skill.pin for name, skill in kept.items()})
        places = fetchers.find_commits_off_branch({name: pin for name, pin in pins.items() if pin.follows_branch})
        unsure = {name: pin for name, pin in pins.items() if places.get(name, "unknown") == "unknown"}
        lost = fetchers.find_lost_commits(unsure) if unsure else set[SkillName]()
        lost |= {name for name, place in places.items() if place in {"off", "gone"}}
        kept = {name: skill for name, skill in kept.items() if name not in lost}
    return lockfile.replace(skills={**lockfile.skills, **kept})


def _hold(files: ProjectFiles, name: SkillName, reason: str) -> LeftOut:
    return LeftOut(name=name, place=files.included[name].place, reason=reason, is_locked=True)


def find_requirers(files: ProjectFiles, after: Lockfile, names: Collection[SkillName]) -> set[SkillName]:
    """Return the skills of includes that an upgrade changes, and that require one of these skills."""
    before = files.whole_lockfile.skills
    changed = {name: source for name, source in files.included.items() if after.skills.get(name) != before.get(name)}
    return {name for name in changed if not reachable_skills({name: None}, after).isdisjoint(names)} - {*names}


def _describe_failure(scope: Scope, locked: Lockfile, error: SkillpmError) -> FailedUpdate:
    """Return an error as a failure; of a folder that vanished, with the one that has its content now."""
    message = error.message.removeprefix(f"skill {sanitize(error.skills[0])}: ")
    failure = FailedUpdate(names=error.skills, message=message, hint=error.hint)
    if not isinstance(error, MissingSkill):
        return failure
    name = SkillName(error.skills[0])
    pin = locked.skills[name].pin
    if not isinstance(pin, GitPin):
        return failure
    folders = [path for path, tree in error.trees.items() if tree == pin.tree]
    if not folders:
        there = [posixpath.basename(path) for path in error.trees]
        chosen = [other for other in there if other == name] or there
        replacement = chosen[0] if len(chosen) == 1 and is_skill_name(chosen[0]) else "NAME"
        new = scope.command("install", f"{abbreviate_url(pin.url)}@{replacement}")
        hint = f"{error.hint}; to replace it: `{new}`, then `{scope.command('uninstall', name)}`"
        return failure.replace(hint=hint)
    folder = min(folders, key=lambda path: (path.count("/"), path))
    branch = pin.ref.removeprefix("refs/heads/")
    spec = abbreviate_url(pin.url) + (f"#{branch}" if branch != pin.ref else "")
    command = scope.command("install", spec, "--path", folder, "--as", name, "--force")
    return failure.replace(
        message=f"{error.message}; the same content is in `{sanitize(folder, 200)}`",
        hint=f"to follow it, run `{command}`",
    )


def find_unchanged(before: Lockfile, after: Lockfile) -> Mapping[SkillName, LockedSkill]:
    """Return the old entries of the skills of which an upgrade changed nothing but the commit or the tag.

    A commit that changes only other files of a repository is not a newer version of a skill. Skills of which something
    else is required than before are left out.
    """
    required_before, required_after = before.requirements_by_name(), after.requirements_by_name()
    return {
        name: old
        for name, old in before.skills.items()
        if _has_same_content(old, after.skills.get(name))
        and all(value in required_before[name] for value in required_after[name])
    }


def _has_same_content(old: LockedSkill, new: LockedSkill | None) -> bool:
    """Return whether both are the same folder of a git repository, or the same layer at the same tag of a registry."""
    if new is None or new == old or (old.digest, old.dependencies) != (new.digest, new.dependencies):
        return False
    if old.signer != new.signer:  # a commit or a tag that is signed is more than the same content
        return False
    return new.pin.has_same_content(old.pin)
