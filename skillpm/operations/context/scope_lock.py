"""Two things every change does first: hold the scope's lock, and finish what an interrupted command left."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from skillpm.errors import NewerDocument, SkillpmError
from skillpm.files import discard_file, remove_tree, told
from skillpm.installer.backups import REGISTRY, next_slot
from skillpm.installer.late_edits import keep_what_is_given_up
from skillpm.installer.leftovers import empty, sweep
from skillpm.installer.recovery import recover
from skillpm.locks import locked
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope


@contextmanager
def exclusive(scope: Scope, tools: Tools, *, force: bool = False) -> Iterator[None]:
    """Hold a scope's lock, and finish first what an interrupted command left.

    `force` gives up a change that cannot be finished, since what was staged for it is gone; never one of a newer
    skillpm, which can finish it.
    """
    layout = scope.layout
    with locked(layout.lock, tools.settings.lock_timeout, layout.directory, tools.reporter.warning):
        with told("tidy up", layout.directory):
            _sweep(scope, tools)
        try:
            if recover(scope.target(tools.settings), tools.reporter.warning):
                tools.reporter.warning("a change that had been interrupted was finished first")
        except SkillpmError as error:
            if not force or isinstance(error, NewerDocument):
                raise
            with told("give up an interrupted change", layout.directory):
                keep_what_is_given_up(layout, tools.reporter.warning)
                discard_file(layout.journal)
        with told("tidy up", layout.directory):
            empty(layout, tools.reporter.warning)  # of a command that was killed before its journal, or after it
        try:
            yield
        except BaseException:
            if not os.path.lexists(layout.journal):
                with suppress(OSError):
                    remove_tree(layout.staging)
            raise


def clear_up(scope: Scope, tools: Tools) -> None:
    """Remove what a killed command left, for a command that has nothing else to do. While another one is at work, what
    lies there is that one's; and where nothing may be written, what lies there stays.
    """
    layout = scope.layout
    with suppress(SkillpmError), locked(layout.lock, 0, layout.directory), told("tidy up", layout.directory):
        if not os.path.lexists(layout.journal):
            _sweep(scope, tools)
            empty(layout, tools.reporter.warning)


def _sweep(scope: Scope, tools: Tools) -> None:
    layout = scope.layout
    kept = [os.path.join(layout.backup, next_slot(layout, REGISTRY))]
    with suppress(OSError):
        kept += [os.path.join(layout.backup, name.rsplit(".", 2)[0]) for name in os.listdir(layout.backup)]
    ours = (layout.journal, layout.scan, layout.ignore, *kept)
    sweep([*scope.target(tools.settings).documents.values(), *ours])


def tidy_up(scope: Scope) -> None:
    """Take away an empty skills directory that a failed first command made."""
    ours = scope.layout.ours
    with suppress(OSError):
        ephemeral = {".gitignore", "lock", "lock.pid"}
        if {*os.listdir(ours)} <= ephemeral:
            for name in sorted(ephemeral):
                discard_file(os.path.join(ours, name))
        os.rmdir(ours)
        os.rmdir(scope.layout.directory)
