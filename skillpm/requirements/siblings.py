"""Siblings: dependencies of a git skill that its own repository has.

A dependency without a source is looked up in the repository of the skill that requires it, at the same commit, and only
then in the indexes: an index could offer another skill of that name. The manifest decides otherwise by naming the
dependency itself.
"""

from collections.abc import Mapping
from typing import Any

from skillpm.core.names import SkillName
from skillpm.formats.lockfile import Lockfile
from skillpm.kinds.base import Pin
from skillpm.requirements.manifest_requirements import parse_locked_requirement


def is_sibling(name: SkillName, pin: Pin, lockfile: Lockfile) -> bool:
    """Return whether a locked pin may be that of a sibling of a skill that requires it.

    It is in the same repository, and was found in the same way: on the same branch, at a version tag, or at the same
    commit. The commit of a branch may be another one, since an entry stays as it is while its content is the same.
    """
    parents = [skill.pin for skill in lockfile.skills.values() if _requires(name, skill.dependencies)]
    return any(pin.is_beside(parent) for parent in parents)


def _requires(name: SkillName, dependencies: Mapping[str, Any]) -> bool:
    return name in dependencies and parse_locked_requirement(name, dependencies[name]).is_open
