"""The styles of agent hosts, and the table of all styles. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.serving.renderers.base import (
    INTRO_SENTENCES,
    NO_SKILLS_MESSAGE,
    NONE_OMITTED,
    REMOTE_SENTENCE,
    OmittedSkills,
    OpenedSkill,
    Renderer,
    SkillSummary,
)
from skillpm.serving.renderers.body_modes import Mode
from skillpm.serving.renderers.model_text import escape_markup, sanitize_line

GLM_EMPTY_CATALOG = "No skills found. Create .glm/skills/<name>/SKILL.md files to define skills."
GLM_TOOL_DESCRIPTION = (
    "Load a reusable skill definition. Skills provide specialized instructions for common tasks. "
    "Use list_available=true to see what skills are available."
)
SUPERCODE_TOOL_DESCRIPTION = f"{INTRO_SENTENCES[0]}\n\n{INTRO_SENTENCES[1]}\n{INTRO_SENTENCES[2]}"
OMEGA_INTRODUCTION = (
    "\n\nThese skills are available. Read a skill's file for its full instructions before using it. "
    "Where a tool is not installed, the file says how to install it.\n\nSkills:\n"
)


class OpenCodeRenderer(Renderer):
    """The wording of OpenCode's skill tool."""

    name: ClassVar[str] = "opencode"
    catalog_frame: ClassVar[tuple[str, str]] = (
        " ".join([*INTRO_SENTENCES, "<available_skills> "]),
        " </available_skills>",
    )
    entry_separator: ClassVar[str] = " "
    empty_catalog: ClassVar[str] = NO_SKILLS_MESSAGE

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Return a heading, the base directory and the body."""
        body, is_truncated = self._prepare_body(opened, mode, max_length)
        lines = [f"## Skill: {sanitize_line(opened.card.name)}", "", f"**Base directory**: {opened.folder}"]
        lines += [REMOTE_SENTENCE] if opened.is_remote else []
        return "\n".join([*lines, "", body]), is_truncated

    def render_tool_description(self, skills: Sequence[SkillSummary], omitted: OmittedSkills = NONE_OMITTED) -> str:
        """Return the catalog."""
        return self.render_catalog(skills, "full", omitted)

    def _render_entry(self, skill: SkillSummary) -> str:
        name, description = escape_markup(skill.card.name), escape_markup(skill.summary_line)
        parts = ("  <skill>", f"    <name>{name}</name>", f"    <description>{description}</description>", "  </skill>")
        return " ".join(parts)

    def not_found_message(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Return an error that lists all visible skills."""
        return (
            f'Skill "{sanitize(name)}" not found. Available skills: {", ".join(map(sanitize_line, visible)) or "none"}'
        )

    def format_result(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Return title, output and metadata; an error is thrown by the host."""
        return {"title": title, "output": text, "metadata": dict(metadata)} if ok else {"error": text}


class BrutusRenderer(OpenCodeRenderer):
    """The wording of BRUTUS, which copies OpenCode's with other spacing and capitalization."""

    name: ClassVar[str] = "brutus"
    catalog_frame: ClassVar[tuple[str, str]] = (
        " ".join([*INTRO_SENTENCES, "<available_skills>"]),
        "</available_skills>",
    )
    entry_separator: ClassVar[str] = ""

    def _render_entry(self, skill: SkillSummary) -> str:
        name, description = escape_markup(skill.card.name), escape_markup(skill.summary_line)
        return f" <skill> <name>{name}</name> <description>{description}</description> </skill>"

    def not_found_message(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Return an error that quotes the name as Go does and lists all visible skills."""
        quoted = json.dumps(sanitize(name), ensure_ascii=False)
        return f"skill {quoted} not found. Available skills: {', '.join(map(sanitize_line, visible))}"

    def unreadable_message(self, name: str, reason: str) -> str:  # noqa: ARG002
        """Return an error with the reason."""
        return f"failed to load skill: {reason}"


class GlmRenderer(Renderer):
    """The wording of GLM-CLI: every answer is enclosed in line breaks, as in its source."""

    name: ClassVar[str] = "glm"
    catalog_frame: ClassVar[tuple[str, str]] = (
        "\n**Available Skills:**\n\n",
        '\n\nTo load a skill, call: skill({ name: "skill-name" })\n',
    )
    empty_catalog: ClassVar[str] = GLM_EMPTY_CATALOG
    escapes_markup: ClassVar[bool] = False

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Return the name, the body, and the path of the file."""
        body, is_truncated = self._prepare_body(opened, mode, max_length)
        name, location = sanitize_line(opened.card.name), sanitize_line(opened.card.location)
        note = f"\n{REMOTE_SENTENCE}" if opened.is_remote else ""
        return f"\n**Loaded Skill: {name}**\n\n{body}\n\n---\n*Skill loaded from: {location}*{note}\n", is_truncated

    def render_tool_description(
        self,
        skills: Sequence[SkillSummary],  # noqa: ARG002
        omitted: OmittedSkills = NONE_OMITTED,  # noqa: ARG002
    ) -> str:
        """Return the fixed description, which lists no skills."""
        return GLM_TOOL_DESCRIPTION

    def not_found_message(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Return an error that says how to list the skills."""
        return f"Error: Skill '{sanitize(name)}' not found. Use list_available=true to see available skills."

    def format_result(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Return only the text; errors are text, too."""
        return {"result": text}

    def _render_entry(self, skill: SkillSummary) -> str:
        return f"• **{sanitize_line(skill.card.name)}**: {skill.summary_line}{_render_metadata(skill)}"


def _render_metadata(skill: SkillSummary) -> str:
    """Return the textual metadata, as `(audience:maintainers, workflow:github)`."""
    pairs = [f"{key}:{value}" for key, value in skill.card.metadata.items() if isinstance(value, str)]
    return f" ({sanitize_line(', '.join(pairs))})" if pairs else ""


class SuperCodeRenderer(Renderer):
    """The wording of SuperCode: lists by category, and modes that save tokens, `compact` by default."""

    name: ClassVar[str] = "supercode"
    default_mode: ClassVar[Mode] = "compact"
    accepts_first_match: ClassVar[bool] = True
    escapes_markup: ClassVar[bool] = False
    no_registry_message: ClassVar[str] = "Skill registry not found. Run skill setup first."

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Return the body in its mode; in full mode with a heading."""
        body, is_truncated = self._prepare_body(opened, mode, max_length)
        return f"# Skill: {sanitize_line(opened.card.name)}\n\n{body}" if mode == "full" else body, is_truncated

    def render_catalog(self, skills: Sequence[SkillSummary], mode: Mode, omitted: OmittedSkills = NONE_OMITTED) -> str:
        """Return the skills by category, in the order in which the categories first occur."""
        groups: dict[str, list[SkillSummary]] = {}
        for skill in skills:
            groups.setdefault(skill.card.category, []).append(skill)
        lines = ["# Available Skills\n"]
        for category, members in groups.items():
            lines.append(f"## {sanitize_line(category)}\n")
            for skill in members:
                lines += _render_supercode_entry(skill, mode)
            lines.append("")
        return "\n".join([*lines, *self._describe_omitted(omitted)])

    def render_tool_description(
        self,
        skills: Sequence[SkillSummary],  # noqa: ARG002
        omitted: OmittedSkills = NONE_OMITTED,  # noqa: ARG002
    ) -> str:
        """Return the fixed description, which lists no skills."""
        return SUPERCODE_TOOL_DESCRIPTION

    def unreadable_message(self, name: str, reason: str) -> str:  # noqa: ARG002
        """Return an error without the reason."""
        return f'Failed to load skill content for "{sanitize(name)}"'

    def format_result(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Return success and data, or failure and error."""
        return {"success": True, "data": text} if ok else {"success": False, "error": text}


def _render_supercode_entry(skill: SkillSummary, mode: Mode) -> list[str]:
    name = sanitize_line(skill.card.name)
    if mode == "toon":
        return [f"- {name}"]
    if mode == "compact":
        return [f"- **{name}**: {skill.summary_line}"]
    return [f"### {name}", skill.summary_line, f"Triggers: {sanitize_line(', '.join(skill.card.triggers))}", ""]


class OmegaRenderer(Renderer):
    """The block of omega's system prompt that lists the skills, installed or not, with their paths."""

    name: ClassVar[str] = "omega"
    catalog_frame: ClassVar[tuple[str, str]] = (OMEGA_INTRODUCTION, "\n")
    escapes_markup: ClassVar[bool] = False

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Return only the body: the model reads the file itself."""
        return self._prepare_body(opened, mode, max_length)

    def _render_entry(self, skill: SkillSummary) -> str:
        status = "not installed" if skill.missing else "installed"
        name, location = sanitize_line(skill.card.name), sanitize_line(skill.card.location)
        return f"- {name} [{status}]: {sanitize_line(skill.description)} -> Read {location}"


RENDERERS: dict[str, Renderer] = {
    style.name: style
    for style in (Renderer(), OpenCodeRenderer(), BrutusRenderer(), GlmRenderer(), SuperCodeRenderer(), OmegaRenderer())
}
# The default catalog is the one that the Agent Skills specification recommends.
ALIASES = {"agentskills": "default"}


def find_renderer(name: str) -> Renderer:
    """Return the renderer of a style. Raises `UsageError` with the names of all styles."""
    renderer = RENDERERS.get(ALIASES.get(name, name))
    if renderer is None:
        raise UsageError(
            f"unknown style `{sanitize(name, 40)}`", hint=f"known styles: {', '.join([*RENDERERS, *ALIASES])}"
        )
    return renderer
