"""The page of an index as it is now; what an older page of ours says of skills that stayed is not made again."""

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from skillpm.core.names import SkillName
from skillpm.formats.index_catalog import SkillSummary
from skillpm.formats.index_releases import Release, SkillReleases
from skillpm.indexes.page.header import PageHeader, compute_index_digest, read_header
from skillpm.indexes.page.renderer import PageEntry, generator_id, render_page
from skillpm.indexes.page.skill_entry import SkillPage, build_skill_page, sanitize_skill_page, text_limit_for
from skillpm.skillmd.skill import Skill

PART_PATTERN = re.compile(rb'<script type="text/plain" id="part-[0-9]+">([A-Za-z0-9+/=]*)</script>')
MAX_PART_SIZE = 64_000_000  # characters that one part may become


def read_skill_pages(page: bytes) -> Iterator[tuple[str, str, SkillPage]]:
    """Give name, digest and leaf of each skill on a page, one part after the other, as they stand: by name.

    What cannot be read is left out, and made anew.
    """
    for packed in PART_PATTERN.finditer(page):
        try:
            # A page from elsewhere may be a bomb: more than any part of ours is cut off, and so no JSON.
            items = json.loads(zlib.decompressobj().decompress(b64decode(packed[1]), MAX_PART_SIZE))
            found = [
                (str(item["name"]), str(item["digest"]), sanitize_skill_page(item["leaf"]))
                for item in items
                if is_skill_page(item["leaf"])
            ]
        except (ValueError, KeyError, TypeError, RecursionError, zlib.error):
            continue
        yield from found


def is_skill_page(value: Any) -> TypeGuard[SkillPage]:
    """Tell whether a value has the shape of a leaf, and is text that can be written."""
    if not isinstance(value, dict) or value.keys() != SkillPage.__required_keys__:
        return False
    json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate is a ValueError
    texts = ("html", "license", "author", "homepage", "compatibility")
    return (
        all(isinstance(value[key], str) for key in texts)
        and all(type(value[key]) is int for key in ("cut", "tokens"))
        and _is_string_list(value["triggers"])
        and isinstance(value["needs"], dict)
        and all(_is_string_list(words) for words in value["needs"].values())
    )


def _is_string_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def build_page(
    name: str,
    skills: Sequence[tuple[SkillSummary, SkillReleases]],
    old_page: bytes,
    read_skill: Callable[[SkillName, Release], Skill],
) -> bytes:
    """Give the page of an index called `name`; `read` gives a skill's newest SKILL.md where it must be looked at.

    Both pages are walked through by name, side by side, so that few texts are in memory at a time.
    """
    share = text_limit_for(len(skills))
    known = _OldSkillPages(read_skill_pages(old_page) if is_reusable(read_header(old_page), share) else iter(()))

    def entries() -> Iterator[PageEntry]:
        for summary, releases in sorted(skills, key=lambda pair: pair[0].name):
            latest = next(release for release in releases.versions if release.version == summary.latest)
            leaf = known.get(summary.name, latest.digest)
            if leaf is None or not leaf["tokens"]:
                leaf = build_skill_page(read_skill(summary.name, latest), share)
            yield PageEntry(summary=summary, releases=releases, page=leaf)

    return render_page(name, entries(), share)


def is_reusable(header: PageHeader | None, text_limit: int) -> bool:
    """Tell whether a page was made as one would be made now."""
    return header is not None and (header.generator, header.text_limit) == (generator_id(), text_limit)


class _OldSkillPages:
    """The leaves of an older page, to be asked for by name in the order of names."""

    def __init__(self, pages: Iterator[tuple[str, str, SkillPage]]) -> None:
        self.pages = pages
        self.next_page = next(pages, None)

    def get(self, name: str, digest: str) -> SkillPage | None:
        """Give a skill's leaf, if the page has it and the skill is what it was."""
        while self.next_page is not None and self.next_page[0] < name:
            self.next_page = next(self.pages, None)
        if self.next_page is None or self.next_page[:2] != (name, digest):
            return None
        return self.next_page[2]


def find_page_problem(
    page: bytes,
    name: str,
    skills: Sequence[tuple[SkillSummary, SkillReleases]],
    skills_by_name: Mapping[SkillName, Skill],
) -> str | None:
    """Say what is wrong with a page; None where nothing is, or where it is none of ours.

    A page by another version of skillpm or its libraries is believed when it says that it shows this index; `read`
    holds what the newest SKILL.md of each skill says.
    """
    head = read_header(page)
    if head is None:
        return None
    if head.index_digest != compute_index_digest(name, skills):
        return "it shows another state of this index; the next `skillpm index build` writes it anew"
    if is_reusable(head, text_limit_for(len(skills))) and page != build_page(
        name, skills, b"", lambda skill, _: skills_by_name[skill]
    ):
        return "it is not what was written; remove it, and `skillpm index build` writes it anew"
    return None
