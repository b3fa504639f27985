"""What every operation receives: a project, that is a scope, and the session of the command."""

import os
from typing import TYPE_CHECKING

from skillpm.core.digest import Digest
from skillpm.events import Recorder
from skillpm.files import is_writable
from skillpm.installer.disk.layout import Layout
from skillpm.scope.scope import Scope
from skillpm.settings import Settings
from skillpm.store import Store

if TYPE_CHECKING:
    from skillpm.audit.model import AuditFinding
    from skillpm.fetchers.dispatcher import FetcherDispatcher
    from skillpm.scope.temporary_cache import TemporaryCache


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

    def _open_temporary(self) -> "TemporaryCache":
        if self._temporary is None:
            from skillpm.scope.temporary_cache import TemporaryCache  # noqa: PLC0415  (rarely needed)

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
