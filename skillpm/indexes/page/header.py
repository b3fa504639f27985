"""The header of the HTML catalog: its generator, and a digest of the index that it shows."""

import hashlib
from collections.abc import Sequence

from skillpm.core.patterns import lazy_pattern
from skillpm.core.values import Value
from skillpm.formats.index_catalog import Catalog, CatalogSkill, write_catalog
from skillpm.formats.index_releases import SkillReleases, write_releases

HEADER_PATTERN = lazy_pattern(
    rb'<meta name="generator" content="(skillpm [^"<>]*)">\n'
    rb'(?:<meta name="skillpm-share" content="[0-9]{1,9}">\n)?'  # up to page version 2
    rb'<meta name="skillpm-index" content="(sha256:[0-9a-f]{64})">'
)
MAX_HEADER_LENGTH = 4096
SKILL_FILE_START = b"skillpmPage("


class PageHeader(Value):
    """The metadata of a page."""

    # See `renderer.generator_id`.
    generator: str
    # See `compute_index_digest`.
    index_digest: str


def read_header(page: bytes) -> PageHeader | None:
    """Return the header of a page; None for a page that skillpm did not write."""
    match = HEADER_PATTERN.search(page[:MAX_HEADER_LENGTH])
    if match is None:
        return None
    return PageHeader(generator=match[1].decode(errors="replace"), index_digest=match[2].decode())


def compute_index_digest(name: str, skills: Sequence[tuple[CatalogSkill, SkillReleases]]) -> str:
    """Return a digest of the documents of an index, which identifies its state."""
    state = hashlib.sha256()
    catalog = Catalog(name=name, skills=tuple(summary for summary, _ in skills))
    for text in (write_catalog(catalog), *(write_releases(releases) for _, releases in skills)):
        state.update(text.encode())
    return f"sha256:{state.hexdigest()}"
