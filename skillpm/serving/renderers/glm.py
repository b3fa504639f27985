"""The style of GLM-CLI: every answer is enclosed in line breaks, as in its source."""

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
    """The wording of GLM-CLI."""

    name: ClassVar[str] = "glm"

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Return the name, the body, and the path of the file."""
        body, is_truncated = self._prepare_body(opened, mode, max_length)
        name, location = sanitize_line(opened.card.name), sanitize_line(opened.card.location)
        return f"\n**Loaded Skill: {name}**\n\n{body}\n\n---\n*Skill loaded from: {location}*\n", is_truncated

    def render_catalog(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:  # noqa: ARG002
        """Return the list of skills with their metadata."""
        if not skills:
            return EMPTY_CATALOG
        listed = "\n".join(
            f"• **{sanitize_line(skill.card.name)}**: {skill.summary_line}{_render_metadata(skill)}" for skill in skills
        )
        return f'\n**Available Skills:**\n\n{listed}\n\nTo load a skill, call: skill({{ name: "skill-name" }})\n'

    def render_tool_description(self, skills: Sequence[RenderedSkill]) -> str:  # noqa: ARG002
        """Return the fixed description, which lists no skills."""
        return TOOL_DESCRIPTION

    def not_found_message(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Return an error that says how to list the skills."""
        return f"Error: Skill '{sanitize(name)}' not found. Use list_available=true to see available skills."

    def format_result(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Return only the text; errors are text, too."""
        return {"result": text}


def _render_metadata(skill: RenderedSkill) -> str:
    """Return the textual metadata, as `(audience:maintainers, workflow:github)`."""
    pairs = [f"{key}:{value}" for key, value in skill.card.metadata.items() if isinstance(value, str)]
    return f" ({sanitize_line(', '.join(pairs))})" if pairs else ""
