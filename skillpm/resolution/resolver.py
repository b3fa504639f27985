"""Resolve: keep what is locked and still asked for, find what is new, drop what nobody wants."""

from collections.abc import Collection, Mapping

from skillpm.documents.lockfile import LockedSkill, Lockfile
from skillpm.documents.names import SkillName
from skillpm.resolution.provider import Provider
from skillpm.sources.source import PathSource, Source, requirement_value
from skillpm.sources.wanted import requirement_values
from skillpm.values import Value


class Resolution(Value):
    """What a lockfile will say; `fresh` are the names that were asked for anew."""

    lockfile: Lockfile
    fresh: tuple[SkillName, ...]


def resolve(
    requirements: Mapping[SkillName, Source],
    provider: Provider,
    locked: Lockfile,
    upgrade: Collection[SkillName] = (),
    held: Collection[SkillName] = (),
) -> Resolution:
    """Give the lockfile for these requirements. A new requirement never upgrades its neighbours.

    A local folder is looked at again, since its content is its version, but for those that are `held`.
    """
    kept = {
        name: locked.skills[name]
        for name, source in requirements.items()
        if (name in held or (name not in upgrade and not isinstance(source, PathSource)))
        and is_kept(name, source, locked)
    }
    fresh = {name: source for name, source in requirements.items() if name not in kept}
    found = provider.pin(fresh) if fresh else {}
    skills = kept | {
        name: LockedSkill(
            pin=candidate.pin,
            digest=candidate.digest,
            version=candidate.version,
            dependencies=candidate.dependencies,
        )
        for name, candidate in found.items()
    }
    return Resolution(
        lockfile=Lockfile(requirements=requirement_values(requirements), skills=skills), fresh=tuple(sorted(fresh))
    )


def is_kept(name: SkillName, source: Source, locked: Lockfile) -> bool:
    """Tell whether a requirement is locked as it stands."""
    return name in locked.skills and locked.requirements.get(name) == requirement_value(source)
