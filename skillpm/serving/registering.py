"""Build the registry from what lies in a skills directory; files the stat cache vouches for are not read again."""

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from skillpm.documents.conflicts import remark_on
from skillpm.documents.names import SKILL_FILE, SkillName
from skillpm.documents.pin import describe
from skillpm.documents.receipt import InstalledSkill, Receipt
from skillpm.documents.registry import RegistryEntry, read_registry, write_registry
from skillpm.errors import DocumentError
from skillpm.installing.layout import Layout
from skillpm.installing.leading_out import LEADS_OUT, leads_out, those_leading_out
from skillpm.installing.scan import Scan, Stamp, stamp_of
from skillpm.installing.skill_file import read_skill_file, skill_file_in
from skillpm.installing.survey import compare, walk_files
from skillpm.serving.handmade import Reading, read_by_hand, still_true
from skillpm.serving.inheriting import add_inherited, mark_of
from skillpm.values import NOTHING, Value


class Problem(Value):
    """A skill that cannot be in the registry, and why; or what is odd about one that is."""

    path: str
    message: str


class Fresh(Value):
    """A skill that is about to be put in place: the bytes of its SKILL.md, the stamps of its staged files, and
    whether its content is another one than the receipt says (a restored backup). `file` is what that is called.
    """

    data: bytes
    stamps: Mapping[str, Stamp]
    edited: bool = False
    file: str = SKILL_FILE


@dataclass(kw_only=True, slots=True)
class Built:
    """A registry as it should be: its text, the stamps behind it, and what could not be in it.

    `intact`: skills that the stat cache vouches for, every file of them. A registry that is only looked at
    (`for_reading`) needs no stamps. `remarks` are on skills that are in it; their files are not vouched for, so they
    are read again and told again. `is_as_known`: nothing was read, and the registry on disk says just this.
    `inherited` marks what the receipt adds to the skills' own words.
    """

    entries: dict[str, RegistryEntry] = field(default_factory=dict)
    disabled: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    remarks: list[Problem] = field(default_factory=list)
    stamps: dict[str, Mapping[str, Stamp]] = field(default_factory=dict)
    intact: set[str] = field(default_factory=set)
    for_reading: bool = False
    is_as_known: bool = False
    inherited: str = ""

    @property
    def text(self) -> str:
        """The document."""
        return write_registry(self.entries.values(), self.disabled)


class Ahead(Value):
    """What is to be otherwise than it lies there: skills that come and that are gone.

    `intact` are installed skills that were looked at just now, every file of them; `staged` are not at their place
    yet, for a reader during a change. `only_known`: give up, as not being as known, before a SKILL.md has to be read.
    """

    fresh: Mapping[SkillName, Fresh] = NOTHING
    gone: Collection[SkillName] = ()
    intact: Collection[SkillName] = ()
    staged: Collection[SkillName] = ()
    only_known: bool = False


class Known(Value):
    """What was known before: the registry as it is, and the stat cache; nothing where the registry is not ours."""

    entries: Mapping[str, RegistryEntry]
    scan: Scan
    disabled: tuple[str, ...] | None = None


def known_registry(layout: Layout, text: str | None, scan: Scan) -> Known:
    """Give the registry and cache, if the file is still the one the cache was made for."""
    try:
        state = os.stat(layout.registry)
        if text is not None and scan.stamps.get("", {}).get("skills.json") == stamp_of(state):
            entries, disabled = read_registry(text, layout.registry)
            return Known(entries=entries, scan=scan, disabled=disabled)
    except (OSError, DocumentError):
        pass
    return Known(entries={}, scan=scan)


def build_registry(
    layout: Layout,
    receipt: Receipt,
    known: Known,
    ahead: Ahead,
    *,
    disabled: Collection[str] = (),
    place: Callable[[str], str] | None = None,
) -> Built:
    """Build the registry for a directory as it will be. `receipt` is the one that will hold then.

    `place` tells where a skill's folder is, for a reader during a change.
    """
    built = Built(for_reading=place is not None, inherited=mark_of(receipt))
    if known.scan.stamps.get("", {}).get("inherited", "") != built.inherited:
        known = known.but(entries={})  # they were made with other facts beside their files
    coming = ahead.fresh
    there = {SkillName(name) for name in folders_in(layout.directory)}
    if place is not None:
        there |= {*receipt.skills, *ahead.staged}
    by_hand = there - receipt.skills.keys() - coming.keys() - {*ahead.gone} - {*map(SkillName, disabled)}
    unchanged = still_true(layout.directory, by_hand, known.entries, known.scan)
    if ahead.only_known and (known.disabled is None or len(unchanged) < len(by_hand)):
        return built
    outside = those_leading_out(layout, by_hand - unchanged.keys())  # what is unchanged was looked at when it was read
    unread = sorted(by_hand - unchanged.keys() - outside)
    read = read_by_hand({name: (place or layout.skill)(name) for name in unread})
    read |= dict.fromkeys(outside, Reading("", None, LEADS_OUT))
    for name in sorted((there - {*ahead.gone}) | {*coming}):
        installed = receipt.skills.get(name)
        if name in disabled:
            built.disabled.append(name)
        elif name in coming:
            fresh = coming[name]
            _add(built, f"{name}/{fresh.file}", fresh.data, installed, edited=fresh.edited)
            built.stamps[name] = coming[name].stamps
        elif name in unchanged:
            built.entries[name] = unchanged[name]
            built.stamps[name] = known.scan.stamps[name]
        elif installed is None:
            _made_by_hand(built, name, read[name])
        elif name in ahead.intact and name in known.entries and _speaks_of(known.entries[name], installed):
            built.entries[name] = known.entries[name]
            built.stamps[name] = known.scan.stamps.get(name, {})
        else:
            _from_disk(built, layout, (place or layout.skill)(name), name, installed, known)
    add_inherited(built.entries, receipt)
    seen = unchanged.keys() | built.intact
    built.is_as_known = seen == built.entries.keys() == known.entries.keys() and known.disabled == (*built.disabled,)
    return built


