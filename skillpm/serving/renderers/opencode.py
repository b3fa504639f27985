"""The style of OpenCode's skill tool, and of BRUTUS, which copies it with other spacing and capitalization."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skillpm.core.text import sanitize
from skillpm.serving.body_modes import Mode
from skillpm.serving.model_text import escape_markup, sanitize_line
from skillpm.serving.renderers.base import INTRO_SENTENCES, NO_SKILLS_MESSAGE, OpenedSkill, RenderedSkill, Renderer


class OpenCodeRenderer(Renderer):
    """The wording of OpenCode."""

    name: ClassVar[str] = "opencode"

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Return a heading, the base directory and the body."""
        body, is_truncated = self._prepare_body(opened, mode, max_length)
        name, folder = sanitize_line(opened.card.name), sanitize_line(opened.card.folder)
        return "\n".join([f"## Skill: {name}", "", f"**Base directory**: {folder}", "", body]), is_truncated

    def render_catalog(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:  # noqa: ARG002
        """Return the tool's description, which is the catalog."""
        if not skills:
            return NO_SKILLS_MESSAGE
        parts = [*INTRO_SENTENCES, "<available_skills>"]
        for skill in skills:
            name, description = escape_markup(skill.card.name), escape_markup(skill.summary_line)
            parts += ["  <skill>", f"    <name>{name}</name>"]
            parts += [f"    <description>{description}</description>", "  </skill>"]
        return " ".join([*parts, "</available_skills>"])

    def render_tool_description(self, skills: Sequence[RenderedSkill]) -> str:
        """Return the catalog."""
        return self.render_catalog(skills, "full")

    def not_found_message(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Return an error that lists all visible skills."""
        return (
            f'Skill "{sanitize(name)}" not found. Available skills: {", ".join(map(sanitize_line, visible)) or "none"}'
        )

    def format_result(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Return title, output and metadata; an error is thrown by the host."""
        return {"title": title, "output": text, "metadata": dict(metadata)} if ok else {"error": text}


class BrutusRenderer(OpenCodeRenderer):
    """The wording of BRUTUS."""

    name: ClassVar[str] = "brutus"

    def render_catalog(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:  # noqa: ARG002
        """Return the tool's description, which is the catalog."""
        if not skills:
            return NO_SKILLS_MESSAGE
        listed = "".join(
            f" <skill> <name>{escape_markup(skill.card.name)}</name>"
            f" <description>{escape_markup(skill.summary_line)}</description> </skill>"
            for skill in skills
        )
        return " ".join(INTRO_SENTENCES) + f" <available_skills>{listed}</available_skills>"

    def not_found_message(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Return an error that quotes the name as Go does and lists all visible skills."""
        quoted = json.dumps(sanitize(name), ensure_ascii=False)
        return f"skill {quoted} not found. Available skills: {', '.join(map(sanitize_line, visible))}"

    def unreadable_message(self, name: str, reason: str) -> str:  # noqa: ARG002
        """Return an error with the reason."""
        return f"failed to load skill: {reason}"
