"""Markdown files without frontmatter: derive a description, and prepend frontmatter without changing the rest."""

import json
from itertools import pairwise

from skillpm.core.patterns import lazy_pattern
from skillpm.core.system_requirements import SystemRequirements
from skillpm.core.text import HIDDEN, one_line
from skillpm.formats.legacy_metadata import requirements_value
from skillpm.formats.legacy_registry import MAX_DESCRIPTION_LENGTH, USER_ONLY_KEY, LegacyEntry

BOM = b"\xef\xbb\xbf"
LINK = lazy_pattern(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
NON_YAML = lazy_pattern("[\ufffe\uffff]")
MAX_PARAGRAPH_LENGTH = 4000
MAX_PARSED_LENGTH = 50_000  # characters: a description comes from the top of a file
SEPARATORS = lazy_pattern(r"[,|]")


def add_frontmatter(data: bytes, name: str, entry: LegacyEntry) -> bytes:
    """Return a file with frontmatter made from its registry entry, else from its first heading and paragraph.

    It has the line endings of the file, whose bytes follow unchanged, except that a byte order mark moves to the front.
    """
    text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    description = entry.description or derive_description(text) or name
    lines = ["---", f"name: {name}", f"description: {_quote_yaml(description)}"]
    triggers = [word for word in entry.triggers if not SEPARATORS.search(word)]
    fields = {
        "version": entry.version,
        "category": entry.category,
        "triggers": ", ".join(triggers),
        "requires": _format_requirements(entry.requires),
    }
    if entry.user_only:
        lines.append(f"{USER_ONLY_KEY}: true")
    if any(fields.values()):
        # Agent Skills specification, "metadata": the place for more than its own fields, and its values are text.
        lines.append("metadata:")
        lines.extend(f"  {key}: {_quote_yaml(value)}" for key, value in fields.items() if value)
    line_end = "\r\n" if 0 < data.count(b"\r\n") == data.count(b"\n") else "\n"
    frontmatter = line_end.join([*lines, "---", ""]).encode()
    bom = BOM if data.startswith(BOM) else b""
    return bom + frontmatter + data.removeprefix(BOM)


def _format_requirements(requires: SystemRequirements) -> str:
    """Return requirements as text that reads back as the same: a list of programs, or JSON for anything else."""
    value = requirements_value(requires)
    return ", ".join(requires.bins) if value.keys() <= {"bins"} else json.dumps(value, ensure_ascii=False)


def derive_description(text: str) -> str:
    """Return the first heading and paragraph of Markdown as one line, cut at the maximum length of a description."""
    heading, paragraph = first_heading_and_paragraph(text)
    paragraph = LINK.sub(r"\1", paragraph[:MAX_PARAGRAPH_LENGTH])
    heading = one_line(HIDDEN.sub(lambda _: "", one_line(heading))).rstrip(".:!? ")
    words = ". ".join(part for part in (heading, HIDDEN.sub(lambda _: "", one_line(paragraph))) if part)
    if len(words) <= MAX_DESCRIPTION_LENGTH:
        return words
    cut = words[: MAX_DESCRIPTION_LENGTH - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip(",;:") + "…"


def first_heading_and_paragraph(text: str) -> tuple[str, str]:
    """Return the first heading and the first paragraph of prose, skipping code, lists, tables and quotes."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  (only for files without frontmatter)

    heading = ""
    blocks = MarkdownIt().enable("table").disable("inline").parse(text[:MAX_PARSED_LENGTH])
    for opening, content in pairwise(blocks):
        if opening.level == 0 and opening.type == "heading_open":
            heading = heading or content.content
        elif opening.level == 0 and opening.type == "paragraph_open":
            return heading, one_line(content.content)
    return heading, ""


def _quote_yaml(text: str) -> str:
    """Return text as a double-quoted YAML scalar, which a JSON string is."""
    return json.dumps(NON_YAML.sub("", text), ensure_ascii=False)
