"""`init`: start a project."""

import os

from skillpm.core.text import pluralize
from skillpm.errors import ConflictError
from skillpm.files import translate_os_errors, write_new_file
from skillpm.formats.manifest import EMPTY_MANIFEST
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import locked_in, project_scope, refuse_home, user_scope


def init(context: Context, folder: str, *, user: bool = False) -> tuple[list[str], str]:
    """Write an empty manifest into a folder, or the user's own; give the files made, and where skills will lie.

    Raises `ConflictError` where one is there, or a lockfile whose skills nobody would ask for any more.
    """
    settings = context.settings
    root = os.path.abspath(os.path.join(settings.working_directory, folder))
    if not user:
        refuse_home(settings, root)
    scope = user_scope(settings) if user else project_scope(settings, root)
    if os.path.lexists(scope.manifest):
        command = f"skillpm install{' -g' if user else ''} SPEC"
        raise ConflictError(f"{scope.manifest} is there already", hint=f"edit it, or add to it with `{command}`")
    if count := locked_in(scope.lockfile):
        raise ConflictError(
            f"skills.lock locks {pluralize(count, 'skill')}, which the next `skillpm sync{scope.flag}` would uninstall "
            "if skills.json were empty; nothing was written",
            where=scope.lockfile,
            hint="bring skills.json back from version control (`git checkout HEAD -- skills.json`) or dotfiles; "
            "if you want none of these skills, remove skills.lock first",
        )
    with translate_os_errors("start a project", scope.manifest):
        os.makedirs(os.path.dirname(scope.manifest), exist_ok=True)
        write_new_file(scope.manifest, EMPTY_MANIFEST.encode(), 0o644, fsync=settings.fsync)
    return [scope.manifest], scope.layout.directory
