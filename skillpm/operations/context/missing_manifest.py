"""A manifest that is gone, beside a lockfile that still locks skills: an accident, and no wish to have none."""

import os

from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.scope import (
    LOCKFILE,
    MANIFEST,
    Scope,
    candidate_project_dirs,
    locked_in,
    missing_manifest,
)
from skillpm.settings import Settings


def require_manifest(scope: Scope, files: ProjectFiles) -> ProjectFiles:
    """Give the papers back. Raises `NotFoundError` where there is no manifest though skills are locked: all of them
    would go.
    """
    if files.manifest_text is None and files.lockfile.skills:
        raise missing_manifest(scope.manifest, len(files.lockfile.skills), f"skillpm init{scope.flag}")
    return files


def require_project_manifest(scope: Scope, settings: Settings) -> None:
    """Raise `NotFoundError` where user scope was taken only because a project lost its manifest."""
    if not scope.is_fallback:
        return
    for folder in candidate_project_dirs(settings):
        if count := locked_in(os.path.join(folder, LOCKFILE)):
            error = missing_manifest(os.path.join(folder, MANIFEST), count, "skillpm init")
            error.hint += "; your own skills are meant by `-g`"
            raise error
