"""What an upgrade leaves as it is: skills whose folder has the locked content in the newer commit, too."""

from collections.abc import Mapping

from skillpm.core.names import SkillName
from skillpm.formats.lockfile import LockedSkill, Lockfile


def find_unchanged(before: Lockfile, after: Lockfile) -> Mapping[SkillName, LockedSkill]:
    """Return the old entries of the skills of which an upgrade changed nothing but the commit or the tag.

    A commit that changes only other files of a repository is not a newer version of a skill. Skills of which something
    else is required than before are left out.
    """
    required_before, required_after = before.requirements_by_name(), after.requirements_by_name()
    return {
        name: old
        for name, old in before.skills.items()
        if _has_same_content(old, after.skills.get(name))
        and all(value in required_before[name] for value in required_after[name])
    }


def _has_same_content(old: LockedSkill, new: LockedSkill | None) -> bool:
    """Return whether both are the same folder of a git repository, or the same layer at the same tag of a registry."""
    if new is None or new == old or (old.digest, old.dependencies) != (new.digest, new.dependencies):
        return False
    if old.signer != new.signer:  # a commit or a tag that is signed is more than the same content
        return False
    return new.pin.has_same_content(old.pin)
