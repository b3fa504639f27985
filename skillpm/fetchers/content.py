"""The content that a lockfile names, from the store; fetched where the store has it not, or has it no longer."""

from skillpm.core.digest import Digest
from skillpm.core.file_tree import Tree
from skillpm.core.names import SkillName
from skillpm.errors import FetchError, OfflineError
from skillpm.fetchers.base import variant_of
from skillpm.fetchers.dispatcher import Fetchers
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import describe
from skillpm.store import StoreDamaged

TRIES = 5


def content_of(fetchers: Fetchers, name: SkillName, skill: LockedSkill, digest: Digest) -> Tree:
    """Give the content of a locked skill that is no live link, every byte checked against its digest.

    What somebody takes out of the store between its arrival and the reading is fetched again, without a word. Raises
    `OfflineError`, and `FetchError` where it goes away each time.
    """
    for left in reversed(range(TRIES)):
        try:
            tree = fetchers.store.read(digest, variant_of(skill.pin))
        except StoreDamaged:
            fetchers.reporter.warning(f"{name}: its copy in the store was damaged; it is fetched anew")
            tree = None
        if tree is not None:
            return tree
        if left and (missing := fetchers.fetch({name: skill})):
            raise OfflineError(missing)
    raise FetchError(
        f"`{name}` did not arrive from {describe(skill.pin)}, or was taken out of the cache each time",
        where=fetchers.store.folder,
        hint="look for what empties the cache (`skillpm cache clean` in a loop, a cleaner of temporary files)",
    )
