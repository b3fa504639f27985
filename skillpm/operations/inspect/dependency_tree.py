"""`tree`: the dependencies in the lockfile. Nothing is resolved or fetched."""

from collections.abc import Mapping, Sequence
from typing import Any

from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import ANY
from skillpm.errors import LockfileOutdated, NotFoundError
from skillpm.formats.lockfile import LockedSkill
from skillpm.installer.actions import version_label
from skillpm.installer.disk.skill_file import is_skill_folder
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles, read_project_files
from skillpm.scope.scope import Scope


class DependencyNode(Value):
    """A skill in the tree."""

    name: SkillName
    version: str
    requirement: Any  # as the manifest or the parent states it
    dependencies: tuple["DependencyNode", ...] = ()
    include: str = ""  # the repository and folder of the include that requires it
    is_repeated: bool = False  # its dependencies are shown further up


def build_dependency_tree(project: Project, names: Sequence[str] = ()) -> tuple[DependencyNode, ...]:
    """Return the trees of the requirements, or of these skills; the dependencies of each skill are expanded once."""
    files = _read_locked_files(project)
    for name in names:
        _require_locked(project.scope, files, name)
    seen: set[SkillName] = set()
    requirements = {name: source.to_json() for name, source in files.requirements.items()}
    return tuple(
        _make_node(SkillName(name), requirements.get(SkillName(name), ANY), files.lockfile.skills, seen).replace(
            include=find_include_place(files, name)
        )
        for name in sorted(names or requirements)
    )


def find_include_place(files: ProjectFiles, name: str) -> str:
    """Return the repository and folder of the include that requires a skill; empty if none does."""
    include = files.included.get(SkillName(name))
    return "" if include is None else include.place


def find_dependency_paths(project: Project, name: str) -> tuple[list[list[SkillName]], dict[SkillName, str]]:
    """Return the dependency paths from the manifest to a skill: for each direct dependent, the shortest one.

    Returns the places of includes, too, by the names that they require at the start of a path.
    """
    files = _read_locked_files(project)
    skills = files.lockfile.skills
    _require_locked(project.scope, files, name)
    shortest: dict[SkillName, list[SkillName]] = {root: [root] for root in sorted(files.requirements)}
    queue = list(shortest)
    for parent in queue:  # breadth first: the queue grows while it is iterated
        for dependency in sorted(skills[parent].dependencies):
            if dependency in skills and dependency not in shortest:
                shortest[SkillName(dependency)] = [*shortest[parent], SkillName(dependency)]
                queue.append(SkillName(dependency))
    target = SkillName(name)
    paths = [[target]] if target in files.requirements else []
    parents = [parent for parent in sorted(skills) if target in skills[parent].dependencies and parent in shortest]
    paths += [[*shortest[parent], target] for parent in parents if target not in shortest[parent]]
    return paths, {path[0]: place for path in paths if (place := find_include_place(files, path[0]))}


def find_manifests(project: Project, name: SkillName) -> list[str]:
    """Return the manifests that require a skill, as a message names them: in a workspace there may be several."""
    folders = read_project_files(project).by_manifest
    covered = [project.scope.member] if project.scope.member else sorted(folders)
    return [f"{folder}/skills.json".lstrip("/") for folder in covered if name in folders[folder]]


def _require_locked(scope: Scope, files: ProjectFiles, name: str) -> None:
    if name not in files.lockfile.skills:
        default_hint = f"run `{scope.command('tree')}` to see the locked skills"
        if is_skill_name(name) and is_skill_folder(scope.layout.skill_path(name)):
            default_hint = "it is a local skill: nothing requires it, and `sync` never removes it"
        hint = suggestion_hint(name, files.lockfile.skills, default_hint)
        raise NotFoundError(f"`{sanitize(name)}` is not in the lockfile", hint=hint, where=scope.lockfile)


def _read_locked_files(project: Project) -> ProjectFiles:
    files = read_project_files(project)
    missing = sorted({*files.covered_requirements} - {*files.covered_lockfile.skills})
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise LockfileOutdated(
            f"{names} {'is' if len(missing) == 1 else 'are'} not locked yet",
            where=project.scope.lockfile,
            hint=f"run `skillpm lock{project.scope.flag}`",
        )
    return files.replace(requirements=files.covered_requirements, lockfile=files.covered_lockfile)


def _make_node(
    name: SkillName, requirement: Any, skills: Mapping[SkillName, LockedSkill], seen: set[SkillName]
) -> DependencyNode:
    skill = skills.get(name)
    dependencies = {} if skill is None else skill.dependencies
    is_repeated = name in seen and bool(dependencies)
    node = DependencyNode(name=name, version=version_label(skill), requirement=requirement, is_repeated=is_repeated)
    if is_repeated or not dependencies:
        return node
    seen.add(name)
    children = (_make_node(SkillName(child), dependencies[child], skills, seen) for child in sorted(dependencies))
    return node.replace(dependencies=tuple(children))
