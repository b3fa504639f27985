"""Resolve: keep what is locked and still asked for, find what is new, drop what nobody wants."""

from collections.abc import Mapping
from typing import Any

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import parse_range, parse_version, quick_contains
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.requirements.dependency_spec import has_open_version, version_range_of
from skillpm.requirements.manifest_requirements import parse_locked_requirement, requirement_values
from skillpm.requirements.source import PathSource, Source, requirement_value
from skillpm.resolver.candidates import CandidateSet, ResolutionRequest
from skillpm.resolver.provider import Provider


class Resolution(Value):
    """What a lockfile will say; `fresh` are the names that were asked for anew."""

    lockfile: Lockfile
    resolved_names: tuple[SkillName, ...]


def resolve(request: ResolutionRequest, provider: Provider, locked: Lockfile) -> Resolution:
    """Give the lockfile for what is asked. A new requirement never upgrades its neighbours.

    A local folder is looked at again, since its content is its version, but for those that are `held`. Raises
    `ConflictError` where no versions agree, `NotFoundError` for a skill that is not there.
    """
    if not request.upgrade and not find_lock_mismatches(request, locked):
        folders = {
            name: source
            for name, source in _effective_requirements(request).items()
            if isinstance(source, PathSource) and name in locked.skills and name not in request.frozen
        }
        found = provider.pin(folders) if folders else {}
        if all(found[name].dependencies == locked.skills[name].dependencies for name in folders):
            fresh = {
                name: LockedSkill(pin=it.pin, digest=it.digest, version=it.version, dependencies=it.dependencies)
                for name, it in found.items()
            }
            return Resolution(
                lockfile=locked.replace(skills={**locked.skills, **fresh}), resolved_names=tuple(sorted(fresh))
            )
    # Where there is nothing to choose, none of the machinery that chooses is loaded.
    from skillpm.resolver.solver import solve  # noqa: PLC0415

    shelf = CandidateSet(request, provider, locked)
    chosen = solve(shelf)
    shelf.pin_remaining(list(chosen.values()))
    lockfile = Lockfile(
        requirements=requirement_values(request.requirements),
        overrides=requirement_values(request.overrides),
        skills={name: shelf.locked_skill(option) for name, option in chosen.items()},
    )
    return Resolution(
        lockfile=lockfile,
        resolved_names=tuple(sorted(name for name, option in chosen.items() if option.locked is None)),
    )


def find_lock_mismatches(request: ResolutionRequest, locked: Lockfile) -> list[str]:
    """Say in what a lockfile does not say what is asked, as far as that can be told without asking anybody."""
    reasons = []
    for name, source in sorted(request.requirements.items()):
        if name not in locked.skills:
            reasons.append(f"`{name}` is not locked")
        elif not is_locked_unchanged(name, source, locked):
            reasons.append(f"`{name}` is asked for differently than it was locked")
    needed = reachable_skills(request.requirements, locked)
    for name, skill in sorted(locked.skills.items()):
        if name in needed:
            reasons.extend(
                f"`{other}`, which `{name}` needs, is not locked"
                for other in sorted(skill.dependencies)
                if other not in locked.skills
            )
    reasons.extend(_find_range_mismatches(request, locked, needed))
    extra = ({*locked.requirements} - {*request.requirements}) | ({*locked.skills} - needed)
    reasons.extend(f"`{name}` is locked and no longer asked for" for name in sorted(extra))
    if locked.overrides != requirement_values(request.overrides):
        reasons.append("the overrides are others than those it was locked with")
    return reasons


def _find_range_mismatches(request: ResolutionRequest, locked: Lockfile, needed: set[SkillName]) -> list[str]:
    """Say which locked versions do not lie in the ranges that are asked of them: two lockfiles that were merged line by
    line may hold what neither of them did.
    """
    asks: list[tuple[str, SkillName, Source]] = []
    for name, source in sorted(_effective_requirements(request).items()):
        asks.append((f"{'the overrides ask' if name in request.overrides else 'the manifest asks'} for", name, source))
    for parent in sorted(needed):
        values = {SkillName(key): value for key, value in locked.skills[parent].dependencies.items()}
        for name, value in sorted(values.items()):
            if name not in request.overrides and name in locked.skills:
                asks.append((f"`{parent}` needs", name, parse_locked_requirement(name, value)))
    reasons = []
    for says, name, source in asks:
        skill = locked.skills.get(name)
        if skill is not None and has_open_version(source) and not _is_in_range(version_range_of(source), skill.version):
            version = sanitize(skill.version, 40) or "one without a version"
            reasons.append(f"{says} `{name}` {sanitize(version_range_of(source), 60)}, and {version} is locked")
    return reasons


def _is_in_range(version_range: str, version: str) -> bool:
    """Tell whether a locked version lies in a range; one that is locked is not shut out for being early."""
    return quick_contains(version_range, version) or parse_range(version_range).contains(
        parse_version(version), prereleases=True
    )


def is_locked_unchanged(name: SkillName, source: Source, locked: Lockfile) -> bool:
    """Tell whether a requirement is locked as it stands."""
    return name in locked.skills and locked.requirements.get(name) == requirement_value(source)


def reachable_skills(requirements: Mapping[SkillName, Any], locked: Lockfile) -> set[SkillName]:
    """Give the locked skills that requirements lead to, through what each needs."""
    found: set[SkillName] = set()
    todo = [name for name in requirements if name in locked.skills]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(SkillName(other) for other in locked.skills[name].dependencies if other in locked.skills)
    return found


def _effective_requirements(request: ResolutionRequest) -> dict[SkillName, Source]:
    return {**request.requirements, **request.overrides}
