"""`tree` and `why`: who needs what, as the lockfile has it. Nothing is resolved, nobody is asked."""

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
from skillpm.installer.skill_file import is_skill_folder
from skillpm.operations.context.project_files import ProjectFiles, read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.requirements.source import requirement_value


class DependencyNode(Value):
    """A skill in the tree: what was asked of it, and what it needs. `is_repeated`: that stands further up already."""

    name: SkillName
    version: str
    requirement: Any
    dependencies: tuple["DependencyNode", ...] = ()
    is_repeated: bool = False


def build_dependency_tree(scope: Scope, context: Context, names: Sequence[str] = ()) -> tuple[DependencyNode, ...]:
    """Give what the manifest asks for, or these skills, and below each what it needs; each is spread out once."""
    papers = _read_locked_files(scope, context)
    for name in names:
        _require_locked(scope, papers, name)
    seen: set[SkillName] = set()
    asked = {name: requirement_value(source) for name, source in papers.requirements.items()}
    return tuple(
        _make_node(SkillName(name), asked.get(SkillName(name), ANY), papers.lockfile.skills, seen)
        for name in sorted(names or asked)
    )


def find_dependency_paths(scope: Scope, context: Context, name: str) -> list[list[SkillName]]:
    """Give the ways that lead from the manifest to a skill: the shortest over each that needs it."""
    papers = _read_locked_files(scope, context)
    skills = papers.lockfile.skills
    _require_locked(scope, papers, name)
    first: dict[SkillName, list[SkillName]] = {root: [root] for root in sorted(papers.requirements)}
    todo = list(first)
    for parent in todo:  # it grows while it is walked, nearest first
        for need in sorted(skills[parent].dependencies):
            if need in skills and need not in first:
                first[SkillName(need)] = [*first[parent], SkillName(need)]
                todo.append(SkillName(need))
    wanted = SkillName(name)
    ways = [[wanted]] if wanted in papers.requirements else []
    parents = [parent for parent in sorted(skills) if wanted in skills[parent].dependencies and parent in first]
    return ways + [[*first[parent], wanted] for parent in parents if wanted not in first[parent]]


def _require_locked(scope: Scope, files: ProjectFiles, name: str) -> None:
    if name not in files.lockfile.skills:
        usual = "`skillpm tree` shows what is there"
        if is_skill_name(name) and is_skill_folder(scope.layout.skill_path(name)):
            usual = "it lies here by hand, or by `skillpm migrate`: nothing asks for it, and no sync removes it"
        hint = suggestion_hint(name, files.lockfile.skills, usual)
        raise NotFoundError(f"`{sanitize(name)}` is not in the lockfile", hint=hint, where=scope.lockfile)


def _read_locked_files(scope: Scope, context: Context) -> ProjectFiles:
    papers = read_project_files(scope, context)
    missing = sorted({*papers.requirements} - {*papers.lockfile.skills})
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise LockfileOutdated(
            f"{names} {'is' if len(missing) == 1 else 'are'} not locked yet",
            where=scope.lockfile,
            hint=f"run `skillpm lock{scope.flag}`",
        )
    return papers


def _make_node(
    name: SkillName, requirement: Any, skills: Mapping[SkillName, LockedSkill], seen: set[SkillName]
) -> DependencyNode:
    skill = skills.get(name)
    needs = {} if skill is None else skill.dependencies
    repeated = name in seen and bool(needs)
    branch = DependencyNode(name=name, version=version_label(skill), requirement=requirement, is_repeated=repeated)
    if repeated or not needs:
        return branch
    seen.add(name)
    return branch.replace(
        dependencies=tuple(_make_node(SkillName(other), needs[other], skills, seen) for other in sorted(needs))
    )
