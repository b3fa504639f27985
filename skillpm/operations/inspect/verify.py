"""`verify`: every installed byte against the lockfile. Reads everything, trusts no cache."""

import os
from collections.abc import Mapping
from typing import Literal

from skillpm.core.digest import told_apart
from skillpm.core.names import SkillName
from skillpm.core.values import NOTHING, Value
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.receipt import InstalledSkill, Receipt
from skillpm.installer.actions import label
from skillpm.installer.consistent_view import View, look_until
from skillpm.installer.disk_state import OTHER_THING, REPLACED, FileChange, compare, digest_of_folder
from skillpm.installer.links.state import look_at_link
from skillpm.installer.stat_cache import Scan
from skillpm.operations.context.missing_manifest import refuse_lost_project
from skillpm.operations.context.project_files import read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.inspect.yanked import said_of
from skillpm.operations.install.live_links import leads_elsewhere

TAKEN = "does not lead here any more"
State = Literal["ok", "modified", "missing", "not-locked", "other-version", "link", "broken-link"]


class Verified(Value):
    """The verdict on one skill; `detail` says in words what is wrong."""

    name: SkillName
    state: State
    detail: str = ""
    files: tuple[FileChange, ...] = ()


class Verdict(Value):
    """The verdict on a scope. `index`: what indexes say against what is locked, as they were heard last.
    `lockfile_is_there`: where it is not, there is nothing that skills could be compared with.
    """

    skills: tuple[Verified, ...]
    pending: bool = False
    index: Mapping[SkillName, str] = NOTHING
    lockfile_is_there: bool = True

    @property
    def ok(self) -> bool:
        """Tell whether every byte is the locked one."""
        return all(skill.state in {"ok", "link"} for skill in self.skills)


def verify(scope: Scope, tools: Tools) -> Verdict:
    """Check every skill of lockfile and receipt."""
    refuse_lost_project(scope, tools.settings)
    papers = read_paperwork(scope, tools)

    def look(seen: View) -> tuple[Verdict, bool]:
        receipt = seen.receipt()
        text = seen.document("lockfile", scope.lockfile)
        locked = papers.lockfile.skills
        if seen.is_pending and text is not None:
            from skillpm.formats.lockfile import read_lockfile  # noqa: PLC0415

            locked = read_lockfile(text, scope.lockfile).skills
        names = sorted({*locked, *receipt.skills})
        bring_back = f"`skillpm sync{scope.flag}`"
        skills = [
            _not_locked(name, receipt.skills.get(name), bring_back, asked=name in papers.requirements)
            if name not in locked
            else _verified(name, seen, locked[name], receipt.skills.get(name), bring_back)
            for name in names
        ]
        skills = [_with_its_target(skill, scope, tools, locked, receipt) for skill in skills]
        skills = [_with_links(skill, scope, tools, receipt) for skill in skills]
        # Nobody knows what a skill of the user's own should be; but its links are ours.
        own = sorted({name for links in receipt.links.values() for name in links} - {*names})
        linked = [_with_links(Verified(name=name, state="ok"), scope, tools, receipt) for name in own]
        skills += [skill for skill in linked if skill.state != "ok"]
        verdict = Verdict(
            skills=tuple(skills),
            pending=seen.is_pending,
            index=said_of(scope, tools, papers.lockfile.skills),
            lockfile_is_there=text is not None,
        )
        return verdict, verdict.ok

    return look_until(scope.layout, look)


def _not_locked(name: SkillName, installed: InstalledSkill | None, bring_back: str, *, asked: bool) -> Verified:
    there = f"installed {label(installed)}".rstrip()
    does = "locks" if asked else "removes"
    return Verified(name=name, state="not-locked", detail=f"{there}, but not in the lockfile; {bring_back} {does} it")


def _verified(
    name: SkillName, seen: View, locked: LockedSkill, installed: InstalledSkill | None, bring_back: str
) -> Verified:
    folder = seen.skill(name)
    if not os.path.lexists(folder):
        detail = f"locked, but not installed; {bring_back} brings it back"
        return Verified(name=name, state="missing", detail=detail)
    if locked.digest is None:
        if os.path.isdir(folder):
            return Verified(name=name, state="link", detail="a live link is not checked")
        return Verified(name=name, state="missing", detail="its live link leads to no folder")
    return _content_verified(name, folder, locked, installed, bring_back)


def _content_verified(
    name: SkillName, folder: str, locked: LockedSkill, installed: InstalledSkill | None, bring_back: str
) -> Verified:
    if os.path.islink(folder) or not os.path.isdir(folder):
        return Verified(name=name, state="modified", detail=OTHER_THING, files=REPLACED)
    if installed is None:
        if digest_of_folder(folder) == locked.digest:
            return Verified(name=name, state="ok")
        return Verified(name=name, state="modified", detail="not what the lockfile says, and not installed by skillpm")
    changes = tuple(compare(folder, name, installed.files, Scan()))
    if changes and digest_of_folder(folder, installed.files) == installed.digest == locked.digest:
        detail = f"only executable bits differ; {bring_back} puts them back"
        return Verified(name=name, state="modified", detail=detail, files=changes)
    if changes:
        return Verified(name=name, state="modified", detail="edited since it was installed", files=changes)
    if installed.digest != locked.digest:
        says, there = label(locked), label(installed)
        if says == there:
            says, there = told_apart(locked.digest or "", installed.digest or "")
        detail = f"the lockfile says {says}, installed is {there}; {bring_back} installs what it says"
        return Verified(name=name, state="other-version", detail=detail)
    found = digest_of_folder(folder, installed.files)
    if found != locked.digest:
        there, says = told_apart(found, locked.digest or "")
        return Verified(name=name, state="modified", detail=f"its content is {there}, locked {says}")
    return Verified(name=name, state="ok")


def _with_its_target(
    skill: Verified, scope: Scope, tools: Tools, locked: Mapping[SkillName, LockedSkill], receipt: Receipt
) -> Verified:
    """Find a live link that leads elsewhere: somebody changed it, or the lockfile."""
    wanted, installed = locked.get(skill.name), receipt.skills.get(skill.name)
    if wanted is None or wanted.digest is not None:
        return skill
    elsewhere = leads_elsewhere(scope, tools.settings, skill.name, wanted.pin)
    if not elsewhere:
        return skill
    is_edit = installed is None or installed.pin == wanted.pin
    return skill.but(state="modified" if is_edit else "other-version", detail=elsewhere)


def _with_links(skill: Verified, scope: Scope, tools: Tools, receipt: Receipt) -> Verified:
    """Find links that the receipt promises and that are not there."""
    if skill.state != "ok":
        return skill
    name = SkillName(skill.name)
    paths = scope.link_folders(tools.settings)
    digest = receipt.copied(name)
    for folder, links in receipt.links.items():
        if name not in links:
            continue
        kind = look_at_link(paths, folder, name, scope.layout, (links[name], digest)).kind
        if kind == "absent":
            detail = f"its link {folder}/{name} is gone; `skillpm sync{scope.flag}` makes it again"
            return Verified(name=skill.name, state="broken-link", detail=detail)
        if kind == "foreign":
            detail = f"{folder}/{name} {TAKEN}"
            return Verified(name=skill.name, state="broken-link", detail=detail)
    return skill
