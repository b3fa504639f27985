"""Planning as a table: the requested, recorded and actual state determine the action."""

import itertools
from typing import Any

import pytest

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.receipt import InstalledSkill
from skillpm.installer.actions import Action, InstallOptions, plan_actions, version_label
from skillpm.installer.disk.disk_state import FileChange, InstalledState
from skillpm.kinds.base import Pin
from skillpm.kinds.bundled import BundledPin
from skillpm.kinds.git import GitPin
from skillpm.kinds.local import PathPin

PDF = SkillName("pdf")
ONE, TWO, OTHER = (Digest(f"sha256:{digit * 64}") for digit in "12f")
GIT = GitPin(url="https://github.com/o/r", commit="9d2f1ae1" * 5, tree="0c3b5d77" * 5)
CHANGES = (FileChange(path="SKILL.md", state="modified"),)

WANTED_SAME = LockedSkill(pin=GIT, digest=ONE, version="1.0")
WANTED_OTHER = LockedSkill(pin=GIT.replace(commit="beef0000" * 5), digest=TWO, version="2.0")
INSTALLED = InstalledSkill(pin=GIT, digest=ONE, version="1.0")

ABSENT = InstalledState(kind="absent")
INTACT = InstalledState(kind="intact", digest=ONE)
EDITED = InstalledState(kind="edited", changes=CHANGES, digest=OTHER)
FOREIGN = InstalledState(kind="foreign", digest=OTHER)

EDIT = "edited since it was installed"
NOT_OURS = "a folder that skillpm did not create"


class Situation(Value):
    """The requested, recorded and actual state of a skill, and the action for each option that makes a difference."""

    wanted: LockedSkill | None
    installed: InstalledSkill | None
    disk: InstalledState
    plain: Action
    keep: Action | None = None
    force: Action | None = None
    untouched: Action | None = None


def action(verb: Any, was: str, becomes: str, reason: str = "", **more: Any) -> Action:
    return Action(verb=verb, name=PDF, old_version=was, new_version=becomes, reason=reason, **more)


