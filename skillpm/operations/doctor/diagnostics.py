"""Diagnostics, and the session that checks run in: settings and scope, as far as they can be determined."""

import os
import re
from collections.abc import Mapping, Sequence

from skillpm.core.json_text.decoder import parse_json
from skillpm.core.patterns import lazy_pattern
from skillpm.core.values import Value
from skillpm.errors import DocumentError, SkillpmError, UsageError
from skillpm.files import read_text
from skillpm.scope.project import Session
from skillpm.scope.scope import MANIFEST, Scope, find_scope, project_scope, user_scope
from skillpm.settings import Settings, read_settings

VARIABLE_PATTERN = lazy_pattern(r"SKILLPM_[A-Z_]+", re.ASCII)


class Diagnostic(Value):
    """A problem, or a note about something unusual."""

    message: str
    where: str = ""
    hint: str = ""
    is_note: bool = False
    check: str = ""  # a key of `CHECKS`


class DoctorContext(Value):
    """What to check."""

    settings: Settings
    session: Session
    scope: Scope | None  # None: no scope could be determined, only the environment and the cache are checked
    initial_diagnostics: tuple[Diagnostic, ...] = ()  # found while determining settings and scope


def make_doctor_context(
    environ: Mapping[str, str], *, user: bool, project: str, offline: bool = False, insecure_hosts: Sequence[str] = ()
) -> DoctorContext:
    """Determine settings and scope despite errors in them. Invalid variables are treated as unset."""
    diagnostics: list[Diagnostic] = []
    settings = _read_settings(dict(environ), diagnostics, offline=offline).replace(insecure_hosts=tuple(insecure_hosts))
    scope = _find_scope(settings, diagnostics, user=user, project=project)
    return DoctorContext(
        settings=settings, session=Session(settings=settings), scope=scope, initial_diagnostics=tuple(diagnostics)
    )


def diagnostic_from_error(check: str, error: SkillpmError) -> Diagnostic:
    """Convert an error to a diagnostic."""
    return Diagnostic(check=check, message=error.message, where=error.where, hint=error.hint)


def _read_settings(environ: dict[str, str], diagnostics: list[Diagnostic], *, offline: bool) -> Settings:
    while True:
        try:
            return read_settings(environ, offline=offline)
        except UsageError as error:
            diagnostics.append(diagnostic_from_error("environment", error))
            variable = VARIABLE_PATTERN.search(f"{error.message} {error.where}")
            if variable is None:
                os.chdir(os.sep)  # the working directory has been deleted
            else:
                del environ[variable[0]]


def _find_scope(settings: Settings, diagnostics: list[Diagnostic], *, user: bool, project: str) -> Scope | None:
    try:
        return find_scope(settings, user=user, project=project)
    except UsageError:
        raise
    except DocumentError as error:
        diagnostics.append(diagnostic_from_error("manifest", error))
        folder, name, _ = error.where.partition(MANIFEST)
        is_broken = name != "" and not _is_json(folder + name)  # valid JSON of another form is another tool's
        try:
            return project_scope(settings, folder.rstrip(os.sep)) if is_broken else user_scope(settings)
        except SkillpmError:
            return None
    except SkillpmError as error:
        diagnostics.append(diagnostic_from_error("directory", error))
        return None


def _is_json(path: str) -> bool:
    try:
        parse_json(read_text(path) or "", path)
    except SkillpmError:
        return False
    return True
