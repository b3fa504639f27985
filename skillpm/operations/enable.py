"""`enable`, `disable`: disable skills without uninstalling them, for all agents or some."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillpm.agent_hosts.known_agents import find_agents
from skillpm.change.change import ChangeOptions, ChangeResult, change
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, UsageError
from skillpm.formats.editing.json_edit import remove_member, set_member
from skillpm.operations.agents import without_skill_changes
from skillpm.operations.inspect.list import list_skills
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles, read_project_files


class EnableResult(Value):
    """The result, and the manifest's `disabled` after the change."""

    change: ChangeResult
    disabled: Mapping[str, Any]


def disable(project: Project, names: Sequence[str], agents: Sequence[str], options: ChangeOptions) -> EnableResult:
    """Disable skills: they stay installed, but are in no registry, link or prompt.

    Raises `NotFoundError` for a name that is neither installed nor in the manifest.
    """
    selected = _check_names(project, names, agents)

    def edit(files: ProjectFiles) -> ProjectFiles:
        text = files.editable_manifest
        for name in selected:
            before = files.manifest.disabled.get(name, [])
            after = True if before is True or not agents else sorted({*before, *agents})
            if after != before:
                text = set_member(text, ("disabled", name), after)
        return files if text == files.editable_manifest else files.with_manifest_text(text)

    return _change_disabled(project, options, edit)


def enable(project: Project, names: Sequence[str], agents: Sequence[str], options: ChangeOptions) -> EnableResult:
    """Enable skills again. Raises `UsageError` for one agent of a skill that is disabled for all."""
    selected = _check_names(project, names, agents)

    def edit(files: ProjectFiles) -> ProjectFiles:
        text = files.editable_manifest
        for name in selected:
            before = files.manifest.disabled.get(name, [])
            if before is True and agents:
                enable_all, disable_one = (
                    project.command("enable", name),
                    project.command("disable", name, "--agent", "ID"),
                )
                hint = f"run `{enable_all}`, then `{disable_one}` for each agent that should not see it"
                raise UsageError(f"`{name}` is disabled for all agents", hint=hint)
            remaining = [agent for agent in before if agent not in agents] if agents else []
            if remaining:
                text = set_member(text, ("disabled", name), remaining) if remaining != before else text
            else:
                text = remove_member(text, ("disabled", name))
        if text == files.editable_manifest:
            return files
        edited = files.with_manifest_text(text)
        return edited if edited.manifest.disabled else files.with_manifest_text(remove_member(text, ("disabled",)))

    return _change_disabled(project, options, edit)


def _change_disabled(
    project: Project, options: ChangeOptions, edit: Callable[[ProjectFiles], ProjectFiles]
) -> EnableResult:
    disabled: dict[str, Any] = {}

    def edit_and_record(files: ProjectFiles) -> ProjectFiles:
        edited = edit(files)
        disabled.clear()
        disabled.update(sorted(edited.manifest.disabled.items()))
        return edited

    result = change(project, without_skill_changes(options), edit_and_record)
    return EnableResult(change=result, disabled=dict(disabled))


def _check_names(project: Project, names: Sequence[str], agents: Sequence[str]) -> list[SkillName]:
    """Return the validated names. Raises `NotFoundError` for unknown skills and agents."""
    find_agents(agents)
    parsed = [parse_skill_name(name) for name in names]
    files = read_project_files(project)
    listed = {skill.name for skill in list_skills(project.scope).skills}
    known = listed | {str(name) for name in (*files.requirements, *files.manifest.disabled)}
    for name in parsed:
        if name not in known:
            hint = suggestion_hint(name, sorted(known), f"run `{project.command('list')}` to see the available skills")
            raise NotFoundError(f"`{sanitize(name)}` is not in {project.layout.directory}", hint=hint)
    return parsed