KEPT = action("keep", "1.0", "1.0", "edited", changes=CHANGES)
KEPT_AS_ASKED = KEPT.replace(outcome="kept")
OTHER_MODES = InstalledState(kind="edited", changes=CHANGES, digest=ONE)
TABLE = {
    "absent, wanted": Situation(
        wanted=WANTED_SAME, installed=None, disk=ABSENT,
        plain=action("add", "", "1.0"),
    ),
    "absent, wanted, though installed": Situation(
        wanted=WANTED_OTHER, installed=INSTALLED, disk=ABSENT,
        plain=action("add", "", "2.0", "its folder was missing"),
    ),
    "intact, wanted as it is": Situation(
        wanted=WANTED_SAME, installed=INSTALLED, disk=INTACT,
        plain=action("keep", "1.0", "1.0"),
    ),
    "intact, another wanted": Situation(
        wanted=WANTED_OTHER, installed=INSTALLED, disk=INTACT,
        plain=action("update", "1.0", "2.0"),
    ),
    "edited, wanted as it was": Situation(
        wanted=WANTED_SAME, installed=INSTALLED, disk=EDITED,
        plain=KEPT,
        keep=KEPT_AS_ASKED,
        force=action("update", "1.0", "1.0", f"{EDIT}; backed up first", needs_backup=True),
        untouched=KEPT,
    ),
    "edited, another wanted": Situation(
        wanted=WANTED_OTHER, installed=INSTALLED, disk=EDITED,
        plain=action("blocked", "1.0", "2.0", EDIT, changes=CHANGES),
        keep=KEPT_AS_ASKED,
        force=action("update", "1.0", "2.0", f"{EDIT}; backed up first", needs_backup=True),
    ),
    "edited into just what is wanted": Situation(
        wanted=WANTED_OTHER, installed=INSTALLED, disk=EDITED.replace(digest=TWO),
        plain=action("keep", "1.0", "2.0", "already present"),
    ),
    "foreign, wanted": Situation(
        wanted=WANTED_SAME, installed=None, disk=FOREIGN,
        plain=action("blocked", "", "1.0", NOT_OURS),
        keep=action("keep", "", "", NOT_OURS, outcome="kept"),
        force=action("add", "", "1.0", f"{NOT_OURS}; backed up first", needs_backup=True),
    ),
    "foreign, and no folder at all": Situation(
        wanted=WANTED_SAME, installed=None, disk=InstalledState(kind="foreign"),
        plain=action("blocked", "", "1.0", NOT_OURS),
        keep=action("keep", "", "", NOT_OURS, outcome="kept"),
        force=action("add", "", "1.0", f"{NOT_OURS}; backed up first", needs_backup=True),
    ),
    "foreign, but just what is wanted": Situation(
        wanted=WANTED_SAME, installed=None, disk=FOREIGN.replace(digest=ONE),
        plain=action("keep", "", "1.0", "already present"),
    ),
    "absent, wanted no more": Situation(
        wanted=None, installed=INSTALLED, disk=ABSENT,
        plain=action("remove", "1.0", "", "already removed"),
    ),
    "intact, wanted no more": Situation(
        wanted=None, installed=INSTALLED, disk=INTACT,
        plain=action("remove", "1.0", ""),
    ),
    "edited, wanted no more": Situation(
        wanted=None, installed=INSTALLED, disk=EDITED,
        plain=action("blocked", "1.0", "", EDIT, changes=CHANGES),
        keep=KEPT_AS_ASKED,
        force=action("remove", "1.0", "", f"{EDIT}; backed up first", needs_backup=True),
        untouched=KEPT,
    ),
    "other modes, wanted as it was": Situation(
        wanted=WANTED_SAME, installed=INSTALLED, disk=OTHER_MODES,
        plain=action("update", "1.0", "1.0", "executable bits restored"),
        keep=action("keep", "1.0", "1.0", "already present"),
        untouched=action("keep", "1.0", "1.0", "already present"),
    ),
    "other modes, another wanted": Situation(
        wanted=WANTED_OTHER, installed=INSTALLED, disk=OTHER_MODES,
        plain=action("update", "1.0", "2.0"),
        keep=KEPT_AS_ASKED,
    ),
    "other modes, wanted no more": Situation(
        wanted=None, installed=INSTALLED, disk=OTHER_MODES,
        plain=action("remove", "1.0", ""),
        keep=KEPT_AS_ASKED,
    ),
}  # fmt: skip


def planned(situation: Situation, options: InstallOptions) -> tuple[Action, ...]:
    locked = {} if situation.wanted is None else {PDF: situation.wanted}
    installed = {} if situation.installed is None else {PDF: situation.installed}
    return plan_actions(locked, installed, {PDF: situation.disk}, options)


@pytest.mark.parametrize("situation", [*TABLE.values()], ids=[*TABLE])
@pytest.mark.parametrize(
    ("keep", "untouched", "force", "inexact"),
    list(itertools.product([False, True], repeat=4)),
    ids=lambda wish: "yes" if wish else "no",
)
def test_actions_follow_from_the_table(
    situation: Situation, *, keep: bool, untouched: bool, force: bool, inexact: bool
) -> None:
    """Of several options the most conservative wins: `--inexact`, `--keep`, unselected, `--force`."""
    options = InstallOptions(
        keep=["pdf"] if keep else ["other"],
        selected=["other"] if untouched else None,
        force=force,
        inexact=inexact,
    )
    asked = [(keep, situation.keep), (untouched, situation.untouched), (force, situation.force)]
    expected = next((answer for is_asked, answer in asked if is_asked and answer is not None), situation.plain)

    is_kept_by_inexact = inexact and situation.wanted is None
    assert planned(situation, options) == (() if is_kept_by_inexact else (expected,))


@pytest.mark.parametrize("situation", [*TABLE.values()], ids=[*TABLE])
def test_all_skills_are_planned_by_default(situation: Situation) -> None:
    assert planned(situation, InstallOptions()) == (situation.plain,)


