"""Resolve again without what the checks of new content refuse, where an include brings it (ADR 40).

The owner of an included repository decides which skills it has, so a refusal of one must not stop the updates of all
others. A new skill is left out, and a locked one stays as it is locked: what one machine refuses never changes what is
locked already, or two machines with different rules would take turns in changing the lockfile.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from skillpm.core.names import SkillName
from skillpm.core.suggestions import list_some
from skillpm.core.values import Value
from skillpm.fetchers.verified_content import fetch_content
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.trust.audit_settings import WIDENS
from skillpm.operations.content_validation.incoming import find_problems
from skillpm.operations.content_validation.problems import IncomingSkill, Problem, read_old_content, refusal
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_fetchers import make_fetchers
from skillpm.operations.context.validation_options import ValidationOptions
from skillpm.operations.pipeline.includes import without_included
from skillpm.operations.pipeline.upgrade import Upgrade, UpgradeOptions, find_requirers, resolve_upgrade
from skillpm.resolver.resolution import reachable_skills

# Refused skills of one include with a line of their own; more share one.
MAX_LINES = 5
MAX_NAMES = 8
# The kinds of problems that `--allow` lifts, and the rules that a review lifts.
ALLOWABLE = {"audit", "widens"}
REVIEWABLE = {"reviews", WIDENS}


class RefusalOptions(Value):
    """What refuses content, and which skills are not left out."""

    # The skills that the upgrade was to upgrade.
    upgrade: Collection[SkillName] = ()
    validation: ValidationOptions = ValidationOptions()
    # The names that the command has as arguments: what the user asked for is refused or locked, but not left out.
    chosen: Collection[str] = ()
    # Whether only the lockfile is written. What lacks only a review is locked then: it has to be, to be reviewed.
    only_locks: bool = False


def leave_out_refused(
    scope: Scope,
    context: Context,
    files: ProjectFiles,
    upgraded: Upgrade,
    options: UpgradeOptions,
    refusals: RefusalOptions,
) -> Upgrade:
    """Return an upgrade without the content of includes that is refused. Reports what is left out, and what stays.

    Raises `NotTrusted` if nothing is left of an include that was not locked before, or if another skill would get the
    name of one that is left out.
    """
    remaining, left_out = {*refusals.upgrade}, dict[SkillName, list[Problem]]()
    while True:
        if taken := left_out.keys() & upgraded.lockfile.skills.keys():
            raise refusal([problem for name in sorted(taken) for problem in left_out[name]])
        refused = _find_refused(scope, context, files, upgraded.lockfile, refusals)
        affected = _find_affected(files, upgraded.lockfile, refused)
        new = affected.keys() - files.whole_lockfile.skills.keys() & files.included.keys() - {*refusals.chosen}
        held = affected.keys() & files.whole_lockfile.skills.keys() & remaining - {*refusals.chosen}
        if not (new or held):
            return upgraded.replace(left_out=tuple(sorted(left_out)))
        _require_rest(files, new, affected)
        _report_left_out(scope, context, files, {name: affected[name] for name in sorted(new)})
        for name in sorted(held):
            parts = [f"{name} stays as it is locked: {_describe(name, affected[name])}"]
            if words := _allow_words(affected[name]):
                parts.append(f"`{scope.command('update', name, *words)}` updates it")
            parts.append(f"`{scope.command('lock', '--upgrade-skill', name)}` locks it for review")
            context.reporter.warn("; ".join(parts))
        left_out |= {name: affected[name] for name in new}
        remaining -= held
        files = without_included(files, new)
        upgraded = resolve_upgrade(scope, files, make_fetchers(scope, context), remaining, options)


def _find_refused(
    scope: Scope, context: Context, files: ProjectFiles, after: Lockfile, refusals: RefusalOptions
) -> Mapping[SkillName, list[Problem]]:
    """Return the problems of new content that includes bring, as skills or as what these require."""
    before, fetchers = files.whole_lockfile, make_fetchers(scope, context).with_locked(after.skills)
    incoming = []
    for name in sorted(reachable_skills(files.included, after)):
        locked, old = after.skills[name], before.skills.get(name)
        if locked.digest is None or (old is not None and old.digest == locked.digest):
            continue
        tree = fetch_content(fetchers, name, locked, locked.digest)
        read_before = partial(read_old_content, scope, context, name, old)
        incoming.append(IncomingSkill(name=name, locked=locked, tree=tree, old=old, read_before=read_before))
    quiet = Context(settings=context.settings)  # installing it reports the warnings
    quiet.fetchers = context.fetchers
    found = dict[SkillName, list[Problem]]()
    for problem in find_problems(scope, quiet, incoming, refusals.validation):
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
        if any(include.is_locked_by(value) for value in files.whole_lockfile.include):
            continue
        names = [name for name, other in files.included.items() if other == include]
        if all(name in new for name in names):
            raise refusal([problem for name in names for problem in affected[name] if problem.skill == name])


def _report_left_out(
    scope: Scope, context: Context, files: ProjectFiles, new: Mapping[SkillName, Sequence[Problem]]
) -> None:
    for include in dict.fromkeys(files.included[name] for name in new):
        names = [name for name in new if files.included[name] == include]
        lines = [([name], _describe(name, new[name])) for name in names]
        if len(names) > MAX_LINES:
            rules = dict.fromkeys(problem.rule for name in names for problem in new[name])
            lines = [(names, f"refused by {list_some([*rules], MAX_NAMES)}")]
        for group, why in lines:
            them, label = ("it", group[0]) if len(group) == 1 else ("them", list_some(group, MAX_NAMES))
            parts = [f"left out {label} of {include.place}: {why}"]
            parts.append(f"to leave {them} out for good, add {them} to `exclude` in skills.json")
            problems = [problem for name in group for problem in new[name] if problem.rule not in REVIEWABLE]
            words = _allow_words(problems)
            if words or not problems:
                parts.append(f"`{scope.command('lock', '--upgrade', *words)}` locks {them} for review")
            context.reporter.warn("; ".join(parts))


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
