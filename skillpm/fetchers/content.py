"""The content that a lockfile names, from the store; fetched where the store has it not, or has it no longer."""

from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.errors import FetchError, OfflineError
from skillpm.fetchers.base import variant_of
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import describe_pin
from skillpm.store import StoreDamaged

MAX_ATTEMPTS = 5


def fetch_content(fetchers: FetcherDispatcher, name: SkillName, skill: LockedSkill, digest: Digest) -> FileTree:
    """Give the content of a locked skill that is no live link, every byte checked against its digest.

    What somebody takes out of the store between its arrival and the reading is fetched again, without a word. Raises
    `OfflineError`, and `FetchError` where it goes away each time.
    """
    for left in reversed(range(MAX_ATTEMPTS)):
        try:
            tree = fetchers.store.read(digest, variant_of(skill.pin))
        except StoreDamaged:
            fetchers.reporter.warn(f"{name}: its copy in the store was damaged; it is fetched anew")
            tree = None
        if tree is not None:
            return tree
        if left and (missing := fetchers.fetch({name: skill})):
            raise OfflineError(missing)
    raise FetchError(
        f"`{name}` did not arrive from {describe_pin(skill.pin)}, or was taken out of the cache each time",
        where=fetchers.store.folder,
        hint="look for what empties the cache (`skillpm cache clean` in a loop, a cleaner of temporary files)",
    )
