"""Decide what to do, from what is wanted, what was installed and what lies there. Pure, so `--dry-run` is free."""

from collections.abc import Collection, Mapping
from typing import Literal

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import GitPin, PathPin, Pin, describe_shortly
from skillpm.formats.receipt import InstalledSkill
from skillpm.installer.disk_state import FileChange, OnDisk

FOREIGN = "a folder that skillpm did not make"
MODES_BACK = "executable bits put back"
Verb = Literal["add", "update", "remove", "keep", "relink", "blocked"]


class Action(Value):
    """One thing to do, or not to do, with one skill. `aside` says that what lies there is kept as a backup.

    `done` is what people call it afterwards, where the verb does not say it.
    """

    verb: Verb
    name: SkillName
    was: str = ""
    becomes: str = ""
    reason: str = ""
    aside: bool = False
    changes: tuple[FileChange, ...] = ()
    done: str = ""


class Wishes(Value):
    """How the person wants obstacles met. `touched`: the only skills to look at; None means all. `only`: no other one
    is to come or to change, also where the lockfile is ahead. `gone`: skills made by hand that are to go. `linking`:
    links are what was asked for, those of skills made by hand too. `command`: the command line that was typed, to be
    said again with a way out. `leaves_edits`: an edited skill is in the way only where its locked state changes.
    """

    keep: Collection[str] = ()
    force: bool = False
    inexact: bool = False
    touched: Collection[str] | None = None
    only: bool = False
    gone: Collection[SkillName] = ()
    linking: bool = False
    command: str = ""
    leaves_edits: bool = False


def plan(
    locked: Mapping[SkillName, LockedSkill],
    installed: Mapping[SkillName, InstalledSkill],
    disk: Mapping[SkillName, OnDisk],
    wishes: Wishes,
) -> tuple[Action, ...]:
    """Give the actions, by name: first what is wanted, then what is wanted no more."""
    stays = {name for name in locked if wishes.only and name not in (wishes.touched or ())}
    wanted = [
        _as_it_lies(name, installed.get(name), disk[name])
        if name in stays
        else _for_wanted(name, locked[name], installed.get(name), disk[name], wishes)
        for name in sorted(locked)
        if name not in stays or disk[name].kind != "absent"
    ]
    gone = [] if wishes.inexact else [name for name in sorted({*installed, *wishes.gone}) if name not in locked]
    return (*wanted, *(_for_gone(name, installed.get(name), disk[name], wishes) for name in gone))


def label(skill: LockedSkill | InstalledSkill | None) -> str:
    """Give what people call a state of a skill: its version, else its commit, else its digest."""
    if skill is None:
        return ""
    if skill.version:
        return skill.version
    if isinstance(skill.pin, GitPin):
        return short_commit(skill.pin.commit)
    if isinstance(skill.pin, PathPin) and skill.pin.link:
        return "link"
    return (skill.digest or "")[7:19]


def _moved(old: InstalledSkill | None, new: LockedSkill) -> str:
    """Say what is new about an update whose version is the old one."""
    if old is None or label(old) != label(new):
        return ""
    said = "" if old.digest is None or old.digest != new.digest else "same content"
    if isinstance(old.pin, GitPin) and isinstance(new.pin, GitPin) and old.pin.commit != new.pin.commit:
        commits = f"{short_commit(old.pin.commit)} → {short_commit(new.pin.commit)}"
        return f"{commits}; {said}" if said else commits
    return f"{_now_from(old.pin, new.pin)}; {said}" if said else "other content"


def _now_from(old: Pin, new: Pin) -> str:
    """Say what is new about where the same bytes come from."""
    if isinstance(old, GitPin) and isinstance(new, GitPin) and (old.url, old.path) == (new.url, new.path):
        if not new.ref:
            return "now asked for by its commit"
        ref = show(new.ref.removeprefix("refs/heads/").removeprefix("refs/tags/"), 60)
        return f"now follows {'the default branch' if ref == 'HEAD' else ref}"
    return f"now from {show(describe_shortly(new), 80)}"


