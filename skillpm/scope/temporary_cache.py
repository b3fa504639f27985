"""Where a command keeps what it fetches if the cache cannot be written: a folder that goes when the command ends."""

import os
from collections.abc import Callable

from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.files import is_writable, remove_tree
from skillpm.store import Store


class TemporaryCache:
    """A folder that is created on first use, with a warning, and deleted when the process exits."""

    def __init__(self, replaced_dir: str, warn: Callable[[str], None]) -> None:
        self.replaced_dir = replaced_dir
        self.warn = warn
        self._folder = ""

    def get_folder(self, replaced_part: str) -> str:
        """Return the folder, and create it on the first call; `replaced_part` is what cannot be written."""
        if not self._folder:
            import atexit  # noqa: PLC0415  (rarely needed)
            import tempfile  # noqa: PLC0415

            self._folder = tempfile.mkdtemp(prefix="skillpm-cache-")
            atexit.register(remove_tree, self._folder)
            discarded = "fetched content is discarded after this command"
            if is_writable(self.replaced_dir):
                repair = "`skillpm doctor --fix` repairs it"
                self.warn(f"{replaced_part} in the cache cannot be read or written; {discarded}; {repair}")
            else:
                self.warn(f"the cache {self.replaced_dir} is not writable; {discarded}")
        return self._folder

    def open_store(self, folder: str) -> "OverlayStore":
        """Return the store in a folder that cannot be written, with one on top that can."""
        return OverlayStore(folder, self)


class OverlayStore(Store):
    """A read-only store with a temporary one on top, which is read first and takes what is added."""

    def __init__(self, folder: str, temporary: TemporaryCache) -> None:
        super().__init__(folder)
        self.temporary = temporary
        self._overlay: Store | None = None
        self._damaged: set[str] = set()

    def path(self, digest: Digest, variant: str = "") -> str:
        """Return the path of an entry, whether or not it exists."""
        below = super().path(digest, variant)
        above = below if self._overlay is None else self._overlay.path(digest, variant)
        return above if os.path.isfile(above) or below in self._damaged else below

    def has(self, digest: Digest, variant: str = "") -> bool:
        """Return whether an entry exists and was not found damaged."""
        path = self.path(digest, variant)
        return path not in self._damaged and os.path.isfile(path)

    def add(self, tree: FileTree, variant: str = "", *, replace: bool = False) -> Digest:
        """Add a tree to the temporary store."""
        if self.has(tree.digest, variant) and not replace:
            return tree.digest
        if self._overlay is None:
            self._overlay = Store(os.path.join(self.temporary.get_folder(self.folder), "store"))
        return self._overlay.add(tree, variant, replace=replace)

    def _discard(self, path: str) -> None:
        """Do not read an entry again, which cannot be deleted here."""
        self._damaged.add(path)
