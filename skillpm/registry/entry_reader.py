"""One skill taken into the registry: as it lies there, as somebody made it, or as it is about to be put there."""

import os

from skillpm.core.conflict_markers import remark_on
from skillpm.formats.pin import describe
from skillpm.formats.receipt import InstalledSkill
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.disk_state import compare, walk_files
from skillpm.installer.escaping_links import LEADS_OUT, leads_out
from skillpm.installer.layout import Layout
from skillpm.installer.skill_file import read_skill_file, skill_file_in
from skillpm.installer.stat_cache import stamp_of
from skillpm.registry.build_state import Built, Known, Problem
from skillpm.registry.unmanaged_skills import Reading


def take_from_disk(
    built: Built, layout: Layout, folder: str, name: str, installed: InstalledSkill, known: Known
) -> None:
    """Take one skill that was installed as it lies there, from the old registry when nothing of it has changed."""
    try:
        states = _states_of(folder, installed)
        old = known.entries.get(name)
        recorded = known.scan.stamps.get(name, {})
        if (
            old is not None
            and len(states) == len(recorded)
            and speaks_of(old, installed)
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
            take_bytes(built, path, data, installed, edited=edited)
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


def speaks_of(entry: RegistryEntry, installed: InstalledSkill) -> bool:
    """Tell whether an entry was made for the very skill that the receipt knows."""
    return (
        entry.get("digest", "") == (installed.digest or "")
        and entry.get("source") == describe(installed.pin)
        and (not installed.version or entry.get("version") == installed.version)
    )


def _states_of(folder: str, installed: InstalledSkill) -> dict[str, os.stat_result]:
    """Give the states of the files that matter: all of an installed skill, the SKILL.md of a live link."""
    if installed.digest is None:
        file = skill_file_in(folder)
        return {file: os.stat(f"{folder}/{file}")}
    return {path: entry.stat(follow_symlinks=False) for path, entry in walk_files(folder)}


def take_handmade(built: Built, name: str, reading: Reading) -> None:
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


def take_bytes(built: Built, path: str, data: bytes, installed: InstalledSkill | None, *, edited: bool) -> None:
    """Take one skill whose file is at `path` of the directory, `NAME/SKILL.md`."""
    # The reader brings a YAML library with it: only who must read a SKILL.md pays for it.
    from skillpm.registry.entry import entry_of  # noqa: PLC0415
    from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

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
