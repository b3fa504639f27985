"""Resolve: keep what is locked and still asked for, find what is new, drop what nobody wants."""

from collections.abc import Mapping
from typing import Any

from skillpm.documents.lockfile import LockedSkill, Lockfile
from skillpm.documents.names import SkillName
from skillpm.resolution.provider import Provider
from skillpm.resolution.shelf import Asked, Shelf
from skillpm.sources.source import PathSource, Source, requirement_value
from skillpm.sources.wanted import requirement_values
from skillpm.values import Value


class Resolution(Value):
    """What a lockfile will say; `fresh` are the names that were asked for anew."""

    lockfile: Lockfile
    fresh: tuple[SkillName, ...]


def resolve(asked: Asked, provider: Provider, locked: Lockfile) -> Resolution:
    """Give the lockfile for what is asked. A new requirement never upgrades its neighbours.

    A local folder is looked at again, since its content is its version, but for those that are `held`. Raises
    `ConflictError` where no versions agree, `NotFoundError` for a skill that is not there.
    """
    if not asked.upgrade and not disagreements(asked, locked):
        folders = {
            name: source
            for name, source in _effective(asked).items()
            if isinstance(source, PathSource) and name in locked.skills and name not in asked.held
        }
        found = provider.pin(folders) if folders else {}
        if all(found[name].dependencies == locked.skills[name].dependencies for name in folders):
            fresh = {
                name: LockedSkill(pin=it.pin, digest=it.digest, version=it.version, dependencies=it.dependencies)
                for name, it in found.items()
            }
            return Resolution(lockfile=locked.but(skills={**locked.skills, **fresh}), fresh=tuple(sorted(fresh)))
    # Where there is nothing to choose, none of the machinery that chooses is loaded.
    from skillpm.resolution.solver import solve  # noqa: PLC0415

    shelf = Shelf(asked, provider, locked)
    chosen = solve(shelf)
    shelf.pin_rest(list(chosen.values()))
    lockfile = Lockfile(
        requirements=requirement_values(asked.requirements),
        overrides=requirement_values(asked.overrides),
        skills={name: shelf.locked_skill(option) for name, option in chosen.items()},
    )
    return Resolution(
        lockfile=lockfile, fresh=tuple(sorted(name for name, option in chosen.items() if option.locked is None))
    )


def disagreements(asked: Asked, locked: Lockfile) -> list[str]:
    """Say in what a lockfile does not say what is asked, as far as that can be told without asking anybody."""
    reasons = []
    for name, source in sorted(asked.requirements.items()):
        if name not in locked.skills:
            reasons.append(f"`{name}` is not locked")
        elif not is_kept(name, source, locked):
            reasons.append(f"`{name}` is asked for differently than it was locked")
    needed = reachable(asked.requirements, locked)
    for name, skill in sorted(locked.skills.items()):
        if name in needed:
            reasons.extend(
                f"`{other}`, which `{name}` needs, is not locked"
                for other in sorted(skill.dependencies)
                if other not in locked.skills
            )
    extra = ({*locked.requirements} - {*asked.requirements}) | ({*locked.skills} - needed)
    reasons.extend(f"`{name}` is locked and no longer asked for" for name in sorted(extra))
    if locked.overrides != requirement_values(asked.overrides):
        reasons.append("the overrides are others than those it was locked with")
    return reasons


def is_kept(name: SkillName, source: Source, locked: Lockfile) -> bool:
    """Tell whether a requirement is locked as it stands."""
    return name in locked.skills and locked.requirements.get(name) == requirement_value(source)


def reachable(requirements: Mapping[SkillName, Any], locked: Lockfile) -> set[SkillName]:
    """Give the locked skills that requirements lead to, through what each needs."""
    found: set[SkillName] = set()
    todo = [name for name in requirements if name in locked.skills]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(SkillName(other) for other in locked.skills[name].dependencies if other in locked.skills)
    return found


def _effective(asked: Asked) -> dict[SkillName, Source]:
    return {**asked.requirements, **asked.overrides}
