"""The page entry of one skill: everything the HTML catalog shows of its files.

Its Markdown is rendered as safe HTML: no scripts, no requests. There are three layers of defense, each sufficient on
its own: the renderer escapes raw HTML, nh3 removes all tags and attributes but the ones below, and the script of the
page removes them once more before it shows the text. The page's Content-Security-Policy is the fourth.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import Any, TypedDict
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from nh3 import Cleaner

from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.core.system_requirements import SystemRequirements
from skillpm.core.text import HIDDEN, sanitize
from skillpm.skillmd.skill import Skill

MAX_TEXT_LENGTH = 65_536  # characters shown of a file; of SKILL.md, 999 of 1,000 are shorter
MAX_FILE_TEXTS = 262_144  # characters of all other files of a skill: half a second of a slow connection, compressed
MAX_FILES = 1_000
REQUIREMENT_TITLES = {
    "bins": "programs",
    "any_bins": "one of",
    "env": "variables",
    "config": "settings",
    "os": "systems",
    "mcp": "MCP servers",
    "notes": "and",
}
MAX_ITEMS = 40
HEADINGS = {f"h{level}": f"h{min(level + 1, 6)}" for level in range(1, 7)}  # <h1> is the name of the skill
ALIGNMENTS = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}
CELLS = {"td", "th"}
ALLOWED_TAGS = {
    *("p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong"),
    *("s", "a", "span", "table", "thead", "tbody", "tr", *CELLS),
}


# In characters, of all addresses in a text. A definition of 30,000 characters can be referred to 10,000 times.
MAX_ADDRESSES = 262_144


class SkillPage(TypedDict):
    """The page entry of a skill, in the JSON format that the script of the page reads."""

    html: str
    # The length of the whole text, if only its beginning is shown; else 0.
    cut: int
    tokens: int
    license: str
    author: str
    homepage: str
    compatibility: str
    triggers: list[str]
    needs: dict[str, list[str]]
    # See `_list_files`; empty if the archive is stored elsewhere.
    files: list[list[object]]
    # How many more files there are.
    more: int


def build_skill_page(skill: Skill, tree: FileTree) -> SkillPage:
    """Build the page entry of a skill from its SKILL.md and its files."""
    shown = _beginning(skill.body)
    return SkillPage(
        html=render_safe_html(shown),
        cut=0 if shown == skill.body else len(skill.body),
        tokens=skill.tokens,
        license=sanitize(skill.license),
        author=sanitize(skill.author),
        homepage=sanitize(skill.homepage) if is_web_url(skill.homepage) else "",
        compatibility=sanitize(skill.compatibility, 500),
        triggers=[sanitize(trigger, 80) for trigger in skill.triggers[:MAX_ITEMS]],
        needs=_format_requirements(skill.requires),
        files=list(_list_files(tree)),
        more=max(0, len(tree.files) - MAX_FILES),
    )


def is_web_url(address: str) -> bool:
    """Return whether the page may link to an address: an http or https URL with a host."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and address.isprintable() and " " not in address


def _beginning(text: str) -> str:
    """Return the whole lines among the first `MAX_TEXT_LENGTH` characters of a text."""
    return text if len(text) <= MAX_TEXT_LENGTH else text[:MAX_TEXT_LENGTH].rpartition("\n")[0]


def _list_files(tree: FileTree) -> Iterator[list[object]]:
    """Yield path, size and executable bit of each file, with its text unless it is binary or too long.

    A text is followed by its whole length if only its beginning is shown. The shortest texts are shown if not all can
    be. SKILL.md has no text here: the page shows it rendered.
    """
    files = tree.files[:MAX_FILES]
    others = (file for file in files if file.path != tree.skill_file)
    texts = {file.path: text for file in others if (text := _read_text(file)) is not None}
    shown, left = set(), MAX_FILE_TEXTS
    for path in sorted(texts, key=lambda path: (len(texts[path]), path)):
        left -= min(len(texts[path]), MAX_TEXT_LENGTH)
        if left >= 0:
            shown.add(path)
    for file in files:
        row: list[object] = [sanitize(file.path, 1_000), len(file.data), int(file.executable)]
        if file.path not in texts:
            yield row
        elif file.path not in shown:
            yield [*row, 0]
        else:
            text = texts[file.path]
            beginning = _beginning(text)
            yield [*row, escape_hidden_text(beginning), *([len(text)] if beginning != text else [])]


def _read_text(file: TreeFile) -> str | None:
    """Return the text of a file; None if it is binary."""
    try:
        text = file.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _format_requirements(requires: SystemRequirements) -> dict[str, list[str]]:
    return {
        title: [sanitize(word, 120) for word in words[:MAX_ITEMS]]
        for kind, title in REQUIREMENT_TITLES.items()
        if (words := getattr(requires, kind))
    }


def render_safe_html(markdown: str) -> str:
    """Render Markdown as HTML with `ALLOWED_TAGS` only. Hidden characters become visible escapes."""
    parser = _parser()
    tokens = parser.parse(escape_hidden_text(markdown))
    for token in tokens:
        _adjust_token(token)
    _limit_addresses(tokens)
    return _cleaner().clean(parser.renderer.render(tokens, parser.options, {}))


def escape_hidden_text(text: str) -> str:
    """Replace characters that hide or reorder text by visible escapes, except line breaks and tabs."""
    return HIDDEN.sub(_escape_match, text)


def _escape_match(match: re.Match[str]) -> str:
    if match.group() in "\n\t":
        return match.group()
    return match.group().encode("unicode_escape", "surrogatepass").decode("ascii")


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _render_image)
    return parser


def _render_image(_self: Any, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    """Render an image as its alternative text: loading it would report each reader to its server."""
    return f'<span class="picture">{escape(tokens[at].content or "picture")}</span>'


def _adjust_token(token: Token) -> None:
    """Shift headings down a level, and turn the alignment of cells into classes: the CSP forbids `style` attributes."""
    if token.type in {"heading_open", "heading_close"}:
        token.tag = HEADINGS[token.tag]
    elif token.tag in CELLS and token.nesting == 1:
        alignment = ALIGNMENTS.get(str(token.attrs.pop("style", "")))
        if alignment:
            token.attrs["class"] = alignment


def _limit_addresses(tokens: Sequence[Token]) -> None:
    """Remove the titles of links, which the page does not show, and the addresses over `MAX_ADDRESSES`."""
    left = MAX_ADDRESSES
    for link in (each for token in tokens for each in token.children or () if each.type == "link_open"):
        left -= len(str(link.attrs["href"]))
        link.attrs = {"href": link.attrs["href"]} if left >= 0 else {}


@cache
def _cleaner() -> Cleaner:
    return Cleaner(
        tags=ALLOWED_TAGS,
        clean_content_tags={"script", "style"},  # removed with their content; of other tags, the text stays
        attributes={"*": set(), "a": {"href"}, "ol": {"start"}},
        allowed_classes={"span": {"picture"}, **{cell: {*ALIGNMENTS.values()} for cell in sorted(CELLS)}},
        set_tag_attribute_values={"a": {"target": "_blank"}},
        link_rel="noopener noreferrer nofollow",
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",  # would be resolved against the address of the page, not of the skill
    )
