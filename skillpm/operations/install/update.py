"""`update`: the newest that the manifest allows: branch heads, moved tags, the bundled version."""

from collections.abc import Collection, Sequence

from skillpm.core.names import SkillName
from skillpm.formats.lockfile import Lockfile
from skillpm.installer.actions import label
from skillpm.operations.context.project_files import Paperwork, read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.inspect.outdated import why_nothing_is_newer
from skillpm.operations.inspect.upstream import moved_tags
from skillpm.operations.inspect.yanked import yanked_among
from skillpm.operations.install.index_policy import meant_to_rise
from skillpm.operations.install.pipeline import Changed, Options, change


def update(scope: Scope, tools: Tools, names: Sequence[str], options: Options) -> Changed:
    """Lock the newest of these skills, or of all, and install it. One that is to be kept stays locked as it is."""
    papers = read_paperwork(scope, tools)
    before = papers.lockfile
    touched = options.but(
        wishes=options.wishes.but(touched=names or None, inexact=bool(names), leaves_edits=not options.wishes.force)
    )

    def upgraded(papers: Paperwork) -> Collection[SkillName]:
        meant = meant_to_rise(scope, papers, tools.settings, names)
        return [name for name in meant if name not in options.wishes.keep]

    result = change(scope, tools, touched, lambda papers: papers, upgraded)
    after = before if options.dry_run else read_paperwork(scope, tools).lockfile
    moved = tuple(moved_tags(before, after))
    for message in moved:
        tools.reporter.warning(message)
    result = _told_of_yanks(scope, tools, result, before, after, names)
    stays = () if result.changed else why_nothing_is_newer(scope, tools, names)
    return result.but(warnings=tuple(tools.reporter.warnings), notes=(*result.notes, *stays))


def _told_of_yanks(
    scope: Scope, tools: Tools, result: Changed, before: Lockfile, after: Lockfile, names: Sequence[str]
) -> Changed:
    """Give the yank as the reason of each update away from a yanked version; warn of skills that stay at theirs."""
    stay = {name: skill for name, skill in after.skills.items() if name in before.skills}
    stay = {name: skill for name, skill in stay.items() if skill.version == before.skills[name].version}
    yanked = yanked_among(scope, tools, {**before.skills, **stay})  # these, as the index says where they are now
    actions = {action.name: action for action in result.actions}
    for name, said in yanked.items():
        action = actions.get(name)
        if action is None or action.becomes == label(before.skills[name]):
            if not names or name in names:
                tools.reporter.warning(f"{name}: {said}; nothing that fits takes its place")
        elif action.becomes:
            actions[name] = action.but(reason="; ".join(filter(None, [said, action.reason])))
    return result.but(actions=tuple(actions.values()))
