"""Merge the two sides of a lockfile in which git left conflict markers."""

from collections.abc import Mapping
from typing import Any

from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import SkillpmError
from skillpm.formats.lockfile import LockedSkill, Lockfile, read_lockfile


class MergedLockfile(Value):
    """What the sides of a conflict agree on, and what only one of them has."""

    lockfile: Lockfile
    # Skills that the sides lock differently. They are in no table of the lockfile.
    differing: tuple[SkillName, ...] = ()
    # How the first side locks these, as far as it has them.
    ours: Mapping[SkillName, LockedSkill] = EMPTY_MAPPING


def merge_sides(sides: tuple[str, str], file: str) -> MergedLockfile | None:
    """Return what both sides of a conflicted lockfile say; None if a side is not a whole lockfile.

    A skill that one side removed is kept, too: whether it is still required is decided by the manifest.
    """
    try:
        ours, theirs = (read_lockfile(side, file) for side in sides)
    except SkillpmError:
        return None
    tables: tuple[tuple[Mapping[SkillName, Any], Mapping[SkillName, Any]], ...] = (
        (ours.requirements, theirs.requirements),
        (ours.skills, theirs.skills),
        (ours.overrides, theirs.overrides),
    )
    folders = sorted({*ours.members, *theirs.members})
    tables += tuple((ours.members.get(folder, {}), theirs.members.get(folder, {})) for folder in folders)
    differing = {name for one, other in tables for name in one.keys() & other.keys() if one[name] != other[name]}
    requirements, skills, overrides, *members = (
        {name: entry for name, entry in {**one, **other}.items() if name not in differing} for one, other in tables
    )
    # Without it, the repositories are listed again, which a folder that moved on one side needs.
    has_moved = any(theirs.requirements.get(name, value) != value for name, value in ours.requirements.items())
    include = () if has_moved else (*ours.include, *(value for value in theirs.include if value not in ours.include))
    lockfile = Lockfile(
        requirements=requirements,
        skills=skills,
        overrides=overrides,
        include=include,
        members=dict(zip(folders, members, strict=True)),
    )
    return MergedLockfile(
        lockfile=lockfile,
        differing=tuple(sorted(differing & {*ours.skills, *theirs.skills})),
        ours={name: skill for name, skill in ours.skills.items() if name in differing},
    )
