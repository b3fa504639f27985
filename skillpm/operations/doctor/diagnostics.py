"""What a doctor finds, and the patient: the surroundings as far as they can be made out at all."""

import os
import re
from collections.abc import Mapping, Sequence

from skillpm.core.decoder import parse_json
from skillpm.core.values import Value
from skillpm.errors import DocumentError, SkillpmError, UsageError
from skillpm.files import read_text
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import MANIFEST, Scope, find_scope, project_scope, user_scope
from skillpm.settings import Settings, read_settings

VARIABLE = re.compile(r"SKILLPM_[A-Z_]+", re.ASCII)


class Finding(Value):
    """Something that is wrong, or (`is_note`) only good to know: what, where, and what to do."""

    check: str
    message: str
    where: str = ""
    hint: str = ""
    is_note: bool = False


class Patient(Value):
    """Who is looked at. Without a scope, only the surroundings are; `complaints` were found on the way in."""

    settings: Settings
    tools: Tools
    scope: Scope | None
    complaints: tuple[Finding, ...] = ()


def admitted(
    environ: Mapping[str, str], *, user: bool, project: str, offline: bool = False, insecure: Sequence[str] = ()
) -> Patient:
    """Make out the surroundings, whatever is wrong with them. A value that means nothing counts as not set."""
    complaints: list[Finding] = []
    settings = _settings(dict(environ), complaints, offline=offline).but(insecure_hosts=tuple(insecure))
    scope = _scope(settings, complaints, user=user, project=project)
    return Patient(settings=settings, tools=Tools(settings=settings), scope=scope, complaints=tuple(complaints))


def of_error(check: str, error: SkillpmError) -> Finding:
    """Give an error as a finding."""
    return Finding(check=check, message=error.message, where=error.where, hint=error.hint)


def _settings(environ: dict[str, str], complaints: list[Finding], *, offline: bool) -> Settings:
    while True:
        try:
            return read_settings(environ, offline=offline)
        except UsageError as error:
            complaints.append(of_error("environment", error))
            variable = VARIABLE.search(f"{error.message} {error.where}")
            if variable is None:
                os.chdir(os.sep)  # the folder we were in is gone
            else:
                del environ[variable[0]]


def _scope(settings: Settings, complaints: list[Finding], *, user: bool, project: str) -> Scope | None:
    try:
        return find_scope(settings, user=user, project=project)
    except UsageError:
        raise
    except DocumentError as error:
        complaints.append(of_error("manifest", error))
        folder, name, _ = error.where.partition(MANIFEST)
        is_broken = name != "" and not _is_json(folder + name)  # else it is another tool's
        try:
            return project_scope(settings, folder.rstrip(os.sep)) if is_broken else user_scope(settings)
        except SkillpmError:
            return None
    except SkillpmError as error:
        complaints.append(of_error("directory", error))
        return None


def _is_json(path: str) -> bool:
    try:
        parse_json(read_text(path) or "", path)
    except SkillpmError:
        return False
    return True
