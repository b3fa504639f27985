"""Resolution: keep locked skills that are still required, add new ones, drop those no longer required."""

from collections.abc import Mapping
from typing import Any

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import parse_range, parse_version, quick_contains
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.kinds.base import Source
from skillpm.requirements.manifest_requirements import parse_locked_requirement, requirement_values
from skillpm.resolver.candidates import CandidateSet, ResolutionRequest
from skillpm.resolver.provider import Provider


class Resolution(Value):
    """The resulting lockfile."""

    lockfile: Lockfile
    # New versions, as `NAME VERSION`, of unknown age although there is a cutoff.
    undated: tuple[str, ...] = ()


def resolve(request: ResolutionRequest, provider: Provider, locked: Lockfile) -> Resolution:
    """Return the lockfile for a request. Adding a requirement does not upgrade other skills.

    A local folder or an installed package is always read again, since it has no version to choose; except those in
    `frozen`. Raises `ConflictError` if no versions satisfy all requirements, `NotFoundError` for a skill that does not
    exist.
    """
    if not request.upgrade and not find_lock_mismatches(request, locked):
        folders = {
            name: source
            for name, source in _effective_requirements(request).items()
            if source.is_read_each_time and name in locked.skills and name not in request.frozen
        }
        pinned = provider.pin(folders) if folders else {}
        # With unchanged dependencies, the rest of the lockfile is still a solution.
        if all(pinned[name].dependencies == locked.skills[name].dependencies for name in folders):
            refreshed = {
                name: LockedSkill(pin=it.pin, digest=it.digest, version=it.version, dependencies=it.dependencies)
                for name, it in pinned.items()
            }
            return Resolution(lockfile=locked.replace(skills={**locked.skills, **refreshed}))
    from skillpm.resolver.solver import solve  # noqa: PLC0415  (only if there is a choice)

    candidate_set = CandidateSet(request, provider, locked)
    solution = solve(candidate_set)
    candidate_set.pin_remaining(list(solution.values()))
    skills = {name: candidate_set.locked_skill(candidate) for name, candidate in solution.items()}
    undated = [f"{name} {it.version}".strip() for name, it in solution.items() if it.is_undated and it.locked is None]
    return Resolution(lockfile=request.record(Lockfile(skills=skills)), undated=tuple(sorted(undated)))


def find_lock_mismatches(request: ResolutionRequest, locked: Lockfile) -> list[str]:
    """Return the reasons why a lockfile does not satisfy a request, as far as they can be found offline."""
    reasons = []
    for folder, name, source in request.roots:
        recorded = locked.members.get(folder) if folder else locked.requirements
        if name not in locked.skills:
            reasons.append(f"`{name}` is not locked")
        elif recorded is not None and recorded.get(name) != source.to_json():
            owner = f" of {folder}" if folder else ""
            reasons.append(f"the requirement{owner} on `{name}` has changed since it was locked")
    needed = reachable_skills({name: source for _, name, source in request.roots}, locked)
    for name, skill in sorted(locked.skills.items()):
        if name in needed:
            reasons.extend(
                f"`{other}`, required by `{name}`, is not locked"
                for other in sorted(skill.dependencies)
                if other not in locked.skills
            )
    reasons.extend(_find_range_mismatches(request, locked, needed))
    extra = ({*locked.requirements} - {*request.requirements}) | ({*locked.skills} - needed)
    reasons.extend(f"`{name}` is locked but no longer required" for name in sorted(extra))
    reasons.extend(_find_member_mismatches(request, locked))
    if locked.overrides != requirement_values(request.overrides):
        reasons.append("the overrides have changed since they were locked")
    return list(dict.fromkeys(reasons))


def _find_member_mismatches(request: ResolutionRequest, locked: Lockfile) -> list[str]:
    """Return how the recorded members of a workspace differ, besides what their manifests require."""
    reasons = [f"{folder} is not locked as a member" for folder in sorted({*request.members} - {*locked.members})]
    for folder, recorded in sorted(locked.members.items()):
        if folder not in request.members:
            reasons.append(f"{folder} is locked but no longer a member")
        else:
            extra = sorted({*recorded} - {*request.members[folder]})
            reasons.extend(f"`{name}` is locked but no longer required by {folder}" for name in extra)
    return reasons


def _find_range_mismatches(request: ResolutionRequest, locked: Lockfile, needed: set[SkillName]) -> list[str]:
    """Return which locked versions are outside of the ranges required of them.

    The resolver never writes such a lockfile, but merging two of them line by line can result in one.
    """
    constraints: list[tuple[str, SkillName, Source]] = []
    for folder, name, source in request.roots:
        if name not in request.overrides:
            constraints.append((f"{folder or 'the manifest'} requires", name, source))
    constraints += [("the overrides require", name, source) for name, source in sorted(request.overrides.items())]
    for parent in sorted(needed):
        values = {SkillName(key): value for key, value in locked.skills[parent].dependencies.items()}
        for name, value in sorted(values.items()):
            if name not in request.overrides and name in locked.skills:
                constraints.append((f"`{parent}` requires", name, parse_locked_requirement(name, value)))
    reasons = []
    for subject, name, source in constraints:
        skill = locked.skills.get(name)
        if skill is not None and source.has_open_version and not _is_in_range(source.version_range, skill.version):
            version = sanitize(skill.version, 40) or "one without a version"
            required = f"{subject} `{name}` {sanitize(source.version_range, 60)}"
            reasons.append(f"{required}, but {version} is locked")
    return reasons


def _is_in_range(version_range: str, version: str) -> bool:
    """Return whether a locked version is in a range. It may be a pre-release, since it has been chosen before."""
    return quick_contains(version_range, version) or parse_range(version_range).contains(
        parse_version(version), prereleases=True
    )


def is_locked_unchanged(name: SkillName, source: Source, locked: Lockfile) -> bool:
    """Return whether a requirement is the same as when it was locked, for any manifest."""
    recorded = (locked.requirements, *locked.members.values())
    return name in locked.skills and source.to_json() in [each.get(name) for each in recorded]


def reachable_skills(requirements: Mapping[SkillName, Any], locked: Lockfile) -> set[SkillName]:
    """Return the locked skills that are required, directly or through dependencies."""
    reachable: set[SkillName] = set()
    pending = [name for name in requirements if name in locked.skills]
    while pending:
        name = pending.pop()
        if name not in reachable:
            reachable.add(name)
            pending.extend(SkillName(other) for other in locked.skills[name].dependencies if other in locked.skills)
    return reachable


def _effective_requirements(request: ResolutionRequest) -> dict[SkillName, Source]:
    return {**{name: source for _, name, source in request.roots}, **request.overrides}
