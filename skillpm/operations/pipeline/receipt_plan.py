"""What the receipt records after some actions, apart from skills whose files are not staged yet."""

import os
from collections.abc import Mapping, Sequence

from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName
from skillpm.formats.legacy_metadata import LegacyMetadata
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.receipt import InstalledFile, InstalledSkill, Receipt
from skillpm.installer.actions import Action
from skillpm.installer.disk_state import InstalledState, walk_files
from skillpm.installer.layout import Layout


def update_receipt(
    layout: Layout,
    receipt: Receipt,
    lockfile: Lockfile,
    disk: Mapping[SkillName, InstalledState],
    actions: Sequence[Action],
) -> Receipt:
    """Return the receipt after the actions. Skills whose files change get their new entry when they are staged."""
    skills = dict(receipt.skills)
    for action in actions:
        locked = lockfile.skills.get(action.name)
        if action.verb == "remove":
            skills.pop(action.name, None)
        elif action.verb in {"keep", "relink"} and locked is not None and disk[action.name].digest == locked.digest:
            skills[action.name] = _adopt_skill(layout, action.name, locked, receipt.skills.get(action.name))
        elif action.verb == "update" and locked is not None and action.name in skills:
            skills[action.name] = skills[action.name].replace(pin=locked.pin, version=locked.version)
    return receipt.replace(skills=skills, inherited=_update_legacy_metadata(layout, receipt, actions))


def _update_legacy_metadata(
    layout: Layout, receipt: Receipt, actions: Sequence[Action]
) -> dict[SkillName, LegacyMetadata]:
    """Return the metadata of old registries that still applies: it goes with the folder that it describes."""
    replaced = {action.name for action in actions if action.verb == "remove"}
    replaced |= {action.name for action in actions if action.needs_backup and action.name not in receipt.skills}
    return {
        name: metadata
        for name, metadata in receipt.inherited.items()
        if name not in replaced and (name in receipt.skills or os.path.lexists(layout.skill_path(name)))
    }


def _adopt_skill(layout: Layout, name: SkillName, locked: LockedSkill, old: InstalledSkill | None) -> InstalledSkill:
    """Return the receipt's entry of a folder that has the locked content already."""
    if old is not None and old.digest == locked.digest and old.pin == locked.pin:
        return old
    if locked.digest is None:
        return InstalledSkill(pin=locked.pin, digest=None, version=locked.version)
    files = {}
    for path, entry in walk_files(layout.skill_path(name)):
        state = entry.stat(follow_symlinks=False)
        with open(entry.path, "rb") as file:
            data = file.read()
        files[path] = InstalledFile(sha256=content_hash(data), size=len(data), executable=bool(state.st_mode & 0o100))
    return InstalledSkill(pin=locked.pin, digest=locked.digest, version=locked.version, files=files)
