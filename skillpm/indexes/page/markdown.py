"""Render untrusted Markdown as safe HTML: no scripts, no requests.

There are three layers of defense, each sufficient on its own: the renderer escapes raw HTML, nh3 removes all tags and
attributes but the ones below, and the script of the page removes them once more before it shows the text. The page's
Content-Security-Policy is the fourth.
"""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from nh3 import Cleaner

from skillpm.core.text import HIDDEN

HEADINGS = {f"h{level}": f"h{min(level + 1, 6)}" for level in range(1, 7)}  # <h1> is the name of the skill
ALIGNMENTS = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}
CELLS = {"td", "th"}
ALLOWED_TAGS = {
    *("p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong"),
    *("s", "a", "span", "table", "thead", "tbody", "tr", *CELLS),
}


# In characters, of all addresses in a text. A definition of 30,000 characters can be referred to 10,000 times.
MAX_ADDRESSES = 262_144


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