def folders_in(directory: str) -> list[str]:
    """Give the names of all folders in a skills directory; a link to a folder is one."""
    try:
        with os.scandir(directory) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".") and _is_folder(entry)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that goes in a circle
        return False


def _made_by_hand(built: Built, name: str, reading: Reading) -> None:
    """Take one skill that somebody made by hand; without a SKILL.md it is none."""
    if reading.entry is not None:
        built.entries[name] = reading.entry
        if reading.remark:
            built.remarks.append(Problem(path=f"{name}/{reading.file}", message=reading.remark))
            return
    elif reading.why:
        built.problems.append(Problem(path=f"{name}/{reading.file}", message=reading.why))
    if reading.stamp and not built.for_reading:
        built.stamps[name] = {reading.file: reading.stamp}


def _from_disk(built: Built, layout: Layout, folder: str, name: str, installed: InstalledSkill, known: Known) -> None:
    """Take one skill that was installed as it lies there, from the old registry when nothing of it has changed."""
    try:
        states = states_of(folder, installed)
        old = known.entries.get(name)
        recorded = known.scan.stamps.get(name, {})
        if (
            old is not None
            and len(states) == len(recorded)
            and _speaks_of(old, installed)
            and all(known.scan.trusts(name, file, state) for file, state in states.items())
        ):
            built.entries[name] = old
            built.intact.add(name)
        elif leads_out(layout, name):  # a receipt says what was installed, and may be part of what was sent
            built.problems.append(Problem(path=f"{name}/{skill_file_in(folder)}", message=LEADS_OUT))
            return
        else:
            edited = any(compare(folder, name, installed.files, known.scan))
            path, data = f"{name}/{skill_file_in(folder)}", read_skill_file(folder)
            _add(built, path, data, installed, edited=edited)
            if edited and (remark := remark_on(data)):  # what came so is its author's to mend
                built.remarks.append(Problem(path=path, message=remark))
                return
        if not built.for_reading:
            built.stamps[name] = {path: stamp_of(state) for path, state in states.items()}
    except OSError as error:
        file = skill_file_in(folder)
        if isinstance(error, FileNotFoundError) and not os.path.lexists(f"{folder}/{file}"):
            return  # it is gone: whoever asks sees that it is not in the registry
        built.problems.append(Problem(path=f"{name}/{file}", message=error.strerror or "cannot be read"))


def _speaks_of(entry: RegistryEntry, installed: InstalledSkill) -> bool:
    """Tell whether an entry was made for the very skill that the receipt knows."""
    return (
        entry.get("digest", "") == (installed.digest or "")
        and entry.get("source") == describe(installed.pin)
        and (not installed.version or entry.get("version") == installed.version)
    )


def states_of(folder: str, installed: InstalledSkill) -> dict[str, os.stat_result]:
    """Give the states of the files that matter: all of an installed skill, the SKILL.md of a live link."""
    if installed.digest is None:
        file = skill_file_in(folder)
        return {file: os.stat(f"{folder}/{file}")}
    return {path: entry.stat(follow_symlinks=False) for path, entry in walk_files(folder)}


def _add(built: Built, path: str, data: bytes, installed: InstalledSkill | None, *, edited: bool) -> None:
    """Take one skill whose file is at `path` of the directory, `NAME/SKILL.md`."""
    # The reader brings a YAML library with it: only who must read a SKILL.md pays for it.
    from skillpm.documents.findings import NotLoadable  # noqa: PLC0415
    from skillpm.serving.entry import entry_of  # noqa: PLC0415

    name = path.rpartition("/")[0]
    try:
        built.entries[name] = entry_of(
            name,
            path,
            data,
            pin=None if installed is None else installed.pin,
            digest=None if installed is None or edited else installed.digest,
            version="" if installed is None else installed.version,
        )
    except NotLoadable as error:
        message = f"line {error.finding.line}: {error.finding.message}"
        built.problems.append(Problem(path=path, message=message))
