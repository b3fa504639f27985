"""`list`: what is in a skills directory, answered from registry and stat cache."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal, NamedTuple

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.core.token_estimate import tokens_in
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.files import read_text
from skillpm.formats.lockfile import LockedSkill, read_lockfile
from skillpm.formats.manifest import read_manifest
from skillpm.formats.pin import describe
from skillpm.formats.receipt import InstalledSkill, Receipt
from skillpm.formats.registry import UNMERGED, RegistryEntry, is_unmerged
from skillpm.installer.actions import label
from skillpm.installer.consistent_view import View, look_until
from skillpm.installer.disk_state import compare, digest_of_folder
from skillpm.installer.escaping_links import leads_out
from skillpm.installer.skill_file import read_skill_file
from skillpm.installer.stat_cache import Scan, read_scan
from skillpm.operations.context.scope import Scope
from skillpm.registry.build_state import Built
from skillpm.registry.builder import Ahead, build_registry, known_registry
from skillpm.serving.permissions import Rules

State = Literal["installed", "locked", "modified", "missing", "unmanaged", "disabled"]


class Listed(NamedTuple):
    """One skill of a list: its registry entry, and what skillpm knows beyond it. `locked` is what the lockfile says
    where that is another state than the installed one.
    """

    name: str
    state: State
    entry: RegistryEntry
    source: str
    digest: str
    path: str
    links: tuple[str, ...] = ()
    locked: str = ""


class Listing(Value):
    """All skills of a scope, and what could not be read."""

    scope: str
    directory: str
    skills: tuple[Listed, ...]
    problems: tuple[str, ...] = ()
    pending: bool = False


def list_skills(scope: Scope) -> Listing:
    """List what is installed; takes no lock and writes nothing."""
    text = read_text(scope.manifest)
    disabled = set() if text is None else read_manifest(text, scope.manifest).switched_off

    def look(seen: View) -> tuple[Listing, bool]:
        receipt, scan = seen.receipt(), read_scan(scope.layout.scan)
        text = seen.document("registry", scope.layout.registry)
        known = known_registry(scope.layout, text, scan)
        ahead = Ahead(gone=seen.going, staged=seen.coming)
        built = build_registry(scope.layout, receipt, known, ahead, disabled=disabled, place=seen.skill)
        locked = _locked(seen, scope)
        ahead_of = _locked_otherwise(locked, receipt)
        listed = (_listed(name, seen, receipt, built, scan, locked) for name in _names(receipt, built))
        skills = tuple(skill._replace(locked=ahead_of.get(skill.name, skill.locked)) for skill in listed)
        listing = Listing(
            scope=scope.kind,
            directory=scope.layout.directory,
            skills=skills,
            problems=(
                *_unmerged(text),
                *(f"{found.path}: {found.message}" for found in (*built.problems, *built.remarks)),
            ),
            pending=seen.is_pending,
        )
        return listing, all(skill.state not in {"missing", "modified"} for skill in skills)

    return look_until(scope.layout, look)


def _locked(seen: View, scope: Scope) -> Mapping[SkillName, LockedSkill]:
    """Give what is locked; a lockfile that cannot be read says nothing here."""
    text = seen.document("lockfile", scope.lockfile)
    try:
        return {} if text is None else read_lockfile(text, scope.lockfile).skills
    except DocumentError:
        return {}


def _locked_otherwise(locked: Mapping[SkillName, LockedSkill], receipt: Receipt) -> dict[str, str]:
    """Give what the lockfile says of skills that are installed in another state."""
    pairs = ((name, skill, locked[name]) for name, skill in receipt.skills.items() if name in locked)
    return {
        name: wanted if (wanted := label(says)) != label(there) else "other content"
        for name, there, says in pairs
        if there.digest != says.digest
    }


def _unmerged(registry: str | None) -> tuple[str, ...]:
    """Say that a merge left the registry in conflict; what is listed is what lies there, whatever it says."""
    return (f"skills.json: {UNMERGED}",) if registry and is_unmerged(registry) else ()


def _names(receipt: Receipt, built: Built) -> list[str]:
    broken = {problem.path.partition("/")[0] for problem in built.problems}
    return sorted({*receipt.skills, *built.entries, *built.disabled} - (broken - {*receipt.skills}))


def _listed(
    name: str, seen: View, receipt: Receipt, built: Built, scan: Scan, locked: Mapping[SkillName, LockedSkill]
) -> Listed:
    installed: InstalledSkill | None = receipt.skills.get(SkillName(name))
    entry = built.entries.get(name) or _own_entry(name, seen, built, installed)
    path = seen.layout.skill(name)
    links = tuple(f"{folder}/{name}" for folder, links in receipt.links.items() if name in links)
    if installed is None and (says := locked.get(SkillName(name))) is not None and name not in built.disabled:
        return _committed(Listed(name, "unmanaged", entry, "", "", path, links), says, seen.skill(name))
    if installed is None:
        return Listed(name, "disabled" if name in built.disabled else "unmanaged", entry, "", "", path, links)
    state = _state(name, seen, installed, built, scan)
    return Listed(name, state, entry, describe(installed.pin), installed.digest or "", path, links)


def _committed(listed: Listed, says: LockedSkill, folder: str) -> Listed:
    """Give a skill that is locked and was not installed here: whoever cloned a project may have it from git.

    Where it is, byte for byte, what the lockfile says, `sync` takes it over.
    """
    if says.digest is None or os.path.islink(folder) or digest_of_folder(folder) != says.digest:
        return listed._replace(locked=label(says))
    entry: RegistryEntry = {**listed.entry, "version": says.version} if says.version else listed.entry
    return listed._replace(state="locked", entry=entry, source=describe(says.pin), digest=says.digest)


def _own_entry(name: str, seen: View, built: Built, installed: InstalledSkill | None) -> RegistryEntry:
    """Give the entry of a skill that is not in the registry: of a disabled one what it says of itself."""
    if name in built.disabled and not leads_out(seen.layout, name):
        # The reader brings a YAML library with it: only who disabled a skill pays for it.
        from skillpm.registry.entry import entry_of  # noqa: PLC0415
        from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

        pin, digest = (None, None) if installed is None else (installed.pin, installed.digest)
        version = "" if installed is None else installed.version
        with suppress(OSError, NotLoadable):
            data = read_skill_file(seen.skill(name))
            return entry_of(name, f"{name}/{SKILL_FILE}", data, pin=pin, digest=digest, version=version)
    entry = RegistryEntry(name=name, category="", description="", triggers=[])
    if installed is not None and installed.version:
        entry["version"] = installed.version
    return entry


def _state(name: str, seen: View, installed: InstalledSkill, built: Built, scan: Scan) -> State:
    if name in built.disabled:
        return "disabled"
    folder = seen.skill(name)
    if name not in built.entries:
        is_there = os.path.lexists(folder) and (installed.digest is not None or os.path.isdir(folder))
        return "modified" if is_there else "missing"
    if installed.digest is None or name in built.intact:
        return "installed"
    is_edited = os.path.islink(folder) or any(compare(folder, name, installed.files, scan))
    return "modified" if is_edited else "installed"


def without_denied(listing: Listing, rules: Rules) -> tuple[Listing, int]:
    """Give the list without what permissions hide, and how many these are."""
    if not rules.layers:
        return listing, 0
    skills = tuple(skill for skill in listing.skills if not rules.hides(skill.name))
    problems = tuple(problem for problem in listing.problems if not rules.hides(problem.partition("/")[0]))
    return listing.but(skills=skills, problems=problems), len(listing.skills) - len(skills)


def start_tokens_of(listed: Listed) -> int:
    """Give about what a host spends on a skill at every start: its name and its description."""
    described = listed.entry["description"]
    return tokens_in(f"{listed.name}: {described}") if described else 0


def tokens_of(listed: Listed) -> int:
    """Give the estimated tokens of a skill's body."""
    return listed.entry.get("tokens", 0)


def version_of(listed: Listed) -> str:
    """Give what to show as its version: its own, else the short commit."""
    version = listed.entry.get("version", "")
    if version or not listed.source:
        return version
    commit = listed.source.rpartition("@")[2].partition("#")[0] if listed.source.startswith("git+") else ""
    return short_commit(commit)
