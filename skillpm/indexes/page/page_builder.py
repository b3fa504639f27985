"""The page of an index as it is now; what an older page of ours says of skills that stayed is not made again."""

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from skillpm.core.names import SkillName
from skillpm.formats.index_catalog import Summary
from skillpm.formats.index_releases import Release, Releases
from skillpm.indexes.page.header import Head, head_of, state_of
from skillpm.indexes.page.renderer import Entry, generator, write_page
from skillpm.indexes.page.skill_entry import Leaf, cleaned, leaf_of, share_of
from skillpm.skillmd.skill import Skill

PACKED = re.compile(rb'<script type="text/plain" id="part-[0-9]+">([A-Za-z0-9+/=]*)</script>')
LARGEST = 64_000_000  # characters that one part may become


def leaves_of(page: bytes) -> Iterator[tuple[str, str, Leaf]]:
    """Give name, digest and leaf of each skill on a page, one part after the other, as they stand: by name.

    What cannot be read is left out, and made anew.
    """
    for packed in PACKED.finditer(page):
        try:
            # A page from elsewhere may be a bomb: more than any part of ours is cut off, and so no JSON.
            items = json.loads(zlib.decompressobj().decompress(b64decode(packed[1]), LARGEST))
            found = [
                (str(item["name"]), str(item["digest"]), cleaned(item["leaf"]))
                for item in items
                if is_leaf(item["leaf"])
            ]
        except (ValueError, KeyError, TypeError, RecursionError, zlib.error):
            continue
        yield from found


def is_leaf(value: Any) -> TypeGuard[Leaf]:
    """Tell whether a value has the shape of a leaf, and is text that can be written."""
    if not isinstance(value, dict) or value.keys() != Leaf.__required_keys__:
        return False
    json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate is a ValueError
    texts = ("html", "license", "author", "homepage", "compatibility")
    return (
        all(isinstance(value[key], str) for key in texts)
        and all(type(value[key]) is int for key in ("cut", "tokens"))
        and _are_words(value["triggers"])
        and isinstance(value["needs"], dict)
        and all(_are_words(words) for words in value["needs"].values())
    )


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def make_page(
    name: str, skills: Sequence[tuple[Summary, Releases]], old: bytes, read: Callable[[SkillName, Release], Skill]
) -> bytes:
    """Give the page of an index called `name`; `read` gives a skill's newest SKILL.md where it must be looked at.

    Both pages are walked through by name, side by side, so that few texts are in memory at a time.
    """
    share = share_of(len(skills))
    known = _Known(leaves_of(old) if is_alike(head_of(old), share) else iter(()))

    def entries() -> Iterator[Entry]:
        for summary, releases in sorted(skills, key=lambda pair: pair[0].name):
            latest = next(release for release in releases.versions if release.version == summary.latest)
            leaf = known.of(summary.name, latest.digest)
            if leaf is None or not leaf["tokens"]:
                leaf = leaf_of(read(summary.name, latest), share)
            yield Entry(summary=summary, releases=releases, leaf=leaf)

    return write_page(name, entries(), share)


def is_alike(head: Head | None, share: int) -> bool:
    """Tell whether a page was made as one would be made now."""
    return head is not None and (head.generator, head.share) == (generator(), share)


class _Known:
    """The leaves of an older page, to be asked for by name in the order of names."""

    def __init__(self, leaves: Iterator[tuple[str, str, Leaf]]) -> None:
        self.leaves = leaves
        self.next = next(leaves, None)

    def of(self, name: str, digest: str) -> Leaf | None:
        """Give a skill's leaf, if the page has it and the skill is what it was."""
        while self.next is not None and self.next[0] < name:
            self.next = next(self.leaves, None)
        if self.next is None or self.next[:2] != (name, digest):
            return None
        return self.next[2]


def fault_of(
    page: bytes, name: str, skills: Sequence[tuple[Summary, Releases]], read: Mapping[SkillName, Skill]
) -> str | None:
    """Say what is wrong with a page; None where nothing is, or where it is none of ours.

    A page by another version of skillpm or its libraries is believed when it says that it shows this index; `read`
    holds what the newest SKILL.md of each skill says.
    """
    head = head_of(page)
    if head is None:
        return None
    if head.state != state_of(name, skills):
        return "it shows another state of this index; the next `skillpm index build` writes it anew"
    if is_alike(head, share_of(len(skills))) and page != make_page(name, skills, b"", lambda skill, _: read[skill]):
        return "it is not what was written; remove it, and `skillpm index build` writes it anew"
    return None
