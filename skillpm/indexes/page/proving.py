"""Tell whether a page is the one that belongs to its index."""

from collections.abc import Mapping, Sequence

from skillpm.documents.catalogue import Summary
from skillpm.documents.names import SkillName
from skillpm.documents.releases import Releases
from skillpm.documents.skill import Skill
from skillpm.indexes.page.head import head_of, state_of
from skillpm.indexes.page.leaf import share_of
from skillpm.indexes.page.making import is_alike, make_page


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
