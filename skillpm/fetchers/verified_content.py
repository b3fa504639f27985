"""The verified content of locked skills, from the store or fetched."""

from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.errors import (
    FetchError,
    OfflineError,
)
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import LockedSkill
from skillpm.store import StoreDamaged

MAX_STORE_READS = 5


def fetch_content(fetchers: FetcherDispatcher, name: SkillName, skill: LockedSkill, digest: Digest) -> FileTree:
    """Return the content of a locked skill (not a live link), every byte verified against its digest.

    Raises `OfflineError`, or `FetchError` if the content disappears from the store again and again.
    """
    if (added := fetchers.store.take_added(digest, skill.pin.store_variant())) is not None:
        return added
    # Another process may delete an entry between fetching and reading it (`cache clean`): then it is fetched again.
    reason = "not cached"
    for remaining in reversed(range(MAX_STORE_READS)):
        try:
            tree = fetchers.store.read(digest, skill.pin.store_variant())
        except StoreDamaged:
            fetchers.reporter.warn(f"{name}: its copy in the store was damaged; fetching it again")
            tree, reason = None, "the cached copy is damaged"
        if tree is not None:
            return tree
        if remaining and (missing := fetchers.fetch({name: skill})):
            raise OfflineError(missing, reason=reason, skills=[name])
    raise FetchError(
        f"cannot fetch `{name}` from {skill.pin.describe()}: it was removed from the cache each time",
        where=fetchers.store.folder,
        hint="check what empties the cache (`skillpm cache clean` in a loop, a cleaner of temporary files)",
    )
