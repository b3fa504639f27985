"""The files of a folder in a commit, for the gate."""

from collections.abc import Callable, Iterator, Sequence

from skillpm.documents.text import show
from skillpm.documents.tree import Entry
from skillpm.fetching.git.objects import EXECUTABLE, GITLINK, LINK, CacheDamaged
from skillpm.fetching.git.repository import Repository
from skillpm.fetching.git.walking import Leaf


def entries_of(
    repository: Repository, leaves: Sequence[Leaf], name: str, warn: Callable[[str], None]
) -> Iterator[Entry]:
    """Give a folder's files for the gate, which `bring` has found to be there and not too big."""
    blobs = repository.reader.read(leaf.id for leaf in leaves if leaf.mode != GITLINK)
    for leaf in leaves:
        if leaf.mode == GITLINK:
            warn(f"{name}: `{show(leaf.path)}` is a submodule, which is not followed")
        elif (blob := blobs[leaf.id]) is None or blob.kind != "blob":
            raise CacheDamaged(f"object {leaf.id} is gone, or no file")
        elif leaf.mode == LINK:
            yield Entry(path=leaf.path, kind="link", data=blob.data)
        else:
            yield Entry(path=leaf.path, data=blob.data, executable=leaf.mode == EXECUTABLE)
