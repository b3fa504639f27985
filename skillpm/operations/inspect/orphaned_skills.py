"""Skills in a skills directory that no manifest makes a project's: they are in no list, and that is told."""

import os

from skillpm.core.values import Value
from skillpm.installer.layout import PROJECT_FOLDER
from skillpm.installer.skill_file import is_skill_folder
from skillpm.operations.context.scope import Scope, candidate_project_dirs
from skillpm.registry.builder import list_folders
from skillpm.settings import Settings


class OrphanedSkills(Value):
    """How many there are, where they lie, and the command that makes a project of that folder."""

    count: int
    directory: str
    command: str


def find_orphaned_skills(scope: Scope, settings: Settings) -> OrphanedSkills | None:
    """Look for skills here and above where user scope was taken only because there is no project; None without any."""
    for folder in candidate_project_dirs(settings) if scope.is_fallback else ():
        place = os.path.join(folder, PROJECT_FOLDER)
        found = [name for name in list_folders(place) if is_skill_folder(os.path.join(place, name))]
        if found and os.path.realpath(place) != os.path.realpath(scope.layout.directory):
            where = os.path.relpath(folder, settings.working_directory)
            cure = "skillpm init" if where == os.curdir else f"skillpm init {where}"
            return OrphanedSkills(count=len(found), directory=place, command=cure)
    return None
