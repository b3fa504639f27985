"""`update`: the newest that the manifest allows: branch heads, moved tags, the bundled version."""

from collections.abc import Collection, Sequence

from skillpm.core.names import SkillName
from skillpm.formats.lockfile import Lockfile
from skillpm.installer.actions import version_label
from skillpm.operations.context.project_files import ProjectFiles, read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.inspect.outdated import no_update_messages
from skillpm.operations.inspect.upstream import moved_tag_messages
from skillpm.operations.inspect.yanked import find_yanked
from skillpm.operations.install.index_policy import select_upgrades
from skillpm.operations.install.pipeline import ChangeOptions, ChangeResult, change


def update(scope: Scope, context: Context, names: Sequence[str], options: ChangeOptions) -> ChangeResult:
    """Lock the newest of these skills, or of all, and install it. One that is to be kept stays locked as it is."""
    papers = read_project_files(scope, context)
    before = papers.lockfile
    touched = options.replace(
        install=options.install.replace(
            selected=names or None, inexact=bool(names), tolerates_edits=not options.install.force
        )
    )

    def upgraded(papers: ProjectFiles) -> Collection[SkillName]:
        meant = select_upgrades(scope, papers, context.settings, names)
        return [name for name in meant if name not in options.install.keep]

    result = change(scope, context, touched, lambda papers: papers, upgraded)
    after = before if options.dry_run else read_project_files(scope, context).lockfile
    moved = tuple(moved_tag_messages(before, after))
    for message in moved:
        context.reporter.warn(message)
    result = _explain_yanked(scope, context, result, before, after, names)
    stays = () if result.is_changed else no_update_messages(scope, context, names)
    return result.replace(warnings=tuple(context.reporter.warnings), notes=(*result.notes, *stays))


def _explain_yanked(
    scope: Scope, context: Context, result: ChangeResult, before: Lockfile, after: Lockfile, names: Sequence[str]
) -> ChangeResult:
    """Give the yank as the reason of each update away from a yanked version; warn of skills that stay at theirs."""
    stay = {name: skill for name, skill in after.skills.items() if name in before.skills}
    stay = {name: skill for name, skill in stay.items() if skill.version == before.skills[name].version}
    yanked = find_yanked(scope, context, {**before.skills, **stay})  # these, as the index says where they are now
    actions = {action.name: action for action in result.actions}
    for name, said in yanked.items():
        action = actions.get(name)
        if action is None or action.new_version == version_label(before.skills[name]):
            if not names or name in names:
                context.reporter.warn(f"{name}: {said}; nothing that fits takes its place")
        elif action.new_version:
            actions[name] = action.replace(reason="; ".join(filter(None, [said, action.reason])))
    return result.replace(actions=tuple(actions.values()))
