"""`init`: create an empty manifest."""

import os
from collections.abc import Iterator

from skillpm.core.text import pluralize, sanitize
from skillpm.directories import make_folders
from skillpm.errors import ConflictError
from skillpm.files import translate_os_errors, write_new_file
from skillpm.formats.manifest import EMPTY_MANIFEST
from skillpm.installer.escaping_links import find_repository_root
from skillpm.scope.project import Project, Session
from skillpm.scope.project_files import require_project_manifest
from skillpm.scope.scope import (
    LOCKFILE,
    MANIFEST,
    Scope,
    enclosing_folders,
    is_home,
    locked_in,
    resolve_project_scope,
    user_scope,
)
from skillpm.scope.scope_lock import hold_scope
from skillpm.settings import Settings


def start_project(project: Project) -> Scope:
    """Return the scope of the git repository, which becomes a project: the first change writes its manifest.

    `scope` is user scope as the fallback. Raises `NotFoundError` for a project that lost its manifest.
    """
    require_project_manifest(project.scope, project.settings)
    return resolve_project_scope(project.settings, find_repository_root(project.settings.working_directory))


def init(session: Session, folder: str, *, user: bool = False) -> tuple[list[str], str, tuple[str, ...]]:
    """Create an empty manifest in a folder, or in user scope; return the files, the skills directory, and notes.

    Raises `ConflictError` if there is a manifest, or a lockfile, whose skills would then no longer be required.
    """
    settings = session.settings
    scope = user_scope(settings) if user else resolve_project_scope(settings, folder)
    if os.path.lexists(scope.manifest):
        command = scope.command("install", "SPEC")
        raise ConflictError(f"{scope.manifest} already exists", hint=f"edit it, or add to it with `{command}`")
    if not scope.member and (count := locked_in(scope.lockfile)):
        raise ConflictError(
            f"skills.lock locks {pluralize(count, 'skill')}, which the next `{scope.command('sync')}` would uninstall "
            "if skills.json were empty; nothing was written",
            where=scope.lockfile,
            hint="restore skills.json from version control (`git checkout HEAD -- skills.json`) or dotfiles; "
            "if you want none of these skills, delete skills.lock first",
        )
    with hold_scope(scope, settings), translate_os_errors("start a project", scope.manifest):
        make_folders(os.path.dirname(scope.manifest))
        write_new_file(scope.manifest, EMPTY_MANIFEST.encode(), 0o644, fsync=settings.fsync)
    notes = () if user else tuple(_workspace_notes(scope, settings))
    return [scope.manifest], scope.layout.directory, notes


def _workspace_notes(scope: Scope, settings: Settings) -> Iterator[str]:
    """Yield how the new project is related to one above it, of which it may be a member."""
    if scope.member:
        yield f"this is the member {scope.member} of {scope.base}, whose skills.lock it shares"
        if os.path.lexists(own := os.path.join(scope.root, LOCKFILE)):
            yield f"{own} is no longer used; delete it"
        return
    for above in enclosing_folders(scope.root):
        if os.path.isfile(manifest := os.path.join(above, MANIFEST)) and not is_home(settings, above):
            folder = os.path.relpath(scope.root, above).replace(os.sep, "/")
            yield f"to share the lockfile of {above}, add `{sanitize(folder)}` to `members` in {sanitize(manifest)}"
            return
