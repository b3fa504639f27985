"""What every operation receives: a project, that is a scope, and the session of the command."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.events import Recorder
from skillpm.files import is_writable, remove_tree
from skillpm.installer.disk.layout import Layout
from skillpm.scope.scope import Scope
from skillpm.settings import Settings
from skillpm.store import Store

if TYPE_CHECKING:
    from skillpm.audit.model import AuditFinding
    from skillpm.fetchers.dispatcher import FetcherDispatcher


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


class Session:
    """The settings and the reporter of a command, its store, and what all its projects share."""

    def __init__(self, *, settings: Settings, reporter: Recorder | None = None) -> None:
        self.settings = settings
        self.reporter = reporter or Recorder()
        # By the folder of the lockfile.
        self.fetchers: dict[str, FetcherDispatcher] = {}
        # Whether published policies were refreshed, or that was tried.
        self.is_policy_refreshed = False
        # What the audit found in contents, by their digests.
        self.findings: dict[Digest, tuple[AuditFinding, ...]] = {}
        self._temporary: TemporaryCache | None = None
        self._store: Store | None = None

    @property
    def store(self) -> Store:
        """The store shared by all scopes."""
        if self._store is None:
            folder = os.path.join(self.settings.cache_dir, "store")
            self._store = Store(folder) if is_writable(folder) else self._open_temporary().open_store(folder)
        return self._store

    def git_cache_dir(self) -> str:
        """Return the folder for cached git repositories."""
        folder = os.path.join(self.settings.cache_dir, "git")
        return folder if is_writable(folder) else os.path.join(self._open_temporary().get_folder(folder), "git")

    def _open_temporary(self) -> TemporaryCache:
        if self._temporary is None:
            self._temporary = TemporaryCache(self.settings.cache_dir, self.reporter.warn)
        return self._temporary


class Project:
    """A scope, and the session of the command that works on it.

    Its documents are not kept here: they are read again under the lock, and after each `DocumentChanged`.
    """

    def __init__(self, scope: Scope, session: Session) -> None:
        self.scope = scope
        self.session = session

    @property
    def layout(self) -> Layout:
        """Where its skills are, and all that skillpm writes beside them."""
        return self.scope.layout

    @property
    def settings(self) -> Settings:
        """The settings of the command."""
        return self.session.settings

    @property
    def reporter(self) -> Recorder:
        """Where progress and warnings go."""
        return self.session.reporter

    @property
    def store(self) -> Store:
        """The store shared by all scopes."""
        return self.session.store

    def in_scope(self, scope: Scope) -> "Project":
        """Return the project of another scope, in the same session."""
        return Project(scope, self.session)

    def command(self, name: str, *arguments: str) -> str:
        """Return a command that works in this project: `skillpm diff -g pdf`."""
        return self.scope.command(name, *arguments)
