"""The page of an index as it is now; what an older page of ours says of skills that stayed is not made again."""

from collections.abc import Callable, Sequence

from skillpm.documents.index import Release, Releases, Summary
from skillpm.documents.names import SkillName
from skillpm.documents.skill import Skill
from skillpm.indexes.page.head import Head, head_of
from skillpm.indexes.page.leaf import leaf_of, share_of
from skillpm.indexes.page.reading import leaves_of
from skillpm.indexes.page.writing import Entry, generator, write_page


def make_page(
    name: str, skills: Sequence[tuple[Summary, Releases]], old: str, read: Callable[[SkillName, Release], Skill]
) -> str:
    """Give the page of an index called `name`; `read` gives a skill's newest SKILL.md where it must be looked at."""
    share = share_of(len(skills))
    known = leaves_of(old) if is_alike(head_of(old), share) else {}
    entries = []
    for summary, releases in skills:
        latest = next(release for release in releases.versions if release.version == summary.latest)
        leaf = known.get(latest.digest)
        if leaf is None or not leaf["tokens"]:
            leaf = leaf_of(read(summary.name, latest), share)
        entries.append(Entry(summary=summary, releases=releases, leaf=leaf))
    return write_page(name, entries, share)


def is_alike(head: Head | None, share: int) -> bool:
    """Tell whether a page was made as one would be made now."""
    return head is not None and (head.generator, head.share) == (generator(), share)
