"""The style of omega: a block of the system prompt that lists the skills, installed or not, with their paths."""

from collections.abc import Sequence
from typing import ClassVar

from skillpm.serving.body_modes import Mode
from skillpm.serving.model_text import sanitize_line
from skillpm.serving.renderers.base import OpenedSkill, RenderedSkill, Renderer

INTRODUCTION = (
    "\n\nThese skills are available. Read a skill's file for its full instructions before using it. "
    "Where a tool is not installed, the file says how to install it.\n\nSkills:\n"
)


class OmegaRenderer(Renderer):
    """The wording of omega."""

    name: ClassVar[str] = "omega"

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Return only the body: the model reads the file itself."""
        return self._prepare_body(opened, mode, max_length)

    def render_catalog(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:  # noqa: ARG002
        """Return the block; empty without skills."""
        if not skills:
            return ""
        return INTRODUCTION + "".join(_render_entry(skill) for skill in skills)


def _render_entry(skill: RenderedSkill) -> str:
    status = "not installed" if skill.missing else "installed"
    name, location = sanitize_line(skill.card.name), sanitize_line(skill.card.location)
    return f"- {name} [{status}]: {sanitize_line(skill.description)} -> Read {location}\n"
