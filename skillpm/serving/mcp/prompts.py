"""Skills as prompts, which users start by name (`/code-review`), and completions of what they type."""

from collections.abc import Sequence
from itertools import islice

import mcp_types as types

from skillpm.core.names import SKILL_FILE
from skillpm.errors import NotFoundError, SkillpmError
from skillpm.registry.card import Card
from skillpm.registry.entry import is_for_models_only
from skillpm.serving.mcp.resources import find_visible
from skillpm.serving.renderers.model_text import sanitize_line
from skillpm.serving.service import SkillService
from skillpm.serving.skill_files import list_skill_files

ARGUMENT = "arguments"
FILE_TEMPLATE = types.ResourceTemplate(
    uri_template="skill://{name}/{+path}", name="skill-file", description="A file of a skill, such as its SKILL.md."
)
# The protocol allows no more in one answer.
MAX_COMPLETIONS = 100


def build_prompts(service: SkillService, cards: Sequence[Card]) -> list[types.Prompt]:
    """Return a prompt for each skill that users may start: not those with `user-invocable: false`."""
    prompts = (_build_prompt(service, card) for card in cards)
    return [prompt for prompt in prompts if prompt is not None]


def get_prompt(service: SkillService, name: str, arguments: str | None) -> types.GetPromptResult:
    """Return the instructions of a skill as the message of a user.

    Raises what `SkillService.load` raises, and `NotFoundError` for a skill that is no prompt.
    """
    card = find_visible(service, name)
    if card is None or _build_prompt(service, card) is None:
        raise NotFoundError(f"no prompt named {sanitize_line(name)[:80]}")
    loaded = service.load(name, arguments=arguments)
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=loaded.text))
    return types.GetPromptResult(description=sanitize_line(card.description) or None, messages=[message])


def complete(service: SkillService, params: types.CompleteRequestParams) -> types.Completion:
    """Return how the value of an argument of the template for files may go on."""
    begun, known = params.argument.value, (params.context.arguments if params.context else None) or {}
    values: Sequence[str] = ()
    if isinstance(params.ref, types.ResourceTemplateReference) and params.ref.uri == FILE_TEMPLATE.uri_template:
        if params.argument.name == "name":
            values = [*service.visible]
        elif params.argument.name == "path" and (card := service.visible.get(known.get("name", ""))) is not None:
            values = [SKILL_FILE, *list_skill_files(card)]
    matching = [value for value in values if value.startswith(begun)]
    first = list(islice(matching, MAX_COMPLETIONS))
    return types.Completion(values=first, total=len(matching), has_more=len(matching) > len(first))


def _build_prompt(service: SkillService, card: Card) -> types.Prompt | None:
    try:
        skill = service.registry.read(card)
    except SkillpmError:
        return None
    if is_for_models_only(skill):
        return None
    hint = skill.extra.get("argument-hint")
    argument = types.PromptArgument(
        name=ARGUMENT,
        description=sanitize_line(hint) if isinstance(hint, str) else "What the skill needs to know.",
        required=False,
    )
    return types.Prompt(name=card.name, description=sanitize_line(card.description) or None, arguments=[argument])
