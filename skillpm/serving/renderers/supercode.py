"""As SuperCode's Skill MCP tool words it: lists by category, and modes that save tokens, `compact` unless asked."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skillpm.core.text import show
from skillpm.serving.body_modes import Mode
from skillpm.serving.model_text import line_for_model
from skillpm.serving.renderers.base import SENTENCES, Opened, Style, Told

DESCRIPTION = f"{SENTENCES[0]}\n\n{SENTENCES[1]}\n{SENTENCES[2]}"


class SuperCode(Style):
    """The words of SuperCode."""

    name: ClassVar[str] = "supercode"
    mode: ClassVar[Mode] = "compact"
    guesses: ClassVar[bool] = True
    no_registry: ClassVar[str] = "Skill registry not found. Run skill setup first."

    def loaded(self, opened: Opened, mode: Mode, longest: int) -> tuple[str, bool]:
        """Give the body in its mode; in full, below a heading."""
        body, was_cut = self._body(opened, mode, longest)
        return f"# Skill: {line_for_model(opened.card.name)}\n\n{body}" if mode == "full" else body, was_cut

    def catalogue(self, skills: Sequence[Told], mode: Mode) -> str:
        """Give the list by category, in the order in which the categories first appear."""
        groups: dict[str, list[Told]] = {}
        for told in skills:
            groups.setdefault(told.card.category, []).append(told)
        lines = ["# Available Skills\n"]
        for category, members in groups.items():
            lines.append(f"## {line_for_model(category)}\n")
            for told in members:
                lines += _listed(told, mode)
            lines.append("")
        return "\n".join(lines)

    def description(self, skills: Sequence[Told]) -> str:  # noqa: ARG002
        """Give the description, which names no skill."""
        return DESCRIPTION

    def listing(self, skills: Sequence[Told], mode: Mode) -> str:
        """Give the catalogue; with no skill it is the heading."""
        return self.catalogue(skills, mode)

    def not_readable(self, name: str, why: str) -> str:  # noqa: ARG002
        """Say that the file cannot be read."""
        return f'Failed to load skill content for "{show(name)}"'

    def answer(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Give success and data, or failure and error."""
        return {"success": True, "data": text} if ok else {"success": False, "error": text}


def _listed(told: Told, mode: Mode) -> list[str]:
    name = line_for_model(told.card.name)
    if mode == "toon":
        return [f"- {name}"]
    if mode == "compact":
        return [f"- **{name}**: {told.line}"]
    return [f"### {name}", told.line, f"Triggers: {line_for_model(', '.join(told.card.triggers))}", ""]
