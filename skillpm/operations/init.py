"""`init`: start a project."""

import os

from skillpm.documents.manifest import EMPTY
from skillpm.errors import ConflictError
from skillpm.files import told, write_new
from skillpm.operations.scope import MANIFEST, refuse_home
from skillpm.operations.tools import Tools


def init(tools: Tools, folder: str) -> list[str]:
    """Write an empty manifest; give the files made. Raises `ConflictError` where one is there."""
    root = os.path.abspath(os.path.join(tools.settings.working_directory, folder))
    refuse_home(tools.settings, root)
    path = os.path.join(root, MANIFEST)
    if os.path.lexists(path):
        raise ConflictError(f"{path} is there already", hint="edit it, or add to it with `skillpm install SPEC`")
    with told("start a project", root):
        os.makedirs(root, exist_ok=True)
        write_new(path, EMPTY.encode(), 0o644, fsync=tools.settings.fsync)
    return [path]
