"""As SuperCode's Skill MCP tool words it: lists by category, and modes that save tokens, `compact` unless asked."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skillpm.core.text import sanitize
from skillpm.serving.body_modes import Mode
from skillpm.serving.model_text import sanitize_line
from skillpm.serving.renderers.base import INTRO_SENTENCES, OpenedSkill, RenderedSkill, Renderer

TOOL_DESCRIPTION = f"{INTRO_SENTENCES[0]}\n\n{INTRO_SENTENCES[1]}\n{INTRO_SENTENCES[2]}"


class SuperCodeRenderer(Renderer):
    """The words of SuperCode."""

    name: ClassVar[str] = "supercode"
    default_mode: ClassVar[Mode] = "compact"
    accepts_first_match: ClassVar[bool] = True
    no_registry_message: ClassVar[str] = "Skill registry not found. Run skill setup first."

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Give the body in its mode; in full, below a heading."""
        body, was_cut = self._prepare_body(opened, mode, max_length)
        return f"# Skill: {sanitize_line(opened.card.name)}\n\n{body}" if mode == "full" else body, was_cut

    def render_catalog(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:
        """Give the list by category, in the order in which the categories first appear."""
        groups: dict[str, list[RenderedSkill]] = {}
        for told in skills:
            groups.setdefault(told.card.category, []).append(told)
        lines = ["# Available Skills\n"]
        for category, members in groups.items():
            lines.append(f"## {sanitize_line(category)}\n")
            for told in members:
                lines += _render_entry(told, mode)
            lines.append("")
        return "\n".join(lines)

    def render_tool_description(self, skills: Sequence[RenderedSkill]) -> str:  # noqa: ARG002
        """Give the description, which names no skill."""
        return TOOL_DESCRIPTION

    def render_list(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:
        """Give the catalogue; with no skill it is the heading."""
        return self.render_catalog(skills, mode)

    def unreadable_message(self, name: str, reason: str) -> str:  # noqa: ARG002
        """Say that the file cannot be read."""
        return f'Failed to load skill content for "{sanitize(name)}"'

    def format_result(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Give success and data, or failure and error."""
        return {"success": True, "data": text} if ok else {"success": False, "error": text}


def _render_entry(skill: RenderedSkill, mode: Mode) -> list[str]:
    name = sanitize_line(skill.card.name)
    if mode == "toon":
        return [f"- {name}"]
    if mode == "compact":
        return [f"- **{name}**: {skill.summary_line}"]
    return [f"### {name}", skill.summary_line, f"Triggers: {sanitize_line(', '.join(skill.card.triggers))}", ""]
