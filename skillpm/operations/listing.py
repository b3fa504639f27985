"""`list`: what is in a skills directory, answered from registry and stat cache."""

import os
from typing import Literal

from skillpm.documents.pin import describe
from skillpm.documents.receipt import InstalledSkill, Receipt
from skillpm.documents.registry import RegistryEntry
from skillpm.installing.scan import Scan, read_scan
from skillpm.installing.survey import compare
from skillpm.installing.view import View, look_until
from skillpm.operations.paperwork import read_paperwork
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools
from skillpm.serving.registering import Built, build_registry, known_registry
from skillpm.values import Value

State = Literal["installed", "modified", "missing", "unmanaged", "disabled"]


class Listed(Value):
    """One skill of a list: its registry entry, and what skillpm knows beyond it."""

    name: str
    state: State
    entry: RegistryEntry
    source: str
    digest: str
    path: str
    links: tuple[str, ...] = ()


class Listing(Value):
    """All skills of a scope, and what could not be read."""

    scope: str
    directory: str
    skills: tuple[Listed, ...]
    problems: tuple[str, ...] = ()
    pending: bool = False


def list_skills(scope: Scope, tools: Tools) -> Listing:
    """List what is installed; takes no lock and writes nothing."""
    disabled = read_paperwork(scope, tools).disabled

    def look(seen: View) -> tuple[Listing, bool]:
        receipt, scan = seen.receipt(), read_scan(scope.layout.scan)
        text = seen.document("registry", scope.layout.registry)
        built = build_registry(
            scope.layout, receipt, known_registry(scope.layout, text, scan), disabled=disabled, place=seen.skill
        )
        skills = tuple(_listed(name, seen, receipt, built, scan) for name in _names(receipt, built))
        listing = Listing(
            scope=scope.kind,
            directory=scope.layout.directory,
            skills=skills,
            problems=tuple(f"{problem.path}: {problem.message}" for problem in built.problems),
            pending=seen.is_pending,
        )
        return listing, all(skill.state != "missing" for skill in skills)

    return look_until(scope.layout, look)


def _names(receipt: Receipt, built: Built) -> list[str]:
    broken = {problem.path.partition("/")[0] for problem in built.problems}
    return sorted({*receipt.skills, *built.entries, *built.disabled} - (broken - {*receipt.skills}))


def _listed(name: str, seen: View, receipt: Receipt, built: Built, scan: Scan) -> Listed:
    installed: InstalledSkill | None = receipt.skills.get(name)  # type: ignore[call-overload]
    entry = built.entries.get(name) or RegistryEntry(name=name, category="", description="", triggers=[])
    return Listed(
        name=name,
        state=_state(name, seen, installed, built, scan),
        entry=entry,
        source="" if installed is None else describe(installed.pin),
        digest="" if installed is None else installed.digest or "",
        path=seen.layout.skill(name),
        links=tuple(f"{folder}/{name}" for folder, links in receipt.links.items() if name in links),
    )


def _state(name: str, seen: View, installed: InstalledSkill | None, built: Built, scan: Scan) -> State:
    if name in built.disabled:
        return "disabled"
    if installed is None:
        return "unmanaged"
    if name not in built.stamps and name not in built.entries:
        return "modified" if os.path.isdir(seen.skill(name)) else "missing"
    if installed.digest is None or name in built.intact:
        return "installed"
    return "modified" if any(compare(seen.skill(name), name, installed.files, scan)) else "installed"


def tokens_of(listed: Listed) -> int:
    """Give the estimated tokens of a skill's body."""
    return listed.entry.get("tokens", 0)


def version_of(listed: Listed) -> str:
    """Give what to show as its version: its own, else the short commit."""
    version = listed.entry.get("version", "")
    commit = listed.source.rpartition("@")[2].partition("#")[0] if listed.source.startswith("git+") else ""
    return version or commit[:7]


