"""`init`: create an empty manifest."""

import os

from skillpm.core.text import pluralize
from skillpm.directories import make_folders
from skillpm.errors import ConflictError
from skillpm.files import translate_os_errors, write_new_file
from skillpm.formats.manifest import EMPTY_MANIFEST
from skillpm.operations.context.project_files import require_project_manifest
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope, locked_in, resolve_project_scope, user_scope
from skillpm.operations.context.scope_lock import hold_scope


def start_project(scope: Scope, context: Context) -> Scope:
    """Return the scope of the working directory, which becomes a project: the first change writes its manifest.

    `scope` is user scope as the fallback. Raises `NotFoundError` for a project that lost its manifest, and `UsageError`
    for HOME.
    """
    require_project_manifest(scope, context.settings)
    return resolve_project_scope(context.settings, ".")


def init(context: Context, folder: str, *, user: bool = False) -> tuple[list[str], str]:
    """Create an empty manifest in a folder, or in user scope; return the created files and the skills directory.

    Raises `ConflictError` if there is a manifest, or a lockfile, whose skills would then no longer be required.
    """
    settings = context.settings
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
    return [scope.manifest], scope.layout.directory
