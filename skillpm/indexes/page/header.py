"""The head of a page: who wrote it, and of which index, told without opening the rest."""

import hashlib
import re
from collections.abc import Sequence

from skillpm.core.values import Value
from skillpm.formats.index_catalog import Catalogue, Summary, write_catalogue
from skillpm.formats.index_releases import Releases, write_releases

HEAD = re.compile(
    rb'<meta name="generator" content="(skillpm [^"<>]*)">\n'
    rb'<meta name="skillpm-share" content="([0-9]{1,9})">\n'
    rb'<meta name="skillpm-index" content="(sha256:[0-9a-f]{64})">'
)
LONGEST = 4096


class Head(Value):
    """Who wrote a page, how much of each skill it shows, and what the index was."""

    generator: str
    share: int
    state: str


def head_of(page: bytes) -> Head | None:
    """Give the head of a page; None where it is no page of ours."""
    found = HEAD.search(page[:LONGEST])
    if found is None:
        return None
    return Head(generator=found[1].decode(errors="replace"), share=int(found[2]), state=found[3].decode())


def state_of(name: str, skills: Sequence[tuple[Summary, Releases]]) -> str:
    """Give a digest of all that the documents of an index say of what it offers."""
    state = hashlib.sha256()
    catalogue = Catalogue(name=name, skills=tuple(summary for summary, _ in skills))
    for text in (write_catalogue(catalogue), *(write_releases(releases) for _, releases in skills)):
        state.update(text.encode())
    return f"sha256:{state.hexdigest()}"
