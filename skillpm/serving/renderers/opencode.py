"""As OpenCode's skill tool words it, and BRUTUS, which was made after it and differs in blanks and small letters."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skillpm.core.text import show
from skillpm.serving.body_modes import Mode
from skillpm.serving.model_text import escaped, line_for_model
from skillpm.serving.renderers.base import NONE_AVAILABLE, SENTENCES, Opened, Style, Told


class OpenCode(Style):
    """The words of OpenCode."""

    name: ClassVar[str] = "opencode"

    def loaded(self, opened: Opened, mode: Mode, longest: int) -> tuple[str, bool]:
        """Give the heading, the base directory and the body."""
        body, was_cut = self._body(opened, mode, longest)
        name, folder = line_for_model(opened.card.name), line_for_model(opened.card.folder)
        return "\n".join([f"## Skill: {name}", "", f"**Base directory**: {folder}", "", body]), was_cut

    def catalogue(self, skills: Sequence[Told], mode: Mode) -> str:  # noqa: ARG002
        """Give the tool's description, which is the catalogue."""
        if not skills:
            return NONE_AVAILABLE
        parts = [*SENTENCES, "<available_skills>"]
        for told in skills:
            name, description = escaped(told.card.name), escaped(told.line)
            parts += ["  <skill>", f"    <name>{name}</name>"]
            parts += [f"    <description>{description}</description>", "  </skill>"]
        return " ".join([*parts, "</available_skills>"])

    def description(self, skills: Sequence[Told]) -> str:
        """Give the same: the description is the catalogue."""
        return self.catalogue(skills, "full")

    def not_found(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Say so, and name all that are visible."""
        return f'Skill "{show(name)}" not found. Available skills: {", ".join(map(line_for_model, visible)) or "none"}'

    def answer(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Give title, output and metadata; an error is what the host throws."""
        return {"title": title, "output": text, "metadata": dict(metadata)} if ok else {"error": text}


class Brutus(OpenCode):
    """The words of BRUTUS."""

    name: ClassVar[str] = "brutus"

    def catalogue(self, skills: Sequence[Told], mode: Mode) -> str:  # noqa: ARG002
        """Give the tool's description, which is the catalogue."""
        if not skills:
            return NONE_AVAILABLE
        listed = "".join(
            f" <skill> <name>{escaped(told.card.name)}</name> <description>{escaped(told.line)}</description> </skill>"
            for told in skills
        )
        return " ".join(SENTENCES) + f" <available_skills>{listed}</available_skills>"

    def not_found(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Say so with the name quoted as Go quotes it, and name all that are visible."""
        quoted = json.dumps(show(name), ensure_ascii=False)
        return f"skill {quoted} not found. Available skills: {', '.join(map(line_for_model, visible))}"

    def not_readable(self, name: str, why: str) -> str:  # noqa: ARG002
        """Say that the file cannot be read, and why."""
        return f"failed to load skill: {why}"
