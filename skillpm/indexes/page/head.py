"""The head of a page: who wrote it, told without opening the rest."""

import re

HEAD = re.compile(
    r'<meta name="generator" content="(skillpm [^"<>]*)">\n<meta name="skillpm-share" content="([0-9]+)">'
)
LONGEST = 4096


def head_of(text: str) -> tuple[str, int] | None:
    """Give who wrote a page, and how much of each skill it shows; None where it is no page of ours."""
    found = HEAD.search(text[:LONGEST])
    return None if found is None else (found[1], int(found[2]))