def test_an_edit_blocks_everything_where_it_must_not_pass() -> None:
    situation = TABLE["edited, wanted as it was"]
    blocked = action("blocked", "1.0", "1.0", EDIT, changes=CHANGES)

    assert planned(situation, InstallOptions(is_strict=True)) == (blocked,)
    assert planned(situation, InstallOptions(is_strict=True, keep=["pdf"])) == (KEPT_AS_ASKED,)
    assert planned(situation, InstallOptions(selected=["pdf"])) == (KEPT.replace(outcome="kept"),)


def test_local_work_is_never_overwritten_or_removed_by_default() -> None:
    for name, situation in TABLE.items():
        if situation.disk.kind in {"edited", "foreign"} and situation.disk is not OTHER_MODES:
            (default,) = planned(situation, InstallOptions())
            assert default.verb in {"blocked", "keep"}, name
            (forced,) = planned(situation, InstallOptions(force=True))
            assert forced.needs_backup or forced.verb == "keep", name


def test_installs_come_first_and_all_are_sorted_by_name() -> None:
    def names(*words: str) -> list[SkillName]:
        return [SkillName(word) for word in words]

    locked = dict.fromkeys(names("b", "a", "d"), WANTED_SAME)
    installed = dict.fromkeys(names("z", "c", "a"), INSTALLED)
    disk = dict.fromkeys(names("a", "c", "z"), INTACT) | dict.fromkeys(names("b", "d"), ABSENT)

    actions = plan_actions(locked, installed, disk, InstallOptions())
    assert [(action.verb, action.name) for action in actions] == [
        ("keep", "a"),
        ("add", "b"),
        ("add", "d"),
        ("remove", "c"),
        ("remove", "z"),
    ]


LIVE = PathPin(path="../x", link=True)
COPY = PathPin(path="../x")


@pytest.mark.parametrize(
    ("old", "new", "versions", "reason"),
    [
        (
            (GIT, ONE, "1.0"),
            (GIT.replace(commit="beef0000" * 5), ONE, "1.0"),
            ("1.0", "1.0"),
            "9d2f1ae → beef000; same content",
        ),
        ((GIT, ONE, ""), (GIT.replace(commit="beef0000" * 5), TWO, ""), ("9d2f1ae", "beef000"), ""),
        ((GIT, ONE, "1.0"), (GIT, TWO, "1.0"), ("1.0", "1.0"), "different content"),
        (
            (BundledPin(name="pdf"), ONE, "1.0"),
            (GIT, ONE, "1.0"),
            ("1.0", "1.0"),
            "now from https://github.com/o/r at 9d2f1ae; same content",
        ),
        ((COPY, ONE, ""), (COPY, TWO, ""), ("1" * 12, "2" * 12), ""),
        ((COPY, ONE, ""), (LIVE, None, ""), ("1" * 12, "link"), ""),
        ((LIVE, None, ""), (LIVE.replace(path="../y"), None, ""), ("link", "link"), "different content"),
    ],
)
def test_update_reason_says_what_changes(
    old: tuple[Pin, Digest | None, str],
    new: tuple[Pin, Digest | None, str],
    versions: tuple[str, str],
    reason: str,
) -> None:
    locked = {PDF: LockedSkill(pin=new[0], digest=new[1], version=new[2])}
    installed = {PDF: InstalledSkill(pin=old[0], digest=old[1], version=old[2])}

    assert plan_actions(locked, installed, {PDF: INTACT}, InstallOptions()) == (action("update", *versions, reason),)


@pytest.mark.parametrize(
    ("skill", "words"),
    [
        (None, ""),
        (WANTED_SAME, "1.0"),
        (WANTED_SAME.replace(version=""), "9d2f1ae"),
        (INSTALLED.replace(version="", pin=BundledPin(name="pdf")), "111111111111"),
        (LockedSkill(pin=COPY, digest=TWO), "222222222222"),
        (LockedSkill(pin=LIVE, digest=None), "link"),
        (LockedSkill(pin=LIVE, digest=None, version="3.1"), "3.1"),
    ],
)
def test_version_label_is_the_version_commit_or_digest(skill: LockedSkill | InstalledSkill | None, words: str) -> None:
    assert version_label(skill) == words
