"""`enable`, `disable`: switch skills off without uninstalling them, for everybody or for some agents."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillpm.agent_hosts.known_agents import find_agents
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, UsageError
from skillpm.formats.json_edit import remove_member, set_member
from skillpm.operations.agents import without_skill_changes
from skillpm.operations.context.project_files import ProjectFiles, read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.inspect.list import list_skills
from skillpm.operations.install.pipeline import ChangeOptions, ChangeResult, change


class EnableResult(Value):
    """What switching did, and what the manifest's `disabled` says now, or with `--dry-run` would."""

    change: ChangeResult
    disabled: Mapping[str, Any]


def disable(
    scope: Scope, context: Context, names: Sequence[str], agents: Sequence[str], options: ChangeOptions
) -> EnableResult:
    """Switch skills off: they stay where they are, and are in no registry, no link, no prompt.

    Raises `NotFoundError` for a name that is neither there nor asked for.
    """
    wanted = _check_names(scope, context, names, agents)

    def edit(papers: ProjectFiles) -> ProjectFiles:
        text = papers.editable_manifest
        for name in wanted:
            before = papers.manifest.disabled.get(name, [])
            after = True if before is True or not agents else sorted({*before, *agents})
            if after != before:
                text = set_member(text, ("disabled", name), after)
        return papers if text == papers.editable_manifest else papers.with_manifest_text(text)

    return _change_disabled(scope, context, options, edit)


def enable(
    scope: Scope, context: Context, names: Sequence[str], agents: Sequence[str], options: ChangeOptions
) -> EnableResult:
    """Switch skills on again. Raises `UsageError` for one agent of a skill that is off for everybody."""
    wanted = _check_names(scope, context, names, agents)

    def edit(papers: ProjectFiles) -> ProjectFiles:
        text = papers.editable_manifest
        for name in wanted:
            before = papers.manifest.disabled.get(name, [])
            if before is True and agents:
                hint = f"`skillpm enable {name}`, then `skillpm disable {name} --agent ID` for those that shall not"
                raise UsageError(f"`{name}` is disabled for everybody", hint=hint)
            left = [agent for agent in before if agent not in agents] if agents else []
            if left:
                text = set_member(text, ("disabled", name), left) if left != before else text
            else:
                text = remove_member(text, ("disabled", name))
        if text == papers.editable_manifest:
            return papers
        edited = papers.with_manifest_text(text)
        return edited if edited.manifest.disabled else papers.with_manifest_text(remove_member(text, ("disabled",)))

    return _change_disabled(scope, context, options, edit)


def _change_disabled(
    scope: Scope, context: Context, options: ChangeOptions, edit: Callable[[ProjectFiles], ProjectFiles]
) -> EnableResult:
    seen: dict[str, Any] = {}

    def watched(papers: ProjectFiles) -> ProjectFiles:
        edited = edit(papers)
        seen.clear()
        seen.update(sorted(edited.manifest.disabled.items()))
        return edited

    done = change(scope, context, without_skill_changes(options), watched)
    return EnableResult(change=done, disabled=dict(seen))


def _check_names(scope: Scope, context: Context, names: Sequence[str], agents: Sequence[str]) -> list[SkillName]:
    """Give the skills that were named, once it is sure that there are such skills and such agents."""
    find_agents(agents)
    wanted = [parse_skill_name(name) for name in names]
    papers = read_project_files(scope, context)
    listed = {skill.name for skill in list_skills(scope).skills}
    known = listed | {str(name) for name in (*papers.requirements, *papers.manifest.disabled)}
    for name in wanted:
        if name not in known:
            hint = suggestion_hint(name, sorted(known), "`skillpm list` shows what is there")
            raise NotFoundError(f"`{sanitize(name)}` is not in {scope.layout.directory}", hint=hint)
    return wanted
