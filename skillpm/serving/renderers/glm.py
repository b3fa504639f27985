"""As GLM-CLI words it: every answer between two line breaks, as its source has them."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skillpm.core.text import sanitize
from skillpm.serving.body_modes import Mode
from skillpm.serving.model_text import sanitize_line
from skillpm.serving.renderers.base import OpenedSkill, RenderedSkill, Renderer

EMPTY_CATALOG = "No skills found. Create .glm/skills/<name>/SKILL.md files to define skills."
TOOL_DESCRIPTION = (
    "Load a reusable skill definition. Skills provide specialized instructions for common tasks. "
    "Use list_available=true to see what skills are available."
)


class GlmRenderer(Renderer):
    """The words of GLM-CLI."""

    name: ClassVar[str] = "glm"

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Give the name, the body, and where it was read."""
        body, was_cut = self._prepare_body(opened, mode, max_length)
        name, location = sanitize_line(opened.card.name), sanitize_line(opened.card.location)
        return f"\n**Loaded Skill: {name}**\n\n{body}\n\n---\n*Skill loaded from: {location}*\n", was_cut

    def render_catalog(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:  # noqa: ARG002
        """Give the list, each skill with its metadata."""
        if not skills:
            return EMPTY_CATALOG
        listed = "\n".join(
            f"• **{sanitize_line(told.card.name)}**: {told.summary_line}{_render_metadata(told)}" for told in skills
        )
        return f'\n**Available Skills:**\n\n{listed}\n\nTo load a skill, call: skill({{ name: "skill-name" }})\n'

    def render_tool_description(self, skills: Sequence[RenderedSkill]) -> str:  # noqa: ARG002
        """Give the description, which names no skill."""
        return TOOL_DESCRIPTION

    def not_found_message(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Say so, and how to list them."""
        return f"Error: Skill '{sanitize(name)}' not found. Use list_available=true to see available skills."

    def format_result(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Give the text alone: errors are text too."""
        return {"result": text}


def _render_metadata(skill: RenderedSkill) -> str:
    """Give the metadata that is plain text, as `(audience:maintainers, workflow:github)`."""
    noted = [f"{key}:{value}" for key, value in skill.card.metadata.items() if isinstance(value, str)]
    return f" ({sanitize_line(', '.join(noted))})" if noted else ""
