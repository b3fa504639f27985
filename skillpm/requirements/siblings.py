"""Sites, which are indexes that a requirement names by URL, and the dependencies that are looked up there.

A skill of a site finds its dependencies in that site, and in no other index: another one could offer a skill of the
same name, and the site one with the name of a skill that belongs to another index. The manifest decides otherwise by
naming the dependency itself.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from skillpm.core.names import SkillName
from skillpm.formats.lockfile import Lockfile
from skillpm.kinds.base import Pin
from skillpm.requirements.manifest_requirements import parse_locked_requirement


def find_locked_sites(lockfile: Lockfile) -> set[tuple[SkillName, str]]:
    """Return the locked skills that are looked up in the site of a skill that requires them, with its URL."""
    named = {
        (name, source.index_url)
        for name, values in lockfile.requirements_by_name().items()
        for value in values
        if (source := parse_locked_requirement(name, value)).index_url
    }
    roots = {*lockfile.requirements, *(name for each in lockfile.members.values() for name in each)}
    return find_inherited_sites(lockfile, named, roots)


def find_inherited_sites(
    lockfile: Lockfile, named: Iterable[tuple[SkillName, str]], roots: Collection[SkillName]
) -> set[tuple[SkillName, str]]:
    """Return the dependencies that inherit a site, with its URL.

    `named` are the skills whose site is named, with its URL; `roots` are those that the manifest requires, which
    inherit none.
    """
    inherited: set[tuple[SkillName, str]] = set()
    pending = [*named]
    while pending:
        parent, url = pending.pop()
        skill = lockfile.skills.get(parent)
        if skill is None or skill.pin.index_url != url:
            continue
        for key, value in skill.dependencies.items():
            name = SkillName(key)
            if parse_locked_requirement(name, value).is_open and name not in roots and (name, url) not in inherited:
                inherited.add((name, url))
                pending.append((name, url))
    return inherited


def is_sibling(name: SkillName, pin: Pin, lockfile: Lockfile) -> bool:
    """Return whether a locked pin may be that of a sibling of a skill that requires it.

    It is in the same repository, and was found in the same way: on the same branch, at a version tag, or at the same
    commit. The commit of a branch may be another one, since an entry stays as it is while its content is the same.
    """
    parents = [skill.pin for skill in lockfile.skills.values() if _requires(name, skill.dependencies)]
    return any(pin.is_beside(parent) for parent in parents)


def _requires(name: SkillName, dependencies: Mapping[str, Any]) -> bool:
    return name in dependencies and parse_locked_requirement(name, dependencies[name]).is_open
