"""A Markdown file without frontmatter: its first words read, and frontmatter written above it, the file itself kept."""

import json
import re

from skillpm.core.system_requirements import Requires
from skillpm.core.text import HIDDEN, one_line
from skillpm.formats.legacy_metadata import needs_of
from skillpm.formats.legacy_registry import LONGEST_DESCRIPTION, USERS_ONLY, Told

BOM = b"\xef\xbb\xbf"
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*))?")
UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
# Lists, quotes, tables, HTML and rules: their first line is no sentence about the whole.
NO_PROSE = re.compile(r"\s*(?:[-*+][ \t]|\d+[.)][ \t]|[|<>]|(?:[-*_][ \t]*){3,}$)")
LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
NO_YAML = re.compile("[\ufffe\uffff]")
LONGEST_PARAGRAPH = 4000
SEPARATORS = re.compile(r"[,|]")


def with_frontmatter(data: bytes, name: str, told: Told) -> bytes:
    """Give a file with frontmatter from what is told of it, else from its first heading and paragraph.

    All bytes of the file follow as they were; only a byte order mark moves to the front, where alone it is one.
    """
    text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    description = told.description or described(text) or name
    lines = ["---", f"name: {name}", f"description: {_quoted(description)}"]
    triggers = [word for word in told.triggers if not SEPARATORS.search(word)]
    fields = {
        "version": told.version,
        "category": told.category,
        "triggers": ", ".join(triggers),
        "requires": _needed(told.requires),
    }
    if told.user_only:
        lines.append(f"{USERS_ONLY}: true")
    if any(fields.values()):
        # Agent Skills specification, "metadata": the place for more than its own fields, and its values are text.
        lines.append("metadata:")
        lines.extend(f"  {key}: {_quoted(value)}" for key, value in fields.items() if value)
    head = "\n".join([*lines, "---", ""]).encode()
    mark = BOM if data.startswith(BOM) else b""
    return mark + head + data.removeprefix(BOM)


def _needed(requires: Requires) -> str:
    """Give needs as the text that is read as just these: programs in a row, more than programs as JSON."""
    needs = needs_of(requires)
    return ", ".join(requires.bins) if needs.keys() <= {"bins"} else json.dumps(needs, ensure_ascii=False)


def described(text: str) -> str:
    """Give the first heading and the first paragraph of Markdown as one line, cut as a description may be long."""
    heading, paragraph = first_words(text)
    paragraph = LINK.sub(r"\1", paragraph[:LONGEST_PARAGRAPH])
    heading = one_line(HIDDEN.sub("", one_line(heading))).rstrip(".:!? ")
    words = ". ".join(part for part in (heading, HIDDEN.sub("", one_line(paragraph))) if part)
    if len(words) <= LONGEST_DESCRIPTION:
        return words
    cut = words[: LONGEST_DESCRIPTION - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip(",;:") + "…"


def first_words(text: str) -> tuple[str, str]:
    """Give the first heading and the first paragraph of prose; code, lists, tables and quotes are none."""
    heading, paragraph, fence = "", list[str](), ""
    for line in text.split("\n"):
        if fence:
            fence = "" if line.strip().startswith(fence) else fence
            continue
        opened, headed = FENCE.match(line), HEADING.fullmatch(line)
        if paragraph and UNDERLINE.fullmatch(line):
            heading, paragraph = heading or " ".join(paragraph), []
        elif paragraph and (opened or headed or not line.strip()):
            break
        elif opened:
            fence = opened[1]
        elif headed:
            heading = heading or (headed[1] or "").strip().rstrip("#").rstrip()
        elif line.strip() and (paragraph or not NO_PROSE.match(line)):
            paragraph.append(line.strip())
    return heading, " ".join(paragraph)


def _quoted(text: str) -> str:
    """Give text as a double-quoted YAML scalar: JSON is one."""
    return json.dumps(NO_YAML.sub("", text), ensure_ascii=False)
