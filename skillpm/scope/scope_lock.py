"""What every change does first: hold the scope's lock, and finish what an interrupted command left."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from skillpm.directories import hold_folders, remove_folder
from skillpm.errors import BusyError, FileError, NewerDocument, SkillpmError
from skillpm.files import discard_file, read_regular_file, remove_tree, translate_os_errors
from skillpm.installer.disk.backups import REGISTRY_NAME, next_backup_id
from skillpm.installer.disk.late_edits import back_up_abandoned_change
from skillpm.installer.disk.leftovers import has_staged_copies, remove_leftovers, remove_temporary_files
from skillpm.installer.disk.staging import EXACT_BYTES
from skillpm.installer.recovery import recover
from skillpm.locks import hold_lock
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import Scope, workspace_scope
from skillpm.scope.used_scopes import record_scope
from skillpm.settings import Settings


@contextmanager
def hold_scope(scope: Scope, settings: Settings) -> Iterator[None]:
    """Hold the folders of a scope: whatever is changed below them is reached through their descriptors.

    The links that a scope may have are resolved now, once. Raises `FileError` for one that leads out of a project.
    """
    layout, is_project = scope.layout, scope.kind == "project"
    linked = [layout.internal_dir, layout.backups]
    with ExitStack() as stack:
        with translate_os_errors("open the skills directory", layout.directory):
            own = [scope.base, scope.root] if is_project else [layout.directory, *filter(os.path.islink, linked)]
            stack.enter_context(hold_folders(own, exempt=[settings.cache_dir]))
            if is_project:
                stack.enter_context(hold_folders(linked, boundary=scope.root))
        yield


@contextmanager
def lock_scope(project: Project, *, may_write_documents: bool = True) -> Iterator[None]:
    """Hold a scope's lock. First finish the change that an interrupted command left, then remove its temporary files.

    If the body raises, what it staged is removed, and so is a skills directory that did not exist before.

    Without `may_write_documents`, a change that still has to write manifest or lockfile is not finished:
    `ConflictError`.
    """
    with _lock_and_recover(project, force=False, may_write_documents=may_write_documents):
        if not project.scope.member:  # of which the root's lock guards the copies
            _finish_copies(project)
        yield


@contextmanager
def _lock_and_recover(project: Project, *, force: bool, may_write_documents: bool) -> Iterator[None]:
    layout = project.layout
    is_new = not os.path.isdir(layout.internal_dir)
    try:
        with (
            hold_scope(project.scope, project.settings),
            hold_lock(layout.lock, project.settings.lock_timeout, layout.directory, project.reporter.warn),
        ):
            _finish_interrupted_change(project, force=force, may_write_documents=may_write_documents)
            try:
                yield
            except BaseException:
                if not os.path.lexists(layout.journal):
                    with suppress(OSError):
                        remove_tree(layout.staging)
                raise
            if os.path.lexists(layout.receipt):
                record_scope(project.scope, project.settings)
    except BusyError:
        raise  # another process made the directory meanwhile, and is at work there
    except BaseException:
        if is_new:
            remove_empty_directory(project.scope, project.settings)
        raise


@contextmanager
def lock_scopes(
    scopes: Sequence[Scope], session: Session, *, force: bool = False, may_write_documents: bool = True
) -> Iterator[None]:
    """Hold the locks of the root of a workspace and of members, as `lock_scope` does.

    The root comes first, and members are sorted: so two commands never wait for each other. `force` abandons a change
    that cannot be finished because what was staged for it is gone; never one of a newer skillpm, which can finish it.
    """
    is_new = not os.path.isdir(scopes[0].layout.internal_dir)
    try:
        with ExitStack() as stack:
            for scope in scopes:
                stack.enter_context(
                    _lock_and_recover(Project(scope, session), force=force, may_write_documents=may_write_documents)
                )
            _finish_copies(Project(scopes[0], session))  # after the changes of all, which write their lockfile
            yield
    finally:
        if is_new and len(scopes) > 1:
            # A root without skills of its own holds nothing but the lock.
            remove_empty_directory(scopes[0], session.settings)


def _finish_interrupted_change(project: Project, *, force: bool, may_write_documents: bool) -> None:
    layout, warn = project.layout, project.reporter.warn
    with translate_os_errors("clean up", layout.directory):
        _remove_temporary_files(project)
    try:
        if recover(project.scope.target(project.settings), warn, may_write_documents=may_write_documents):
            warn("finished an interrupted change first")
    except SkillpmError as error:
        if not force or isinstance(error, NewerDocument):
            raise
        with translate_os_errors("abandon an interrupted change", layout.directory):
            back_up_abandoned_change(layout, warn)
            discard_file(layout.journal)
    # A command that was killed before it wrote its journal, or after it removed it, leaves folders that nothing needs.
    with translate_os_errors("clean up", layout.directory):
        remove_leftovers(layout, warn)


def clean_up_after_crash(project: Project) -> None:
    """Remove what a killed command left, for a command that may have nothing else to do.

    Does nothing while another command holds the lock, whose files these are, or if nothing can be written.
    """
    layout = project.layout
    if project.scope.member and has_staged_copies(project.scope.base):
        with (
            suppress(SkillpmError),
            lock_scopes([workspace_scope(project.scope, project.settings), project.scope], project.session),
        ):
            return
    is_new = not os.path.isdir(layout.internal_dir)
    with (
        suppress(SkillpmError),
        hold_scope(project.scope, project.settings),
        hold_lock(layout.lock, 0, layout.directory),
        translate_os_errors("clean up", layout.directory),
    ):
        if not os.path.lexists(layout.journal):
            _remove_temporary_files(project)
            remove_leftovers(layout, project.reporter.warn)
            if not project.scope.member:
                _finish_copies(project)
    if is_new:
        remove_empty_directory(project.scope, project.settings)  # it held nothing but the lock


def _finish_copies(project: Project) -> None:
    if has_staged_copies(project.scope.base):
        from skillpm.scope.bundled_copies import finish_copies  # noqa: PLC0415  (only after a crash)

        finish_copies(project)


def _remove_temporary_files(project: Project) -> None:
    layout = project.layout
    temporary = [os.path.join(layout.backups, next_backup_id(layout, REGISTRY_NAME))]
    with suppress(OSError):
        temporary += [os.path.join(layout.backups, name.rsplit(".", 2)[0]) for name in os.listdir(layout.backups)]
    ours = (layout.journal, layout.stat_cache, layout.gitignore, layout.gitattributes, *temporary)
    remove_temporary_files([*project.scope.target(project.settings).documents.values(), *ours])


def remove_empty_directory(scope: Scope, settings: Settings) -> None:
    """Remove the empty skills directory that a failed first command created."""
    ours = scope.layout.internal_dir
    with suppress(OSError, FileError), hold_scope(scope, settings):
        ephemeral = {".gitignore", "lock", "lock.pid"}
        if {*os.listdir(ours)} <= ephemeral:
            for name in sorted(ephemeral):
                discard_file(os.path.join(ours, name))
        remove_folder(ours)
        if os.listdir(scope.layout.directory) == [".gitattributes"] and _is_ours(scope.layout.gitattributes):
            discard_file(scope.layout.gitattributes)
        remove_folder(scope.layout.directory)


def _is_ours(path: str) -> bool:
    return read_regular_file(path) == EXACT_BYTES
