"""Resolve again without what the checks of new content refuse, where an include brings it (ADR 35).

The owner of an included repository decides which skills it has, so a refusal of one must not stop the updates of all
others. A new skill is left out, and a locked one stays as it is locked: what one machine refuses never changes what is
locked already, or two machines with different rules would take turns in changing the lockfile.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.fetchers.verified_content import fetch_content
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.trust.audit_settings import WIDENS
from skillpm.locking.upgrade import Upgrade, UpgradeOptions, find_requirers, resolve_upgrade
from skillpm.resolver.resolution import reachable_skills
from skillpm.scope.left_out import LeftOut, exclude_option, include_command, report_left_out
from skillpm.scope.project import Project, Session
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope import Scope
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.specs.includes import is_locked_include, without_included
from skillpm.vetting.incoming import find_problems
from skillpm.vetting.problems import IncomingSkill, Problem, read_old_content, refusal
from skillpm.vetting.validation_options import ValidationOptions

# The kinds of problems that `--allow` lifts, and the rules that a review lifts.
ALLOWABLE = {"audit", "widens"}
REVIEWABLE = {"reviews", WIDENS}


class RefusalOptions(Value):
    """What refuses content, and which skills are not left out."""

    # The skills that the upgrade was to upgrade.
    upgrade: Collection[SkillName] = ()
    validation: ValidationOptions = ValidationOptions()
    # Whether only the lockfile is written. What lacks only a review is locked then: it has to be, to be reviewed.
    only_locks: bool = False


def leave_out_refused(
    project: Project, upgraded: Upgrade, options: UpgradeOptions, refusals: RefusalOptions
) -> Upgrade:
    """Return an upgrade without the content of includes that is refused. Reports what is left out, and what stays.

    Raises `NotTrusted` if nothing is left of an include that was not locked before, or if another skill would get the
    name of one that is left out.
    """
    remaining, refused_before = {*refusals.upgrade}, dict[SkillName, list[Problem]]()
    held = list[LeftOut]()
    while True:
        files = upgraded.files
        if taken := refused_before.keys() & upgraded.lockfile.skills.keys():
            raise refusal([problem for name in sorted(taken) for problem in refused_before[name]])
        refused = _find_refused(project, files, upgraded.lockfile, refusals)
        affected = _find_affected(files, upgraded.lockfile, refused)
        new = affected.keys() - files.whole_lockfile.skills.keys() & files.included.keys() - {*options.chosen}
        staying = affected.keys() & files.whole_lockfile.skills.keys() & remaining - {*options.chosen}
        if not (new or staying):
            report_left_out(project.reporter, held)
            return upgraded.replace(left_out=(*upgraded.left_out, *held))
        _require_rest(files, new, affected)
        left_out = [_leave_out(project.scope, files, name, affected[name]) for name in sorted(new)]
        report_left_out(project.reporter, left_out)
        held += [_hold(project.scope, files, name, affected[name]) for name in sorted(staying)]
        refused_before |= {name: affected[name] for name in new}
        remaining -= staying
        files = without_included(files, new).replace(left_out=(*files.left_out, *left_out))
        upgraded = resolve_upgrade(project.scope, files, make_fetchers(project), remaining, options)


def _find_refused(
    project: Project, files: ProjectFiles, after: Lockfile, refusals: RefusalOptions
) -> Mapping[SkillName, list[Problem]]:
    """Return the problems of new content that includes bring, as skills or as what these require."""
    before, fetchers = files.whole_lockfile, make_fetchers(project).with_locked(after.skills)
    incoming = []
    for name in sorted(reachable_skills(files.included, after)):
        locked, old = after.skills[name], before.skills.get(name)
        if locked.digest is None or (old is not None and old.digest == locked.digest):
            continue
        tree = fetch_content(fetchers, name, locked, locked.digest)
        read_before = partial(read_old_content, project, name, old)
        incoming.append(IncomingSkill(name=name, locked=locked, tree=tree, old=old, read_before=read_before))
    quiet = Session(settings=project.settings)  # installing it reports the warnings
    quiet.fetchers = project.session.fetchers
    found = dict[SkillName, list[Problem]]()
    for problem in find_problems(Project(project.scope, quiet), incoming, refusals.validation):
        if problem.blocks and not (refusals.only_locks and problem.rule in REVIEWABLE):
            found.setdefault(problem.skill, []).append(problem)
    return found


def _find_affected(
    files: ProjectFiles, after: Lockfile, refused: Mapping[SkillName, list[Problem]]
) -> dict[SkillName, list[Problem]]:
    """Return what is refused, and the changed skills of includes that require it, each with the problems."""
    affected = {name: [*problems] for name, problems in refused.items()}
    for name in find_requirers(files, after, refused):
        needed = reachable_skills({name: None}, after)
        affected[name] = [problem for other in sorted(needed & refused.keys()) for problem in refused[other]]
    return affected


def _require_rest(
    files: ProjectFiles, new: Collection[SkillName], affected: Mapping[SkillName, Sequence[Problem]]
) -> None:
    """Raise `NotTrusted` if a new include has nothing but refused skills."""
    for include in dict.fromkeys(files.included[name] for name in new):
        names = [name for name, other in files.included.items() if other == include]
        if not is_locked_include(files, include) and all(name in new for name in names):
            raise refusal([problem for name in names for problem in affected[name] if problem.skill == name])


def _leave_out(scope: Scope, files: ProjectFiles, name: SkillName, problems: Sequence[Problem]) -> LeftOut:
    include, source = files.included[name], files.requirements[name]
    blocking = [problem for problem in problems if problem.rule not in REVIEWABLE]
    words = _allow_words(blocking)
    options = [exclude_option(scope, include, name)]
    if words:
        options.insert(0, (include_command(scope, include, *words), "takes it"))
    elif not blocking:
        options.insert(0, (scope.command("lock", "--upgrade"), "locks it for review"))
    return LeftOut(
        name=name,
        place=include.place,
        paths=(source.repository_path,) if source.repository_path else (),
        reason=_describe(name, problems),
        options=tuple(options),
    )


def _hold(scope: Scope, files: ProjectFiles, name: SkillName, problems: Sequence[Problem]) -> LeftOut:
    words = _allow_words(problems)
    options = [(scope.command("update", name, *words), "updates it")] if words else []
    options.append((scope.command("lock", "--upgrade-skill", name), "locks it for review"))
    include = files.included.get(name)
    return LeftOut(
        name=name,
        place=include.place if include else "",
        reason=_describe(name, problems),
        options=tuple(options),
        is_locked=True,
    )


def _describe(name: SkillName, problems: Sequence[Problem]) -> str:
    """Return the first reason, and the number of the others."""
    first, more = problems[0], len(problems) - 1
    what = first.text if first.skill == name else f"it requires `{first.skill}`, which is refused: {first.text}"
    return f"{what}{f'; and {more} more' if more else ''}"


def _allow_words(problems: Sequence[Problem]) -> list[str]:
    """Return the options that accept these problems; empty if no option does."""
    if any(problem.kind not in ALLOWABLE for problem in problems):
        return []
    return [word for rule in dict.fromkeys(problem.rule for problem in problems) for word in ("--allow", rule)]
