"""The default style, and the base class of the others, which override it where their host differs. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.indexes.search.query import MatchKind
from skillpm.registry.card import Card
from skillpm.serving.renderers.body_modes import Mode, apply_mode, truncate
from skillpm.serving.renderers.model_text import escape_closing_tags, escape_markup, sanitize_line, sanitize_text

INTRO_SENTENCES = (
    "Load a skill to get detailed instructions for a specific task.",
    "Skills provide specialized knowledge and step-by-step guidance.",
    "Use this when a task matches an available skill's description.",
)
NO_SKILLS_MESSAGE = f"{INTRO_SENTENCES[0]} No skills are currently available."
FIND_SENTENCE = "Search for what a task needs: with `query` in the tool `skill`, or `skillpm search --installed WORDS`."
REMOTE_SENTENCE = "Its files are not on your disk: read them with the argument `file` of the tool `skill`."
MAX_LISTED_FILES = 20


class SkillSummary(Value):
    """A skill as `list`, `search`, `match` and catalogs show it.

    card         what the registry says of it
    missing      its unmet requirements
    description  its description, possibly shortened
    """

    card: Card
    missing: tuple[str, ...] = ()
    description: str = ""

    @property
    def name(self) -> str:
        """The name that the skill is loaded by."""
        return self.card.name

    @property
    def category(self) -> str:
        """Its category; `general` if it has none."""
        return self.card.category

    @property
    def triggers(self) -> tuple[str, ...]:
        """Words and phrases in a message that suggest the skill."""
        return self.card.triggers

    @property
    def location(self) -> str:
        """The absolute path of its SKILL.md."""
        return self.card.location

    @property
    def is_usable(self) -> bool:
        """Whether its requirements are met here."""
        return not self.missing

    @property
    def summary_line(self) -> str:
        """The description on one line, followed by the unmet requirements."""
        needs = f" (not usable here: needs {', '.join(self.missing)})" if self.missing else ""
        return sanitize_line(self.description) + needs


class OmittedSkills(Value):
    """What a catalog says about the skills for which its budget has no room."""

    # Listed by name alone.
    names: tuple[str, ...] = ()
    # How many are not listed at all.
    count: int = 0


NONE_OMITTED = OmittedSkills()


class OpenedSkill(Value):
    """A skill as it is loaded: its body, and the paths of its other files."""

    card: Card
    body: str
    files: tuple[str, ...] = ()
    # The agent is on another machine: the card has a URI instead of a path.
    is_remote: bool = False

    @property
    def folder(self) -> str:
        """The folder that relative paths in the body start at."""
        return sanitize_line(self.card.folder) + ("/" if self.is_remote else "")


class Renderer:
    """The default style.

    The text is tagged, so that an agent can recognize it after its conversation was compacted, and everything that
    could close a tag is escaped.
    """

    name: ClassVar[str] = "default"
    default_mode: ClassVar[Mode] = "full"
    # Whether a partial name that matches several skills means the first of them.
    accepts_first_match: ClassVar[bool] = False
    # What precedes and follows the entries of a catalog, and what separates them; and a catalog without entries.
    catalog_frame: ClassVar[tuple[str, str]] = ("<available_skills>\n", "\n</available_skills>")
    entry_separator: ClassVar[str] = "\n"
    empty_catalog: ClassVar[str] = ""
    # Whether text between the tags of a catalog is escaped.
    escapes_markup: ClassVar[bool] = True
    # The answer if the skills directory does not exist; if empty, that is treated as a directory without skills.
    no_registry_message: ClassVar[str] = ""

    def render_skill(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        """Return the text of a loaded skill, and whether it was cut."""
        body, is_truncated = self._prepare_body(opened, mode, max_length)
        name = escape_markup(opened.card.name).replace('"', "&quot;")
        lines = [
            f'<skill_content name="{name}">',
            f"# Skill: {sanitize_line(opened.card.name)}",
            "",
            f"Base directory: {opened.folder}",
            REMOTE_SENTENCE if opened.is_remote else "Relative paths below are relative to it.",
            "",
            escape_closing_tags(body),
        ]
        if opened.files:
            more = len(opened.files) - MAX_LISTED_FILES
            lines += ["", "<skill_files>"]
            lines += [f"<file>{escape_markup(path)}</file>" for path in opened.files[:MAX_LISTED_FILES]]
            lines += [f"<more>{more}</more>"] if more > 0 else []
            lines += ["</skill_files>"]
        return "\n".join([*lines, "</skill_content>"]), is_truncated

    def render_catalog(self, skills: Sequence[SkillSummary], mode: Mode, omitted: OmittedSkills = NONE_OMITTED) -> str:
        """Return the catalog for a model: all fields, one line for each skill (`compact`), or only names (`toon`)."""
        if not skills and omitted == NONE_OMITTED:
            return self.empty_catalog
        is_full = mode == "full"
        entries = [self._render_entry(skill) if is_full else self._render_line(skill, mode) for skill in skills]
        separator = self.entry_separator if is_full else "\n"
        head, tail = self.catalog_frame
        return head + separator.join([*entries, *self._describe_omitted(omitted)]) + tail

    def render_file(self, name: str, path: str, text: str, max_length: int) -> str:
        """Return a file of a skill, tagged as its instructions are."""
        body, _ = truncate(sanitize_text(text), max_length)
        attributes = (escape_markup(value).replace('"', "&quot;") for value in (name, path))
        opening = '<skill_file name="{}" path="{}">'.format(*attributes)
        return "\n".join([opening, escape_closing_tags(body), "</skill_file>"])

    def render_tool_description(self, skills: Sequence[SkillSummary], omitted: OmittedSkills = NONE_OMITTED) -> str:
        """Return the description of the tool."""
        if not skills and omitted == NONE_OMITTED:
            return NO_SKILLS_MESSAGE
        listed = [f"- {sanitize_line(skill.card.name)}: {skill.summary_line}" for skill in skills]
        # Before the list: some hosts cut long descriptions at their end.
        return "\n".join(
            [" ".join(INTRO_SENTENCES), *self._describe_omitted(omitted), "", "Available skills:", *listed]
        )

    def render_list(self, skills: Sequence[SkillSummary], mode: Mode, omitted: OmittedSkills = NONE_OMITTED) -> str:
        """Return the answer to the action `list`."""
        return self.render_catalog(skills, mode, omitted) or "No skills are currently available."

    def render_search_results(
        self, query: str, skills: Sequence[SkillSummary], total: int, kind: MatchKind = "all"
    ) -> str:
        """Return the answer to the action `search`: the best results of all, and how they match if not exactly."""
        if not skills:
            return f'No skills found matching "{sanitize(query)}"'
        lines = [
            f"- **{sanitize_line(skill.card.name)}** ({sanitize_line(skill.card.category)}): {skill.summary_line}"
            for skill in skills
        ]
        how = {"all": "", "alike": " with similar words", "some": " with some of these words"}[kind]
        best = f", the best {len(skills)}" if total > len(skills) else ""
        return f"Found {total} skill(s){how}{best}:\n\n" + "\n".join(lines)

    def not_found_message(self, name: str, similar: Sequence[str], visible: Sequence[str]) -> str:  # noqa: ARG002
        """Return the answer if no skill has this name. `similar` is the part of `visible` with similar names."""
        names = f"\n\nDid you mean: {', '.join(map(sanitize_line, similar))}?" if similar else ""
        return f'Skill "{sanitize(name)}" not found.{names}'

    def file_not_found_message(self, name: str, path: str, similar: Sequence[str]) -> str:
        """Return the answer if a skill has no such file."""
        paths = f"\n\nDid you mean: {', '.join(map(sanitize_line, similar))}?" if similar else ""
        return f'Skill "{sanitize(name)}" has no file "{sanitize(path)}".{paths}'

    def partial_match_message(self, requested: str, found: str) -> str:
        """Return a note that precedes a skill found by a partial name. Other hosts have none."""
        return (
            f'Skill "{sanitize(requested)}" not found; loaded "{sanitize(found)}" instead.\n\n'
            if self.name == "default"
            else ""
        )

    def unmet_requirements_message(self, name: str, missing: Sequence[str]) -> str:
        """Return a note that precedes a skill whose requirements are not met. Other hosts have none."""
        if not missing or self.name != "default":
            return ""
        return f'Skill "{sanitize(name)}" needs what is missing here: {sanitize_line(", ".join(missing))}\n\n'

    def ambiguous_name_message(self, name: str, names: Sequence[str]) -> str:
        """Return the answer if a partial name matches several skills."""
        return f'"{sanitize(name)}" is ambiguous. Matching skills: {", ".join(map(sanitize_line, names))}'

    def missing_name_message(self) -> str:
        """Return the answer if the name is missing."""
        return "Error: 'name' parameter is required"

    def forbidden_message(self, name: str) -> str:
        """Return the answer if permissions deny a skill, whether it exists or not."""
        return f"Error: Skill '{sanitize(name)}' is not allowed by permissions"

    def user_only_message(self, name: str) -> str:
        """Return the answer if only users may invoke a skill."""
        return f"Error: Skill '{sanitize(name)}' can only be invoked by the user"

    def unreadable_message(self, name: str, reason: str) -> str:
        """Return the answer if a skill's file can no longer be read."""
        return f'Failed to load skill content for "{sanitize(name)}": {reason}'

    def format_result(self, *, ok: bool, title: str, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tool's answer in the shape that a program expects."""
        return {"ok": ok, "title": title, "text": text, "metadata": dict(metadata)}

    def _render_entry(self, skill: SkillSummary) -> str:
        """Return a skill in a catalog of the mode `full`."""
        lines = ["<skill>", "<name>", _escape_attribute(skill.card.name), "</name>"]
        lines += ["<description>", _escape_attribute(skill.summary_line), "</description>"]
        lines += ["<location>", escape_markup(skill.card.location), "</location>", "</skill>"]
        return "\n".join(lines)

    def _render_line(self, skill: SkillSummary, mode: Mode) -> str:
        """Return a skill in a catalog of another mode."""
        name = sanitize_line(skill.card.name)
        line = f"- {name}: {skill.summary_line}" if mode == "compact" else f"- {name}"
        return escape_markup(line) if self.escapes_markup else line

    def _describe_omitted(self, omitted: OmittedSkills) -> list[str]:
        """Return sentences about the skills for which there is no room, and how to find them."""
        sentences = []
        if omitted.names:
            sentences.append(f"Other skills, by name: {', '.join(map(sanitize_line, omitted.names))}.")
        if omitted.count:
            are = "skills are" if omitted.count > 1 else "skill is"
            sentences.append(f"{omitted.count} more {are} not listed. {FIND_SENTENCE}")
        return [escape_markup(each) if self.escapes_markup else each for each in sentences]

    def _prepare_body(self, opened: OpenedSkill, mode: Mode, max_length: int) -> tuple[str, bool]:
        return truncate(sanitize_text(apply_mode(opened.body.strip(), mode)), max_length)


def _escape_attribute(text: str) -> str:
    """Escape like the reference implementation of the Agent Skills specification, quotes included."""
    return escape_markup(text).replace('"', "&quot;").replace("'", "&#x27;")
