"""What is good for the body of a SKILL.md: not too long, not empty, and its links lead to files of the skill."""

import posixpath
import re
from collections.abc import Collection, Iterator
from urllib.parse import unquote

from skillpm.documents.findings import Finding, warning
from skillpm.documents.frontmatter import Frontmatter
from skillpm.documents.text import show
from skillpm.documents.tokens import tokens_in

MANY_TOKENS = 5_000
# Every repeated class ends at what another match may begin with: a megabyte of brackets takes no time by the square.
MARKDOWN_LINK = re.compile(r'\[[^\[\]\n]*\]\(<?([^()<>\s]+)>?(?:[ \t]+"[^"\n]*")?\)')
FENCE = re.compile(r"^[ \t]*(```+|~~~+)")


def findings_in_body(front: Frontmatter, files: Collection[str]) -> Iterator[Finding]:
    """Find what is odd about a body that lies beside these files."""
    tokens = tokens_in(front.body)
    if tokens > MANY_TOKENS:
        message = f"the body is about {tokens} tokens; move detail into files beside it, below {MANY_TOKENS}"
        yield warning("long-body", message, front.body_line)
    if not front.body.strip():
        yield warning("empty-body", "there are no instructions below the frontmatter", front.body_line)
    there = {*files, "."}
    for file in files:
        there.update(_folders_of(file))
    for number, target in _links(front.body):
        if not {posixpath.normpath(target), posixpath.normpath(unquote(target))} & there:
            message = f"`{show(target, 80)}` is no file of this skill"
            yield warning("missing-file", message, front.body_line + number)


def _folders_of(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _links(body: str) -> Iterator[tuple[int, str]]:
    """Give the relative links of a Markdown text outside of code, with the line each stands in, from 0."""
    fence = ""
    for number, line in enumerate(body.split("\n")):
        mark = FENCE.match(line)
        if mark is not None:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence and "](" in line:
            for match in MARKDOWN_LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                target = match[1].partition("#")[0].partition("?")[0]
                if target and not re.match(r"[a-zA-Z][\w+.-]*:|/|\{|\$|~", target):
                    yield number, target