def _for_wanted(
    name: SkillName, wanted: LockedSkill, old: InstalledSkill | None, disk: OnDisk, wishes: Wishes
) -> Action:
    was, becomes = label(old), label(wanted)
    same = old is not None and old.digest == wanted.digest and old.pin == wanted.pin
    if disk.kind == "absent":
        return Action(verb="add", name=name, becomes=becomes, reason="" if old is None else "its folder was gone")
    if disk.kind == "intact":
        if same:
            return Action(verb="keep", name=name, was=was, becomes=becomes)
        return Action(verb="update", name=name, was=was, becomes=becomes, reason=_moved(old, wanted))
    untouched = wishes.touched is not None and name not in wishes.touched
    if has_other_modes(disk, old) and not (name in wishes.keep or (untouched and same)):
        return Action(
            verb="update", name=name, was=was, becomes=becomes, reason=MODES_BACK if same else _moved(old, wanted)
        )
    if disk.digest is not None and disk.digest == wanted.digest:
        # Committed to git, or brought to the locked state by hand: the content is the locked one, so it is ours.
        return Action(verb="keep", name=name, was=was, becomes=becomes, reason="already there")
    if name in wishes.keep:
        return _kept(name, was, disk)
    if (same and untouched) or (wishes.leaves_edits and disk.kind == "edited" and _has_content(old, wanted)):
        return _kept(name, was, disk).but(done="kept" if name in (wishes.touched or ()) else "")
    verb: Verb = "add" if old is None else "update"
    return _obstacle(verb, name, (was, becomes), disk, wishes)


def _as_it_lies(name: SkillName, old: InstalledSkill | None, disk: OnDisk) -> Action:
    """Leave a skill as it is that nobody meant."""
    was = label(old)
    if disk.kind == "intact":
        return Action(verb="keep", name=name, was=was, becomes=was)
    return _kept(name, was, disk).but(done="")


def _for_gone(name: SkillName, old: InstalledSkill | None, disk: OnDisk, wishes: Wishes) -> Action:
    was = label(old)
    if name in wishes.keep and disk.kind in {"edited", "foreign"}:
        return _kept(name, was, disk)
    if disk.kind in {"absent", "intact"} or has_other_modes(disk, old):
        return Action(verb="remove", name=name, was=was, reason="already gone" if disk.kind == "absent" else "")
    if wishes.touched is not None and name not in wishes.touched:
        # It was meant by nobody: it stays until a `sync`, which tells of it.
        return _kept(name, was, disk).but(done="")
    return _obstacle("remove", name, (was, ""), disk, wishes)


def _has_content(old: InstalledSkill | None, wanted: LockedSkill) -> bool:
    """Tell whether what is wanted was installed already, whatever happened to it since."""
    return old is not None and old.digest == wanted.digest


def has_other_modes(disk: OnDisk, installed: InstalledSkill | None) -> bool:
    """Tell whether of a skill only executable bits are other than installed, so that there is no work to lose."""
    return (
        disk.kind == "edited" and disk.digest is not None and installed is not None and disk.digest == installed.digest
    )


def _kept(name: SkillName, was: str, disk: OnDisk) -> Action:
    """Somebody's work that stays as it is."""
    reason = disk.why or "edited" if disk.kind == "edited" else FOREIGN
    return Action(verb="keep", name=name, was=was, becomes=was, reason=reason, changes=disk.changes, done="kept")


def _obstacle(verb: Verb, name: SkillName, versions: tuple[str, str], disk: OnDisk, wishes: Wishes) -> Action:
    """Somebody's work is in the way: blocked, or with `--force` set aside first."""
    was, becomes = versions
    reason = disk.why or ("edited since it was installed" if disk.kind == "edited" else FOREIGN)
    if wishes.force:
        reason += "; set aside first"
        return Action(verb=verb, name=name, was=was, becomes=becomes, reason=reason, aside=True)
    return Action(verb="blocked", name=name, was=was, becomes=becomes, reason=reason, changes=disk.changes)
