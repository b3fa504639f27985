"""What a doctor finds, and the patient: the surroundings as far as they can be made out at all."""

import os
import re
from collections.abc import Mapping, Sequence

from skillpm.core.decoder import parse_json
from skillpm.core.values import Value
from skillpm.errors import DocumentError, SkillpmError, UsageError
from skillpm.files import read_text
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import MANIFEST, Scope, find_scope, project_scope, user_scope
from skillpm.settings import Settings, read_settings

VARIABLE_PATTERN = re.compile(r"SKILLPM_[A-Z_]+", re.ASCII)


class Diagnostic(Value):
    """Something that is wrong, or (`is_note`) only good to know: what, where, and what to do."""

    check: str
    message: str
    where: str = ""
    hint: str = ""
    is_note: bool = False


class DoctorContext(Value):
    """Who is looked at. Without a scope, only the surroundings are; `complaints` were found on the way in."""

    settings: Settings
    context: Context
    scope: Scope | None
    initial_diagnostics: tuple[Diagnostic, ...] = ()


def make_doctor_context(
    environ: Mapping[str, str], *, user: bool, project: str, offline: bool = False, insecure_hosts: Sequence[str] = ()
) -> DoctorContext:
    """Make out the surroundings, whatever is wrong with them. A value that means nothing counts as not set."""
    complaints: list[Diagnostic] = []
    settings = _read_settings(dict(environ), complaints, offline=offline).replace(insecure_hosts=tuple(insecure_hosts))
    scope = _find_scope(settings, complaints, user=user, project=project)
    return DoctorContext(
        settings=settings, context=Context(settings=settings), scope=scope, initial_diagnostics=tuple(complaints)
    )


def diagnostic_from_error(check: str, error: SkillpmError) -> Diagnostic:
    """Give an error as a finding."""
    return Diagnostic(check=check, message=error.message, where=error.where, hint=error.hint)


def _read_settings(environ: dict[str, str], diagnostics: list[Diagnostic], *, offline: bool) -> Settings:
    while True:
        try:
            return read_settings(environ, offline=offline)
        except UsageError as error:
            diagnostics.append(diagnostic_from_error("environment", error))
            variable = VARIABLE_PATTERN.search(f"{error.message} {error.where}")
            if variable is None:
                os.chdir(os.sep)  # the folder we were in is gone
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
        is_broken = name != "" and not _is_json(folder + name)  # else it is another tool's
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
