"""As GLM-CLI words it: every answer between two line breaks, as its source has them."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skillpm.core.text import show
from skillpm.serving.body_modes import Mode
from skillpm.serving.model_text import line_for_model
from skillpm.serving.renderers.base import Opened, Style, Told

NOTHING_FOUND = "No skills found. Create .glm/skills/<name>/SKILL.md files to define skills."
DESCRIPTION = (
    "Load a reusable skill definition. Skills provide specialized instructions for common tasks. "
    "Use list_available=true to see what skills are available."
)


class Glm(Style):
    """The words of GLM-CLI."""

    name: ClassVar[str] = "glm"

    def loaded(self, opened: Opened, mode: Mode, longest: int) -> tuple[str, bool]:
        """Give the name, the body, and where it was read."""
        body, was_cut = self._body(opened, mode, longest)
        name, location = line_for_model(opened.card.name), line_for_model(opened.card.location)
        return f"\n**Loaded Skill: {name}**\n\n{body}\n\n---\n*Skill loaded from: {location}*\n", was_cut

    def catalogue(self, skills: Sequence[Told], mode: Mode) -> str:  # noqa: ARG002
        """Give the list, each skill with its metadata."""
        if not skills:
            return NOTHING_FOUND
        listed = "\n".join(f"• **{line_for_model(told.card.name)}**: {told.line}{_noted(told)}" for told in skills)
        return f'\n**Available Skills:**\n\n{listed}\n\nTo load a skill, call: skill({{ name: "skill-name" }})\n'

    def description(self, skills: Sequence[Told]) -> str:  # noqa: ARG002
        """Give the description, which names no skill."""
        return DESCRIPTION

    def not_found(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Say so, and how to list them."""
        return f"Error: Skill '{show(name)}' not found. Use list_available=true to see available skills."

    def answer(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Give the text alone: errors are text too."""
        return {"result": text}


def _noted(told: Told) -> str:
    """Give the metadata that is plain text, as `(audience:maintainers, workflow:github)`."""
    noted = [f"{key}:{value}" for key, value in told.card.metadata.items() if isinstance(value, str)]
    return f" ({line_for_model(', '.join(noted))})" if noted else ""
