"""Markdown of strangers as HTML that runs nothing and asks nothing: rendered without raw HTML, then sanitised.

Three walls, each enough by itself: the renderer writes out `<script>` as text, the sanitiser knows only the tags below,
and so does the page before it shows them. Behind these stands the page's Content-Security-Policy.
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
from skillpm.skillmd.hidden_text import is_legitimate_joiner

HEADINGS = {f"h{level}": f"h{min(level + 1, 6)}" for level in range(1, 7)}  # the page's own first heading is the name
ALIGNMENTS = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}
CELLS = {"td", "th"}
HIDDEN_EXCEPT_WHITESPACE = re.compile(r"(?![\n\t])" + HIDDEN.pattern)
ALLOWED_TAGS = {
    *("p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong"),
    *("s", "a", "span", "table", "thead", "tbody", "tr", *CELLS),
}


def render_safe_html(markdown: str) -> str:
    """Give text as HTML that holds nothing but the tags of text; what is hidden in it is written out."""
    parser = _parser()
    tokens = parser.parse(escape_hidden_text(markdown))
    for token in tokens:
        _adjust_token(token)
    return sanitize_html(parser.renderer.render(tokens, parser.options, {}))


def sanitize_html(html: str) -> str:
    """Give HTML without all that is not text: also for HTML that this module made at another time."""
    return _cleaner().clean(html)


def escape_hidden_text(text: str) -> str:
    """Write out what hides or reorders text, line ends and tabs aside."""
    return HIDDEN_EXCEPT_WHITESPACE.sub(_escape_match, text)


def _escape_match(match: re.Match[str]) -> str:
    if is_legitimate_joiner(match.string, match.start()):
        return match.group()
    return match.group().encode("unicode_escape", "surrogatepass").decode("ascii")


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _render_image)
    return parser


def _render_image(_self: Any, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    """Say that there is a picture: showing it would ask somebody for it."""
    return f'<span class="picture">{escape(tokens[at].content or "picture")}</span>'


def _adjust_token(token: Token) -> None:
    """Put headings below the page's own, and give alignment as a class: the page allows no style of strangers."""
    if token.type in {"heading_open", "heading_close"}:
        token.tag = HEADINGS[token.tag]
    elif token.tag in CELLS and token.nesting == 1:
        aligned = ALIGNMENTS.get(str(token.attrs.pop("style", "")))
        if aligned:
            token.attrs["class"] = aligned


@cache
def _cleaner() -> Cleaner:
    return Cleaner(
        tags=ALLOWED_TAGS,
        clean_content_tags={"script", "style"},
        attributes={"*": set(), "a": {"href"}, "ol": {"start"}},
        allowed_classes={"span": {"picture"}, **{cell: {*ALIGNMENTS.values()} for cell in sorted(CELLS)}},
        set_tag_attribute_values={"a": {"target": "_blank"}},
        link_rel="noopener noreferrer nofollow",
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
    )
