"""As OpenCode's skill tool words it, and BRUTUS, which was made after it and differs in blanks and small letters."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skillpm.core.text import sanitize
from skillpm.serving.body_modes import Mode
from skillpm.serving.model_text import escape_markup, sanitize_line
from skillpm.serving.renderers.base import INTRO_SENTENCES, NO_SKILLS_MESSAGE, OpenedSkill, RenderedSkill, Renderer


class OpenCodeRenderer(Renderer):
    """The words of OpenCode."""

    name: ClassVar[str] = "opencode"

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Give the heading, the base directory and the body."""
        body, was_cut = self._prepare_body(opened, mode, max_length)
        name, folder = sanitize_line(opened.card.name), sanitize_line(opened.card.folder)
        return "\n".join([f"## Skill: {name}", "", f"**Base directory**: {folder}", "", body]), was_cut

    def render_catalog(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:  # noqa: ARG002
        """Give the tool's description, which is the catalogue."""
        if not skills:
            return NO_SKILLS_MESSAGE
        parts = [*INTRO_SENTENCES, "<available_skills>"]
        for told in skills:
            name, description = escape_markup(told.card.name), escape_markup(told.summary_line)
            parts += ["  <skill>", f"    <name>{name}</name>"]
            parts += [f"    <description>{description}</description>", "  </skill>"]
        return " ".join([*parts, "</available_skills>"])

    def render_tool_description(self, skills: Sequence[RenderedSkill]) -> str:
        """Give the same: the description is the catalogue."""
        return self.render_catalog(skills, "full")

    def not_found_message(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Say so, and name all that are visible."""
        return (
            f'Skill "{sanitize(name)}" not found. Available skills: {", ".join(map(sanitize_line, visible)) or "none"}'
        )

    def format_result(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Give title, output and metadata; an error is what the host throws."""
        return {"title": title, "output": text, "metadata": dict(metadata)} if ok else {"error": text}


class BrutusRenderer(OpenCodeRenderer):
    """The words of BRUTUS."""

    name: ClassVar[str] = "brutus"

    def render_catalog(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:  # noqa: ARG002
        """Give the tool's description, which is the catalogue."""
        if not skills:
            return NO_SKILLS_MESSAGE
        listed = "".join(
            f" <skill> <name>{escape_markup(told.card.name)}</name> <description>{escape_markup(told.summary_line)}</description> </skill>"
            for told in skills
        )
        return " ".join(INTRO_SENTENCES) + f" <available_skills>{listed}</available_skills>"

    def not_found_message(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Say so with the name quoted as Go quotes it, and name all that are visible."""
        quoted = json.dumps(sanitize(name), ensure_ascii=False)
        return f"skill {quoted} not found. Available skills: {', '.join(map(sanitize_line, visible))}"

    def unreadable_message(self, name: str, reason: str) -> str:  # noqa: ARG002
        """Say that the file cannot be read, and why."""
        return f"failed to load skill: {reason}"
