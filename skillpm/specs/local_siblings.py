"""The dependencies of a local skill that are in the folders beside it: they are required from there, too."""

import os
from collections.abc import Sequence

from skillpm.core.names import SkillName, is_skill_name
from skillpm.errors import RefusedError
from skillpm.installer.disk.skill_file import is_skill_folder
from skillpm.kinds.local import PathSource
from skillpm.requirements.manifest_requirements import rebase_source
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.specs.local_specs import resolve_local_spec
from skillpm.specs.request import NewRequirement


def add_local_siblings(
    project: Project, files: ProjectFiles, additions: Sequence[NewRequirement]
) -> tuple[list[NewRequirement], list[str]]:
    """Return the requirements with those of the skills beside them that they require, and a note about each.

    A dependency that the manifest or the lockfile has already stays as it is. Only the user names local folders, so
    this holds for the skills of the SPECs, which are the user's, and not for dependencies in a lockfile.
    """
    found, notes = [*additions], []
    known = {*files.all_requirements, *files.overrides, *files.whole_lockfile.skills}
    for parent in found:  # grows while it is read
        known.add(parent.name)
        if not isinstance(parent.source, PathSource):
            continue
        for name in _find_required(project, parent):
            folder = os.path.join(_folder_of(project, parent.source), os.pardir, name)
            if name in known or not is_skill_folder(folder):
                continue
            sibling = resolve_local_spec(project, parent.source.replace(path=os.path.normpath(folder)), "")
            if sibling.name == name and isinstance(sibling.source, PathSource):
                known.add(name)
                found.append(sibling)
                notes.append(f"{name}, which {parent.name} requires, comes from {sibling.source.path}")
    return found, notes


def _find_required(project: Project, parent: NewRequirement) -> list[SkillName]:
    """Return the dependencies of a local skill that name no source."""
    located = rebase_source(parent.source, project.scope.member)
    try:
        skill = make_fetchers(project).pin({parent.name: located}, quiet=True)[parent.name]
    except RefusedError:
        if not parent.place:
            raise
        return []  # it will be left out
    return [SkillName(name) for name, it in skill.dependencies.items() if isinstance(it, str) and is_skill_name(name)]


def _folder_of(project: Project, source: PathSource) -> str:
    path = project.settings.home + source.path[1:] if source.path.startswith("~/") else source.path
    return os.path.realpath(os.path.join(os.path.dirname(project.scope.manifest), path))
