"""Two things every change does first: hold the scope's lock, and finish what an interrupted command left."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from skillpm.errors import NewerDocument, SkillpmError
from skillpm.files import discard_file, remove_tree, translate_os_errors
from skillpm.installer.backups import REGISTRY_NAME, next_backup_id
from skillpm.installer.late_edits import back_up_abandoned_change
from skillpm.installer.leftovers import remove_leftovers, remove_temporary_files
from skillpm.installer.recovery import recover
from skillpm.locks import hold_lock
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope


@contextmanager
def lock_scope(scope: Scope, context: Context, *, force: bool = False) -> Iterator[None]:
    """Hold a scope's lock, and finish first what an interrupted command left.

    `force` gives up a change that cannot be finished, since what was staged for it is gone; never one of a newer
    skillpm, which can finish it.
    """
    layout = scope.layout
    with hold_lock(layout.lock, context.settings.lock_timeout, layout.directory, context.reporter.warn):
        with translate_os_errors("tidy up", layout.directory):
            _remove_temporary_files(scope, context)
        try:
            if recover(scope.target(context.settings), context.reporter.warn):
                context.reporter.warn("a change that had been interrupted was finished first")
        except SkillpmError as error:
            if not force or isinstance(error, NewerDocument):
                raise
            with translate_os_errors("give up an interrupted change", layout.directory):
                back_up_abandoned_change(layout, context.reporter.warn)
                discard_file(layout.journal)
        with translate_os_errors("tidy up", layout.directory):
            remove_leftovers(
                layout, context.reporter.warn
            )  # of a command that was killed before its journal, or after it
        try:
            yield
        except BaseException:
            if not os.path.lexists(layout.journal):
                with suppress(OSError):
                    remove_tree(layout.staging)
            raise


def clean_up_after_crash(scope: Scope, context: Context) -> None:
    """Remove what a killed command left, for a command that has nothing else to do. While another one is at work, what
    lies there is that one's; and where nothing may be written, what lies there stays.
    """
    layout = scope.layout
    with (
        suppress(SkillpmError),
        hold_lock(layout.lock, 0, layout.directory),
        translate_os_errors("tidy up", layout.directory),
    ):
        if not os.path.lexists(layout.journal):
            _remove_temporary_files(scope, context)
            remove_leftovers(layout, context.reporter.warn)


def _remove_temporary_files(scope: Scope, context: Context) -> None:
    layout = scope.layout
    kept = [os.path.join(layout.backups, next_backup_id(layout, REGISTRY_NAME))]
    with suppress(OSError):
        kept += [os.path.join(layout.backups, name.rsplit(".", 2)[0]) for name in os.listdir(layout.backups)]
    ours = (layout.journal, layout.stat_cache, layout.gitignore, *kept)
    remove_temporary_files([*scope.target(context.settings).documents.values(), *ours])


def remove_empty_directory(scope: Scope) -> None:
    """Take away an empty skills directory that a failed first command made."""
    ours = scope.layout.internal_dir
    with suppress(OSError):
        ephemeral = {".gitignore", "lock", "lock.pid"}
        if {*os.listdir(ours)} <= ephemeral:
            for name in sorted(ephemeral):
                discard_file(os.path.join(ours, name))
        os.rmdir(ours)
        os.rmdir(scope.layout.directory)
