"""The style of SuperCode's skill tool: lists by category, and modes that save tokens, `compact` by default."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skillpm.core.text import sanitize
from skillpm.serving.body_modes import Mode
from skillpm.serving.model_text import sanitize_line
from skillpm.serving.renderers.base import INTRO_SENTENCES, OpenedSkill, RenderedSkill, Renderer

TOOL_DESCRIPTION = f"{INTRO_SENTENCES[0]}\n\n{INTRO_SENTENCES[1]}\n{INTRO_SENTENCES[2]}"


class SuperCodeRenderer(Renderer):
    """The wording of SuperCode."""

    name: ClassVar[str] = "supercode"
    default_mode: ClassVar[Mode] = "compact"
    accepts_first_match: ClassVar[bool] = True
    no_registry_message: ClassVar[str] = "Skill registry not found. Run skill setup first."

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Return the body in its mode; in full mode with a heading."""
        body, is_truncated = self._prepare_body(opened, mode, max_length)
        return f"# Skill: {sanitize_line(opened.card.name)}\n\n{body}" if mode == "full" else body, is_truncated

    def render_catalog(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:
        """Return the skills by category, in the order in which the categories first occur."""
        groups: dict[str, list[RenderedSkill]] = {}
        for skill in skills:
            groups.setdefault(skill.card.category, []).append(skill)
        lines = ["# Available Skills\n"]
        for category, members in groups.items():
            lines.append(f"## {sanitize_line(category)}\n")
            for skill in members:
                lines += _render_entry(skill, mode)
            lines.append("")
        return "\n".join(lines)

    def render_tool_description(self, skills: Sequence[RenderedSkill]) -> str:  # noqa: ARG002
        """Return the fixed description, which lists no skills."""
        return TOOL_DESCRIPTION

    def render_list(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:
        """Return the catalog; without skills only its heading."""
        return self.render_catalog(skills, mode)

    def unreadable_message(self, name: str, reason: str) -> str:  # noqa: ARG002
        """Return an error without the reason."""
        return f'Failed to load skill content for "{sanitize(name)}"'

    def format_result(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Return success and data, or failure and error."""
        return {"success": True, "data": text} if ok else {"success": False, "error": text}


def _render_entry(skill: RenderedSkill, mode: Mode) -> list[str]:
    name = sanitize_line(skill.card.name)
    if mode == "toon":
        return [f"- {name}"]
    if mode == "compact":
        return [f"- **{name}**: {skill.summary_line}"]
    return [f"### {name}", skill.summary_line, f"Triggers: {sanitize_line(', '.join(skill.card.triggers))}", ""]
