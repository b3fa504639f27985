"""The words of skillpm's own style, which the others change where their loader says something else. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.registry.card import Card
from skillpm.serving.body_modes import Mode, apply_mode, truncate
from skillpm.serving.model_text import escape_closing_tags, escape_markup, sanitize_line, sanitize_text

INTRO_SENTENCES = (
    "Load a skill to get detailed instructions for a specific task.",
    "Skills provide specialized knowledge and step-by-step guidance.",
    "Use this when a task matches an available skill's description.",
)
NO_SKILLS_MESSAGE = f"{INTRO_SENTENCES[0]} No skills are currently available."
MAX_LISTED_FILES = 20


class RenderedSkill(Value):
    """A skill as it is told of: its card, and the programs it lacks here."""

    card: Card
    missing: tuple[str, ...] = ()
    description: str = ""

    @property
    def summary_line(self) -> str:
        """The description on one line, and what is missing behind it."""
        needs = f" (not usable here: needs {', '.join(self.missing)})" if self.missing else ""
        return sanitize_line(self.description) + needs


class OpenedSkill(Value):
    """A skill as it is loaded: its body, and the paths of the files beside its SKILL.md."""

    card: Card
    body: str
    files: tuple[str, ...] = ()


class Renderer:
    """The default style: tagged, so that it survives compaction, with everything escaped that could end a tag."""

    name: ClassVar[str] = "default"
    default_mode: ClassVar[Mode] = "full"
    accepts_first_match: ClassVar[bool] = False
    """Whether a part of a name that several skills have means the first of them."""
    no_registry_message: ClassVar[str] = ""
    """What is said where there is no skills directory; without it, that is a directory without skills."""

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Give what an agent gets that loads a skill, and whether it was cut."""
        body, was_cut = self._prepare_body(opened, mode, max_length)
        name = escape_markup(opened.card.name).replace('"', "&quot;")
        lines = [
            f'<skill_content name="{name}">',
            f"# Skill: {sanitize_line(opened.card.name)}",
            "",
            f"Base directory: {sanitize_line(opened.card.folder)}",
            "Relative paths below start there.",
            "",
            escape_closing_tags(body),
        ]
        if opened.files:
            more = len(opened.files) - MAX_LISTED_FILES
            lines += ["", "<skill_files>"]
            lines += [f"<file>{escape_markup(path)}</file>" for path in opened.files[:MAX_LISTED_FILES]]
            lines += [f"<more>{more}</more>"] if more > 0 else []
            lines += ["</skill_files>"]
        return "\n".join([*lines, "</skill_content>"]), was_cut

    def render_catalog(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:  # noqa: ARG002  (the mode is for styles that have it)
        """Give the block that tells a model which skills there are; empty where there are none."""
        if not skills:
            return ""
        lines = ["<available_skills>"]
        for told in skills:
            lines += ["<skill>", "<name>", _escape_attribute(told.card.name), "</name>"]
            lines += ["<description>", _escape_attribute(told.summary_line), "</description>"]
            lines += ["<location>", escape_markup(told.card.location), "</location>", "</skill>"]
        return "\n".join([*lines, "</available_skills>"])

    def render_tool_description(self, skills: Sequence[RenderedSkill]) -> str:
        """Give the description of the tool."""
        if not skills:
            return NO_SKILLS_MESSAGE
        listed = [f"- {sanitize_line(told.card.name)}: {told.summary_line}" for told in skills]
        return "\n".join([" ".join(INTRO_SENTENCES), "", "Available skills:", *listed])

    def render_list(self, skills: Sequence[RenderedSkill], mode: Mode) -> str:
        """Give the answer to the action `list`."""
        return self.render_catalog(skills, mode) or "No skills are currently available."

    def render_search_results(self, query: str, skills: Sequence[RenderedSkill]) -> str:
        """Give the answer to the action `search`."""
        if not skills:
            return f'No skills found matching "{sanitize(query)}"'
        lines = [
            f"- **{sanitize_line(told.card.name)}** ({sanitize_line(told.card.category)}): {told.summary_line}"
            for told in skills
        ]
        return f"Found {len(skills)} skill(s):\n\n" + "\n".join(lines)

    def not_found_message(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Say that there is no such skill; of the visible ones, `similar` are near."""
        names = f"\n\nDid you mean: {', '.join(map(sanitize_line, similar))}?" if similar else ""
        return f'Skill "{sanitize(name)}" not found.{names}'

    def partial_match_message(self, requested: str, found: str) -> str:
        """Say, before a skill, that it was taken for a name that no skill has; loaders of others do not."""
        return (
            f'There is no skill "{sanitize(requested)}"; this is "{sanitize(found)}".\n\n'
            if self.name == "default"
            else ""
        )

    def ambiguous_name_message(self, name: str, names: Sequence[str]) -> str:
        """Say that a part of a name means several skills."""
        return f'"{sanitize(name)}" may be one of: {", ".join(map(sanitize_line, names))}'

    def missing_name_message(self) -> str:
        """Say that a name is needed."""
        return "Error: 'name' parameter is required"

    def forbidden_message(self, name: str) -> str:
        """Say that the permissions forbid a skill, whether it is there or not."""
        return f"Error: Skill '{sanitize(name)}' is not allowed by permissions"

    def user_only_message(self, name: str) -> str:
        """Say that only people invoke a skill."""
        return f"Error: Skill '{sanitize(name)}' is for people to invoke"

    def unreadable_message(self, name: str, reason: str) -> str:
        """Say that a skill's file cannot be read any more."""
        return f'Failed to load skill content for "{sanitize(name)}": {reason}'

    def format_result(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Give the shape in which the tool answers a program."""
        return {"ok": ok, "title": title, "text": text, "metadata": dict(metadata)}

    def _prepare_body(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        return truncate(sanitize_text(apply_mode(opened.body.strip(), mode)), max_length)


def _escape_attribute(text: str) -> str:
    """Escape as the reference library does, quotes too."""
    return escape_markup(text).replace('"', "&quot;").replace("'", "&#x27;")
