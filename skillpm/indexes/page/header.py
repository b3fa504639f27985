"""The head of a page: who wrote it, and of which index, told without opening the rest."""

import hashlib
import re
from collections.abc import Sequence

from skillpm.core.values import Value
from skillpm.formats.index_catalog import Catalog, SkillSummary, write_catalog
from skillpm.formats.index_releases import SkillReleases, write_releases

HEADER_PATTERN = re.compile(
    rb'<meta name="generator" content="(skillpm [^"<>]*)">\n'
    rb'<meta name="skillpm-share" content="([0-9]{1,9})">\n'
    rb'<meta name="skillpm-index" content="(sha256:[0-9a-f]{64})">'
)
MAX_HEADER_LENGTH = 4096


class PageHeader(Value):
    """Who wrote a page, how much of each skill it shows, and what the index was."""

    generator: str
    text_limit: int
    index_digest: str


def read_header(page: bytes) -> PageHeader | None:
    """Give the head of a page; None where it is no page of ours."""
    found = HEADER_PATTERN.search(page[:MAX_HEADER_LENGTH])
    if found is None:
        return None
    return PageHeader(
        generator=found[1].decode(errors="replace"), text_limit=int(found[2]), index_digest=found[3].decode()
    )


def compute_index_digest(name: str, skills: Sequence[tuple[SkillSummary, SkillReleases]]) -> str:
    """Give a digest of all that the documents of an index say of what it offers."""
    state = hashlib.sha256()
    catalogue = Catalog(name=name, skills=tuple(summary for summary, _ in skills))
    for text in (write_catalog(catalogue), *(write_releases(releases) for _, releases in skills)):
        state.update(text.encode())
    return f"sha256:{state.hexdigest()}"
