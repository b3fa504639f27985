"""The page of an index as it is now; what an older page of ours says of skills that stayed is not made again."""

from collections.abc import Callable, Iterator, Sequence

from skillpm.documents.catalogue import Summary
from skillpm.documents.names import SkillName
from skillpm.documents.releases import Release, Releases
from skillpm.documents.skill import Skill
from skillpm.indexes.page.head import Head, head_of
from skillpm.indexes.page.leaf import Leaf, leaf_of, share_of
from skillpm.indexes.page.reading import leaves_of
from skillpm.indexes.page.writing import Entry, generator, write_page


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
