"""`enable`, `disable`: switch skills off without uninstalling them, for everybody or for some agents."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillpm.agent_hosts.known_agents import chosen_agents
from skillpm.core.names import SkillName, skill_name
from skillpm.core.suggestions import guess
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, UsageError
from skillpm.formats.json_edit import drop_member, set_member
from skillpm.operations.agents import links_only
from skillpm.operations.context.project_files import Paperwork, read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.inspect.list import list_skills
from skillpm.operations.install.pipeline import Changed, Options, change


class Switched(Value):
    """What switching did, and what the manifest's `disabled` says now, or with `--dry-run` would."""

    done: Changed
    disabled: Mapping[str, Any]


def disable(scope: Scope, tools: Tools, names: Sequence[str], agents: Sequence[str], options: Options) -> Switched:
    """Switch skills off: they stay where they are, and are in no registry, no link, no prompt.

    Raises `NotFoundError` for a name that is neither there nor asked for.
    """
    wanted = _meant(scope, tools, names, agents)

    def edit(papers: Paperwork) -> Paperwork:
        text = papers.text
        for name in wanted:
            before = papers.manifest.disabled.get(name, [])
            after = True if before is True or not agents else sorted({*before, *agents})
            if after != before:
                text = set_member(text, ("disabled", name), after)
        return papers if text == papers.text else papers.edited(text)

    return _switched(scope, tools, options, edit)


def enable(scope: Scope, tools: Tools, names: Sequence[str], agents: Sequence[str], options: Options) -> Switched:
    """Switch skills on again. Raises `UsageError` for one agent of a skill that is off for everybody."""
    wanted = _meant(scope, tools, names, agents)

    def edit(papers: Paperwork) -> Paperwork:
        text = papers.text
        for name in wanted:
            before = papers.manifest.disabled.get(name, [])
            if before is True and agents:
                hint = f"`skillpm enable {name}`, then `skillpm disable {name} --agent ID` for those that shall not"
                raise UsageError(f"`{name}` is disabled for everybody", hint=hint)
            left = [agent for agent in before if agent not in agents] if agents else []
            if left:
                text = set_member(text, ("disabled", name), left) if left != before else text
            else:
                text = drop_member(text, ("disabled", name))
        if text == papers.text:
            return papers
        edited = papers.edited(text)
        return edited if edited.manifest.disabled else papers.edited(drop_member(text, ("disabled",)))

    return _switched(scope, tools, options, edit)


def _switched(scope: Scope, tools: Tools, options: Options, edit: Callable[[Paperwork], Paperwork]) -> Switched:
    seen: dict[str, Any] = {}

    def watched(papers: Paperwork) -> Paperwork:
        edited = edit(papers)
        seen.clear()
        seen.update(sorted(edited.manifest.disabled.items()))
        return edited

    done = change(scope, tools, links_only(options), watched)
    return Switched(done=done, disabled=dict(seen))


def _meant(scope: Scope, tools: Tools, names: Sequence[str], agents: Sequence[str]) -> list[SkillName]:
    """Give the skills that were named, once it is sure that there are such skills and such agents."""
    chosen_agents(agents)
    wanted = [skill_name(name) for name in names]
    papers = read_paperwork(scope, tools)
    listed = {skill.name for skill in list_skills(scope).skills}
    known = listed | {str(name) for name in (*papers.requirements, *papers.manifest.disabled)}
    for name in wanted:
        if name not in known:
            hint = guess(name, sorted(known), "`skillpm list` shows what is there")
            raise NotFoundError(f"`{show(name)}` is not in {scope.layout.directory}", hint=hint)
    return wanted
