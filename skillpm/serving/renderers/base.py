"""The words of skillpm's own style, which the others change where their loader says something else. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.registry.card import Card
from skillpm.serving.body_modes import Mode, cut, in_mode
from skillpm.serving.model_text import escaped, for_model, line_for_model, unclosing

SENTENCES = (
    "Load a skill to get detailed instructions for a specific task.",
    "Skills provide specialized knowledge and step-by-step guidance.",
    "Use this when a task matches an available skill's description.",
)
NONE_AVAILABLE = f"{SENTENCES[0]} No skills are currently available."
MOST_FILES = 20


class Told(Value):
    """A skill as it is told of: its card, and the programs it lacks here."""

    card: Card
    missing: tuple[str, ...] = ()
    description: str = ""

    @property
    def line(self) -> str:
        """The description on one line, and what is missing behind it."""
        needs = f" (not usable here: needs {', '.join(self.missing)})" if self.missing else ""
        return line_for_model(self.description) + needs


class Opened(Value):
    """A skill as it is loaded: its body, and the paths of the files beside its SKILL.md."""

    card: Card
    body: str
    files: tuple[str, ...] = ()


class Style:
    """The default style: tagged, so that it survives compaction, with everything escaped that could end a tag."""

    name: ClassVar[str] = "default"
    mode: ClassVar[Mode] = "full"
    guesses: ClassVar[bool] = False
    """Whether a part of a name that several skills have means the first of them."""
    no_registry: ClassVar[str] = ""
    """What is said where there is no skills directory; without it, that is a directory without skills."""

    def loaded(self, opened: Opened, mode: Mode, longest: int) -> tuple[str, bool]:
        """Give what an agent gets that loads a skill, and whether it was cut."""
        body, was_cut = self._body(opened, mode, longest)
        name = escaped(opened.card.name).replace('"', "&quot;")
        lines = [
            f'<skill_content name="{name}">',
            f"# Skill: {line_for_model(opened.card.name)}",
            "",
            f"Base directory: {line_for_model(opened.card.folder)}",
            "Relative paths below start there.",
            "",
            unclosing(body),
        ]
        if opened.files:
            more = len(opened.files) - MOST_FILES
            lines += ["", "<skill_files>"]
            lines += [f"<file>{escaped(path)}</file>" for path in opened.files[:MOST_FILES]]
            lines += [f"<more>{more}</more>"] if more > 0 else []
            lines += ["</skill_files>"]
        return "\n".join([*lines, "</skill_content>"]), was_cut

    def catalogue(self, skills: Sequence[Told], mode: Mode) -> str:  # noqa: ARG002  (the mode is for styles that have it)
        """Give the block that tells a model which skills there are; empty where there are none."""
        if not skills:
            return ""
        lines = ["<available_skills>"]
        for told in skills:
            lines += ["<skill>", "<name>", _attribute(told.card.name), "</name>"]
            lines += ["<description>", _attribute(told.line), "</description>"]
            lines += ["<location>", escaped(told.card.location), "</location>", "</skill>"]
        return "\n".join([*lines, "</available_skills>"])

    def description(self, skills: Sequence[Told]) -> str:
        """Give the description of the tool."""
        if not skills:
            return NONE_AVAILABLE
        listed = [f"- {line_for_model(told.card.name)}: {told.line}" for told in skills]
        return "\n".join([" ".join(SENTENCES), "", "Available skills:", *listed])

    def listing(self, skills: Sequence[Told], mode: Mode) -> str:
        """Give the answer to the action `list`."""
        return self.catalogue(skills, mode) or "No skills are currently available."

    def found(self, query: str, skills: Sequence[Told]) -> str:
        """Give the answer to the action `search`."""
        if not skills:
            return f'No skills found matching "{show(query)}"'
        lines = [
            f"- **{line_for_model(told.card.name)}** ({line_for_model(told.card.category)}): {told.line}"
            for told in skills
        ]
        return f"Found {len(skills)} skill(s):\n\n" + "\n".join(lines)

    def not_found(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Say that there is no such skill; of the visible ones, `similar` are near."""
        names = f"\n\nDid you mean: {', '.join(map(line_for_model, similar))}?" if similar else ""
        return f'Skill "{show(name)}" not found.{names}'

    def taken_for(self, name: str, found: str) -> str:
        """Say, before a skill, that it was taken for a name that no skill has; loaders of others do not."""
        return f'There is no skill "{show(name)}"; this is "{show(found)}".\n\n' if self.name == "default" else ""

    def several(self, name: str, names: Sequence[str]) -> str:
        """Say that a part of a name means several skills."""
        return f'"{show(name)}" may be one of: {", ".join(map(line_for_model, names))}'

    def no_name(self) -> str:
        """Say that a name is needed."""
        return "Error: 'name' parameter is required"

    def not_allowed(self, name: str) -> str:
        """Say that the permissions forbid a skill, whether it is there or not."""
        return f"Error: Skill '{show(name)}' is not allowed by permissions"

    def not_for_models(self, name: str) -> str:
        """Say that only people invoke a skill."""
        return f"Error: Skill '{show(name)}' is for people to invoke"

    def not_readable(self, name: str, why: str) -> str:
        """Say that a skill's file cannot be read any more."""
        return f'Failed to load skill content for "{show(name)}": {why}'

    def answer(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Give the shape in which the tool answers a program."""
        return {"ok": ok, "title": title, "text": text, "metadata": dict(metadata)}

    def _body(self, opened: Opened, mode: Mode, longest: int) -> tuple[str, bool]:
        return cut(for_model(in_mode(opened.body.strip(), mode)), longest)


def _attribute(text: str) -> str:
    """Escape as the reference library does, quotes too."""
    return escaped(text).replace('"', "&quot;").replace("'", "&#x27;")
