"""The scopes that this user has changed, for commands that concern all of them.

One file per project in the state folder, so that processes need no lock. A record counts only if it and its project
belong to the current user: nobody else may decide in which folders a command of this user works.
"""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from skillpm.core.digest import content_hash
from skillpm.core.json_text.decoder import load_json
from skillpm.core.shell import shell_word
from skillpm.errors import SkillpmError
from skillpm.files import read_regular_file, write_document
from skillpm.scope.scope import MANIFEST, Scope, project_scope, user_scope
from skillpm.settings import Settings

FOLDER = "scopes"
MAX_SIZE = 10_000


def record_scope(scope: Scope, settings: Settings) -> None:
    """Record that the user changed a project. A failure is ignored: the state folder may be read-only."""
    if scope.kind == "user" or scope.is_standalone or not settings.state_dir:
        return
    root = os.path.realpath(scope.root)
    path = _record_path(settings, root)
    if not os.path.lexists(path):
        data = json.dumps({"root": root}).encode()
        with suppress(OSError):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            write_document(path, data, fsync=False, mode=0o600)


def read_scopes(settings: Settings) -> list[Scope]:
    """Return the scopes that still exist: user scope first if it was used, then projects by path."""
    roots = sorted(_read_roots(settings)) if settings.state_dir else []
    projects = [scope for root in roots if (scope := _open_project(settings, root)) is not None]
    user = user_scope(settings)
    return [user, *projects] if os.path.lexists(user.layout.receipt) else projects


def _record_path(settings: Settings, root: str) -> str:
    return os.path.join(settings.state_dir, FOLDER, f"{content_hash(os.fsencode(root))[:32]}.json")


def _read_roots(settings: Settings) -> Iterator[str]:
    """Yield the folders of recorded projects."""
    folder = os.path.join(settings.state_dir, FOLDER)
    try:
        names = os.listdir(folder) if _is_own(folder) else []
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        try:
            value = load_json(read_regular_file(path, MAX_SIZE).decode()) if _is_own(path) else {}
            root = value["root"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
        # The name is that of the root: a copied record would name the folder twice.
        if isinstance(root, str) and os.path.isabs(root) and path == _record_path(settings, root):
            yield root


def _open_project(settings: Settings, root: str) -> Scope | None:
    """Return a project that is still there and belongs to the user; its commands name it by its path."""
    if not os.path.isfile(os.path.join(root, MANIFEST)):
        return None
    try:
        scope = project_scope(settings, root, flag=f" --project {shell_word(root)}")
    except SkillpmError:  # a link that leads elsewhere; the command in that project reports it
        return None
    return scope if _is_own(scope.layout.directory) else None


def _is_own(path: str) -> bool:
    """Return whether a path belongs to the user, and only the user may write to it; on Windows, whether it exists."""
    try:
        state = os.lstat(path)
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True
    return state.st_uid == os.getuid() and (stat.S_ISDIR(state.st_mode) or not state.st_mode & 0o022)
