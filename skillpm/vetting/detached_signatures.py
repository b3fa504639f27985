"""The signatures that are published beside the content of a skill, whose bytes and digest never change.

None of them is verified here. Each names the hash of every file, so it does not matter where it was kept.
"""

from collections.abc import Iterator

from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError, NotFoundError, RefusedError, SignatureError
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import LockedSkill
from skillpm.installer.disk.layout import Layout
from skillpm.installer.kept_signatures import read_kept_signatures
from skillpm.kinds.base import Pin
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill


def has_signatures_beside(pin: Pin) -> bool:
    """Return whether signatures may be published beside the content of a source: in a git repository, they cannot."""
    return pin.has_signatures_beside


def find_signatures_beside(
    fetchers: FetcherDispatcher, name: SkillName, skill: LockedSkill, tree: FileTree, layout: Layout | None = None
) -> Iterator[bytes]:
    """Yield the signatures that are kept in a skills directory, and then those at the source, which is contacted then.

    Raises `OfflineError` if the source cannot be contacted, and `SignatureError` for signatures that cannot be read.
    """
    if not has_signatures_beside(skill.pin):
        return
    kept = read_kept_signatures(layout, tree.digest) if layout is not None else ()
    yield from kept
    try:
        published = fetchers.find_signatures(_published_name(tree) or name, skill.pin)
    except (DocumentError, RefusedError, NotFoundError) as error:
        raise SignatureError(f"the signatures beside it cannot be read: {error.message}") from error
    yield from (each for each in published if each not in kept)


def _published_name(tree: FileTree) -> SkillName | None:
    """Return the name under which an index has a skill: that of its SKILL.md."""
    try:
        declared = read_skill(tree.read(tree.skill_file) or b"").declared
    except NotLoadable:
        return None
    return SkillName(declared) if declared else None
