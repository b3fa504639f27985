"""The constraints on the version of a skill, and which of them excludes a newer one."""

from collections.abc import Mapping, Sequence

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import ANY, parse_range, parse_version
from skillpm.errors import NotFoundError
from skillpm.formats.lockfile import Lockfile
from skillpm.kinds.base import Source
from skillpm.kinds.git import GitSource
from skillpm.requirements.declared_dependencies import read_dependencies
from skillpm.requirements.siblings import find_locked_sites
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope import Scope


class Constraint(Value):
    """A requirement of a skill."""

    requester: str  # for messages: `skills.json`, or the name of a skill in backticks
    source: Source


ConstraintsByName = Mapping[SkillName, Sequence[Constraint]]


def select_skills(scope: Scope, files: ProjectFiles, names: Sequence[str]) -> list[SkillName]:
    """Return these skills, or all required and locked skills. Raises `NotFoundError` for an unknown name."""
    known = {**dict.fromkeys(files.covered_requirements), **dict.fromkeys(files.covered_lockfile.skills)}
    for name in names:
        if name not in known:
            hint = suggestion_hint(name, known, f"run `{scope.command('list')}` to see all skills")
            raise NotFoundError(f"the manifest has no skill `{sanitize(name)}`", hint=hint, where=files.manifest.file)
    return [name for name in known if not names or name in names]


def collect_constraints(files: ProjectFiles, lockfile: Lockfile) -> ConstraintsByName:
    """Return the constraints on each locked skill: of the manifest and other skills, or the override replacing them."""
    constraints: dict[SkillName, list[Constraint]] = {}
    for folder, requirements in sorted(files.by_manifest.items()):
        requester = f"{folder}/skills.json".lstrip("/")
        for name, source in requirements.items():
            constraints.setdefault(name, []).append(Constraint(requester=requester, source=source))
    sites = dict(find_locked_sites(lockfile))
    for parent, skill in sorted(lockfile.skills.items()):
        for name, source in read_dependencies(skill.dependencies, f"`{parent}`").items() if skill.dependencies else ():
            constraints.setdefault(name, []).append(
                Constraint(requester=f"`{parent}`", source=source.inherit_site(sites.get(name, "")))
            )
    for name, source in files.overrides.items():
        constraints[name] = [Constraint(requester="an override in skills.json", source=source)]
    return {name: each for name, each in constraints.items() if name in lockfile.skills}


def find_pin_reason(constraints: Sequence[Constraint]) -> str:
    """Return which constraint pins a skill to a tag or a commit; empty if none does."""
    for constraint in constraints:
        source = constraint.source
        if isinstance(source, GitSource) and source.kind in {"tag", "rev"}:
            ref = f"tag {sanitize(source.ref, 60)}" if source.kind == "tag" else short_commit(source.ref)
            return f"{constraint.requester} pins it to {ref}"
    return ""


def find_exclusion_reason(version: str, constraints: Sequence[Constraint]) -> str:
    """Return which constraint excludes a version, by a pin or a range; empty if none does."""
    if pin_reason := find_pin_reason(constraints):
        return pin_reason
    parsed = parse_version(version)
    for constraint in constraints:
        version_range = constraint.source.version_range
        if (
            constraint.source.has_open_version
            and version_range != ANY
            and not parse_range(version_range).contains(parsed, prereleases=True)
        ):
            return f"{constraint.requester} requires {sanitize(version_range, 60)}"
    return ""
