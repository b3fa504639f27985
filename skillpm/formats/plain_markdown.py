"""A Markdown file without frontmatter: its first words read, and frontmatter written above it, the file itself kept."""

import json
import re

from skillpm.core.system_requirements import SystemRequirements
from skillpm.core.text import HIDDEN, one_line
from skillpm.formats.legacy_metadata import requirements_value
from skillpm.formats.legacy_registry import MAX_DESCRIPTION_LENGTH, USER_ONLY_KEY, LegacyEntry

BOM = b"\xef\xbb\xbf"
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*))?")
HEADING_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
# Lists, quotes, tables, HTML and rules: their first line is no sentence about the whole.
NON_PROSE = re.compile(r"\s*(?:[-*+][ \t]|\d+[.)][ \t]|[|<>]|(?:[-*_][ \t]*){3,}$)")
LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
NON_YAML = re.compile("[\ufffe\uffff]")
MAX_PARAGRAPH_LENGTH = 4000
SEPARATORS = re.compile(r"[,|]")


def add_frontmatter(data: bytes, name: str, entry: LegacyEntry) -> bytes:
    """Give a file with frontmatter from what is told of it, else from its first heading and paragraph.

    All bytes of the file follow as they were; only a byte order mark moves to the front, where alone it is one.
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
    head = "\n".join([*lines, "---", ""]).encode()
    mark = BOM if data.startswith(BOM) else b""
    return mark + head + data.removeprefix(BOM)


def _format_requirements(requires: SystemRequirements) -> str:
    """Give needs as the text that is read as just these: programs in a row, more than programs as JSON."""
    needs = requirements_value(requires)
    return ", ".join(requires.bins) if needs.keys() <= {"bins"} else json.dumps(needs, ensure_ascii=False)


def derive_description(text: str) -> str:
    """Give the first heading and the first paragraph of Markdown as one line, cut as a description may be long."""
    heading, paragraph = first_heading_and_paragraph(text)
    paragraph = LINK.sub(r"\1", paragraph[:MAX_PARAGRAPH_LENGTH])
    heading = one_line(HIDDEN.sub("", one_line(heading))).rstrip(".:!? ")
    words = ". ".join(part for part in (heading, HIDDEN.sub("", one_line(paragraph))) if part)
    if len(words) <= MAX_DESCRIPTION_LENGTH:
        return words
    cut = words[: MAX_DESCRIPTION_LENGTH - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip(",;:") + "…"


def first_heading_and_paragraph(text: str) -> tuple[str, str]:
    """Give the first heading and the first paragraph of prose; code, lists, tables and quotes are none."""
    heading, paragraph, fence = "", list[str](), ""
    for line in text.split("\n"):
        if fence:
            fence = "" if line.strip().startswith(fence) else fence
            continue
        opened, headed = FENCE.match(line), HEADING.fullmatch(line)
        if paragraph and HEADING_UNDERLINE.fullmatch(line):
            heading, paragraph = heading or " ".join(paragraph), []
        elif paragraph and (opened or headed or not line.strip()):
            break
        elif opened:
            fence = opened[1]
        elif headed:
            heading = heading or (headed[1] or "").strip().rstrip("#").rstrip()
        elif line.strip() and (paragraph or not NON_PROSE.match(line)):
            paragraph.append(line.strip())
    return heading, " ".join(paragraph)


def _quote_yaml(text: str) -> str:
    """Give text as a double-quoted YAML scalar: JSON is one."""
    return json.dumps(NON_YAML.sub("", text), ensure_ascii=False)
