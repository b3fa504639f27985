"""A manifest that is gone, beside a lockfile that still locks skills: an accident, and no wish to have none."""

import os

from skillpm.documents.lockfile import read_lockfile
from skillpm.documents.text import counted
from skillpm.errors import DocumentError, NotFoundError
from skillpm.files import read_text
from skillpm.operations.paperwork import Paperwork
from skillpm.operations.scope import LOCKFILE, Scope, upwards
from skillpm.settings import Settings


def refuse_lost(scope: Scope, papers: Paperwork, *, frozen: bool = False) -> Paperwork:
    """Give the papers back. Raises `NotFoundError` where there is no manifest though skills are locked: all of them
    would go, but for a `frozen` lockfile.
    """
    if papers.manifest_text is None and papers.lockfile.skills and not frozen:
        raise _lost(scope.manifest, len(papers.lockfile.skills), f"skillpm init{scope.flag}")
    return papers


def refuse_lost_project(scope: Scope, settings: Settings) -> None:
    """Raise `NotFoundError` where user scope was taken only because a project lost its manifest."""
    if not scope.is_fallback:
        return
    for folder in upwards(settings):
        path = os.path.join(folder, LOCKFILE)
        try:
            text = read_text(path)
            count = 0 if text is None else len(read_lockfile(text, path).skills)
        except DocumentError:
            continue  # another tool's
        if count:
            error = _lost(os.path.join(folder, "skills.json"), count, "skillpm init")
            error.hint += "; your own skills are meant by `-g`"
            raise error


def _lost(manifest: str, count: int, init: str) -> NotFoundError:
    return NotFoundError(
        f"skills.json is gone, but skills.lock beside it locks {counted(count, 'skill')}; nothing was changed",
        where=manifest,
        hint=f"bring it back from version control or dotfiles; if you want no skills, `{init}` writes an empty one",
    )
