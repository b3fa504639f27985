"""Detect a missing manifest next to a lockfile that locks skills: an accident, not a request to remove them all."""

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
    """Return the files. Raises `NotFoundError` if there is no manifest but skills are locked: they would be removed."""
    if files.manifest_text is None and files.lockfile.skills:
        raise missing_manifest(
            scope.manifest, len(files.lockfile.skills), f"skillpm init{' -g' if scope.kind == 'user' else ''}"
        )
    return files


def require_project_manifest(scope: Scope, settings: Settings) -> None:
    """Raise `NotFoundError` if user scope applies only because a project lost its manifest."""
    if not scope.is_fallback:
        return
    for folder in candidate_project_dirs(settings):
        if count := locked_in(os.path.join(folder, LOCKFILE)):
            error = missing_manifest(os.path.join(folder, MANIFEST), count, "skillpm init")
            error.hint += "; use `-g` for user scope"
            raise error
