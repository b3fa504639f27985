"""A cache that cannot be written stops nobody: what is fetched then lies in a temporary one, for one command."""

import os
from collections.abc import Callable

from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.files import remove_tree
from skillpm.store import Store, StoreDamaged


def is_writable(folder: str) -> bool:
    """Tell whether files may be put into a folder, or the folder be made. One that is no folder is another fault."""
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:  # a drive may not be there
        folder = os.path.dirname(folder)
    return not os.path.isdir(folder) or os.access(folder, os.W_OK | os.X_OK)


class TemporaryCache:
    """A folder that is made when it is first needed, with a warning, and gone when the process ends."""

    def __init__(self, replaced_dir: str, warn: Callable[[str], None]) -> None:
        self.replaced_dir = replaced_dir
        self.warn = warn
        self._folder = ""

    def get_folder(self) -> str:
        """Give the folder."""
        if not self._folder:
            import atexit  # noqa: PLC0415  (both only where something is wrong)
            import tempfile  # noqa: PLC0415

            self._folder = tempfile.mkdtemp(prefix="skillpm-cache-")
            atexit.register(remove_tree, self._folder)
            self.warn(
                f"the cache {self.replaced_dir} cannot be written; what is fetched is forgotten after this command"
            )
        return self._folder


class OverlayStore(Store):
    """A store that cannot be written, and above it a temporary one, which takes what is new and is asked first."""

    def __init__(self, folder: str, temporary: TemporaryCache) -> None:
        super().__init__(folder)
        self.temporary = temporary
        self._overlay: Store | None = None
        self._damaged: set[str] = set()

    def path(self, digest: Digest, variant: str = "") -> str:
        """Give where an entry lies, or would."""
        below = super().path(digest, variant)
        above = below if self._overlay is None else self._overlay.path(digest, variant)
        return above if os.path.isfile(above) or below in self._damaged else below

    def has(self, digest: Digest, variant: str = "") -> bool:
        """Tell whether an entry is there, and was not found damaged."""
        path = self.path(digest, variant)
        return path not in self._damaged and os.path.isfile(path)

    def add(self, tree: FileTree, variant: str = "", *, replace: bool = False) -> Digest:
        """Put a tree into the temporary store."""
        if self.has(tree.digest, variant) and not replace:
            return tree.digest
        if self._overlay is None:
            self._overlay = Store(os.path.join(self.temporary.get_folder(), "store"))
        return self._overlay.add(tree, variant, replace=replace)

    def read(self, digest: Digest, variant: str = "") -> FileTree | None:
        """Give a tree. A damaged entry that cannot be removed is not looked at again."""
        try:
            return super().read(digest, variant)
        except StoreDamaged:
            self._damaged.add(super().path(digest, variant))
            raise
