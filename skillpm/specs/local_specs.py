"""SPECs of a single skill, a folder or an archive: its name, and its path as the manifest stores it."""

import os

from skillpm.core.names import SkillName, choose_install_name, is_skill_name, parse_skill_name
from skillpm.core.text import sanitize
from skillpm.errors import NotFoundError, RefusedError, UsageError
from skillpm.files import is_below
from skillpm.installer.disk.skill_file import is_skill_folder
from skillpm.installer.escaping_links import find_repository_root
from skillpm.kinds.base import Source
from skillpm.requirements.manifest_requirements import rebase_source
from skillpm.requirements.specifier import ARCHIVE_SUFFIXES
from skillpm.scope.install_paths import find_install_paths, refuse_installed
from skillpm.scope.project import Project, Session
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.specs.request import NewRequirement

SPEC_SUFFIXES = (*ARCHIVE_SUFFIXES, "/SKILL.md")


def resolve_local_spec(project: Project, source: Source, alias: str) -> NewRequirement:
    """Return the requirement of a skill in a folder or an archive, with a path that others can use, too.

    The name is `alias`, else the name that the skill declares, else that of the folder or the file.
    """
    if typed := source.local_path:
        stored, location = _resolve_path(project, typed, is_folder=source.is_read_each_time)
        source = source.with_local_path(stored)
    else:
        typed = stored = location = source.server_url()
    folder = os.path.basename(_strip_suffix(location))
    probe = SkillName(alias or folder)
    fetchers = make_fetchers(project)
    located = rebase_source(source, project.scope.member)
    fetchers.name_sources([located])
    declared = fetchers.pin({probe: located}, quiet=True)[probe].declared_name
    name = alias or choose_install_name(declared, folder)
    if not name:
        raise UsageError(f"invalid skill name `{sanitize(declared or typed)}`", hint="choose one with --as NAME")
    if project.scope.kind == "project" and os.path.isabs(stored):
        project.reporter.warn(f"{stored} is outside this repository and your home folder, so others cannot install it")
    return NewRequirement(name=parse_skill_name(name), source=source)


def resolve_member(project: Project, source: Source, place: str) -> NewRequirement:
    """Return the requirement of a skill in a folder of skills. One that cannot be loaded has the name of its folder."""
    try:
        return resolve_local_spec(project, source, "").replace(place=place)
    except RefusedError:
        name = os.path.basename(source.local_path)
        if not is_skill_name(name):
            raise
        path = manifest_path(project, _absolute_path(project.session, source.local_path))
        return NewRequirement(name=SkillName(name), source=source.with_local_path(path), place=place)


def find_skills(session: Session, folder: Source) -> list[Source]:
    """Return the skills that a folder contains, one folder each; none if it is a skill itself."""
    path = _absolute_path(session, folder.local_path)
    if is_skill_folder(path) or not os.path.isdir(path):
        return []
    names = sorted(name for name in os.listdir(path) if is_skill_folder(os.path.join(path, name)))
    paths = [os.path.join(folder.local_path, name) for name in names if not name.startswith(".")]
    return [folder.with_local_path(path) for path in paths]


def manifest_path(project: Project, path: str) -> str:
    """Return a path as the manifest stores it: relative within one git root, `~/…` below HOME, else unchanged."""
    base = os.path.realpath(os.path.dirname(project.scope.manifest))
    real = os.path.realpath(path)
    if project.scope.kind == "project" and is_below(real, find_repository_root(base)):
        relative = os.path.relpath(real, base)
        return relative if relative == "." or relative.split(os.sep)[0] == ".." else f"./{relative}"
    home = os.path.realpath(project.settings.home)
    if is_below(real, home):
        return "~" + real[len(home) :]
    return path


def _absolute_path(session: Session, path: str) -> str:
    expanded = session.settings.home + path[1:] if path.startswith("~") else path
    return os.path.normpath(os.path.join(session.settings.working_directory, expanded))


def _resolve_path(project: Project, path: str, *, is_folder: bool) -> tuple[str, str]:
    """Return a path as the manifest stores it, and its real path. Raises `NotFoundError` if it does not exist."""
    absolute = _absolute_path(project.session, path)
    if not (os.path.isdir(absolute) if is_folder else os.path.lexists(absolute)):
        problem = "is not a folder" if os.path.lexists(absolute) else "does not exist"
        raise NotFoundError(
            f"{sanitize(path)} {problem}",
            where=absolute,
            hint="paths are relative to the current folder; for a skill in a repository, use owner/repo@skill without "
            "./ in front",
        )
    real = make_fetchers(project).local_paths().check(absolute)
    refuse_installed(project.scope, find_install_paths(project.scope, project.settings), path, real)
    return manifest_path(project, absolute), real


def _strip_suffix(path: str) -> str:
    path = path.partition("?")[0]
    return next((path.removesuffix(suffix) for suffix in SPEC_SUFFIXES if path.endswith(suffix)), path)
