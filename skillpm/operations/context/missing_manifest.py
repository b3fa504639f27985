"""A manifest that is gone, beside a lockfile that still locks skills: an accident, and no wish to have none."""

import os

from skillpm.core.text import counted
from skillpm.errors import DocumentError, NotFoundError
from skillpm.files import read_text
from skillpm.formats.lockfile import read_lockfile
from skillpm.operations.context.project_files import Paperwork
from skillpm.operations.context.scope import LOCKFILE, MANIFEST, Scope, upwards
from skillpm.settings import Settings


def refuse_lost(scope: Scope, papers: Paperwork) -> Paperwork:
    """Give the papers back. Raises `NotFoundError` where there is no manifest though skills are locked: all of them
    would go.
    """
    if papers.manifest_text is None and papers.lockfile.skills:
        raise _lost(scope.manifest, len(papers.lockfile.skills), f"skillpm init{scope.flag}")
    return papers


def refuse_lost_project(scope: Scope, settings: Settings) -> None:
    """Raise `NotFoundError` where user scope was taken only because a project lost its manifest."""
    if not scope.is_fallback:
        return
    for folder in upwards(settings):
        if count := locked_in(os.path.join(folder, LOCKFILE)):
            error = _lost(os.path.join(folder, MANIFEST), count, "skillpm init")
            error.hint += "; your own skills are meant by `-g`"
            raise error


def refuse_lost_folder(folder: str, typed: str) -> None:
    """Raise `NotFoundError` where a folder that was named, and has no manifest, is a project that lost it."""
    if count := locked_in(os.path.join(folder, LOCKFILE)):
        raise _lost(os.path.join(folder, MANIFEST), count, f"skillpm init {typed}")


def locked_in(path: str) -> int:
    """Tell how many skills a lockfile locks: none where there is no file, or it is another tool's."""
    try:
        text = read_text(path)
        return 0 if text is None else len(read_lockfile(text, path).skills)
    except DocumentError:
        return 0


def _lost(manifest: str, count: int, init: str) -> NotFoundError:
    return NotFoundError(
        f"skills.json is gone, but skills.lock beside it locks {counted(count, 'skill')}; nothing was changed",
        where=manifest,
        hint="bring it back from version control or dotfiles; if you want none of these skills, remove skills.lock, "
        f"and `{init}` writes an empty skills.json",
    )
