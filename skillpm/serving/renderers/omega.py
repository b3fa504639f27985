"""As omega tells its model: a block of the system prompt, what is installed and what is not, and where to read more."""

from collections.abc import Sequence
from typing import ClassVar

from skillpm.serving.body_modes import Mode
from skillpm.serving.model_text import line_for_model
from skillpm.serving.renderers.base import Opened, Style, Told

INTRODUCTION = (
    "\n\nThese skills are available. Read a skill's file for its full instructions before using it. "
    "Where a tool is not installed, the file says how to install it.\n\nSkills:\n"
)


class Omega(Style):
    """The words of omega."""

    name: ClassVar[str] = "omega"

    def loaded(self, opened: Opened, mode: Mode, longest: int) -> tuple[str, bool]:
        """Give the body and nothing else: its model reads the file itself."""
        return self._body(opened, mode, longest)

    def catalogue(self, skills: Sequence[Told], mode: Mode) -> str:  # noqa: ARG002
        """Give the block; empty where there is nothing."""
        if not skills:
            return ""
        return INTRODUCTION + "".join(_listed(told) for told in skills)


def _listed(told: Told) -> str:
    status = "not installed" if told.missing else "installed"
    name, location = line_for_model(told.card.name), line_for_model(told.card.location)
    return f"- {name} [{status}]: {line_for_model(told.description)} -> Read {location}\n"
