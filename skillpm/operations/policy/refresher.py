"""Refresh published policies while a process serves skills: in one thread, for all of its services.

A call of a service never waits for a server: it reads the copy on disk, which the thread replaces. No thread survives a
fork, so the next call in the child (of gunicorn, of multiprocessing) starts another one.

The thread imports nothing. In a child that was forked meanwhile, the lock of the module would stay with a thread that
the child does not have, and the child could never import that module. So all that a refresh needs is imported here, by
the thread that serves.
"""

import difflib  # noqa: F401  (for suggestions in errors)
import email.utils  # noqa: F401  (for `Retry-After`)
import encodings.idna  # noqa: F401  (for the names of servers)
import os
import random  # noqa: F401  (for pauses between attempts)
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from weakref import WeakKeyDictionary

import skillpm.fetchers.common.destinations
import skillpm.fetchers.http.client
import skillpm.fetchers.http.redirects  # noqa: F401
from skillpm.core.text import sanitize
from skillpm.errors import SkillpmError
from skillpm.scope.policy_refresh import refresh_policies
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import user_scope
from skillpm.scope.scope_policy import read_policies
from skillpm.serving.event_log import log_event
from skillpm.settings import Settings

# How long the thread sleeps at most, in seconds, so that a policy that is added later is found.
MAX_PAUSE = 60.0


class PolicyRefresher:
    """The thread of this process. It ends when no service needs it any more."""

    def __init__(self) -> None:
        self._reset()
        if hasattr(os, "register_at_fork"):  # Windows has no fork
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._services: WeakKeyDictionary[object, Settings] = WeakKeyDictionary()
        self._errors: dict[str, str] = {}

    def keep_refreshed(self, service: object, settings: Settings) -> None:
        """Refresh what is due now, and from now on as long as the service exists; return at once."""
        if self._thread is not None and self._thread.is_alive() and service in self._services:
            return
        with self._lock:
            self._services[service] = settings
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="skillpm-policies", daemon=True)
                with suppress(RuntimeError):  # no more threads: the copy applies until its max-age
                    self._thread.start()

    def _run(self) -> None:
        pause = threading.Event()
        while settings := self._list_settings():
            pause.wait(min(map(self._refresh, settings)))

    def _list_settings(self) -> Sequence[Settings]:
        """Return the different settings of the services that exist; if there is none, the thread is forgotten."""
        with self._lock:
            found = {
                (each.config_dir, each.added_policy, each.machine_policy): each for each in self._services.values()
            }
            if not found:
                self._thread = None
            return [*found.values()]

    def _refresh(self, settings: Settings) -> float:
        """Refresh the policies that are due; return the number of seconds until the next look at them."""
        scope = user_scope(settings)
        try:
            results = refresh_policies(
                Project(scope, Session(settings=settings.replace(now=time.time()))), only_due=True
            )
            policies = read_policies([scope], settings)
        except SkillpmError:  # a policy that cannot be read, which each call of a service reports
            return MAX_PAUSE
        for result in results:
            message = "" if result.error is None else result.error.message
            if message and self._errors.get(result.url) != message:
                log_event("warning", "Policy not refreshed: %s: %s", sanitize(result.url), message)
            if result.is_changed:
                log_event("info", "Policy refreshed: %s, issued %s", sanitize(result.url), result.issued)
            self._errors[result.url] = message
        return min([MAX_PAUSE, *(float(policy.fetch.refresh) for _, policy in policies if policy.fetch is not None)])


REFRESHER = PolicyRefresher()
