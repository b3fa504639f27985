"""`registry build|check`: regenerate the registry, or prove that it matches the disk."""

import os

from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.files import told, write_document
from skillpm.formats.registry import RegistryEntry, read_registry
from skillpm.installer.backups import keep_old_registry
from skillpm.installer.consistent_view import View, look_until
from skillpm.installer.layout import load_receipt, registry_text
from skillpm.installer.staging import hide_from_git
from skillpm.installer.stat_cache import Scan, read_scan
from skillpm.operations.context.project_files import read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.registry.build_state import Known, Problem
from skillpm.registry.builder import Ahead, build_registry, known_registry


class Rebuilt(Value):
    """What building found: whether the document changed, how many skills are in it, what could not be, what is odd."""

    changed: bool
    skills: int
    problems: tuple[Problem, ...]
    remarks: tuple[Problem, ...] = ()


class Checked(Value):
    """How the registry differs from the disk: not in it, not as it says, not there any more."""

    missing: tuple[str, ...]
    stale: tuple[str, ...]
    extra: tuple[str, ...]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Tell whether the registry is true."""
        return not (self.missing or self.stale or self.extra)


def rebuild(scope: Scope, tools: Tools) -> Rebuilt:
    """Build the registry from what lies on disk; a SKILL.md that the stat cache vouches for is not read again."""
    disabled = read_paperwork(scope, tools).disabled
    layout = scope.layout
    if not os.path.exists(layout.journal):  # whether there is anything to do is seen without the lock
        known = known_registry(layout, registry_text(layout), read_scan(layout.scan))
        built = build_registry(layout, load_receipt(layout), known, Ahead(only_known=True), disabled=disabled)
        if built.is_as_known:
            return Rebuilt(changed=False, skills=len(built.entries), problems=tuple(built.problems))
    # The lock and the reader bring libraries with them: only who has something to do pays for them.
    from skillpm.operations.context.scope_lock import exclusive  # noqa: PLC0415
    from skillpm.operations.install.executor import remember  # noqa: PLC0415

    with exclusive(scope, tools):
        before, scan = registry_text(layout), read_scan(layout.scan)
        known = known_registry(layout, before, scan)
        built = build_registry(layout, load_receipt(layout), known, Ahead(), disabled=disabled)
        text = built.text
        if text != before:
            with told("write the registry", layout.registry):
                hide_from_git(layout, fsync=tools.settings.fsync)
                keep_old_registry(layout, tools.reporter.warning, fsync=tools.settings.fsync)
                write_document(layout.registry, text.encode(), fsync=tools.settings.fsync)
        remember(scope, built)
    return Rebuilt(
        changed=text != before,
        skills=len(built.entries),
        problems=tuple(built.problems),
        remarks=tuple(built.remarks),
    )


def check_registry(scope: Scope, tools: Tools) -> Checked:
    """Compare the registry with the disk; every SKILL.md is read, nothing is written."""
    disabled = read_paperwork(scope, tools).disabled

    def look(seen: View) -> tuple[Checked, bool]:
        text = seen.document("registry", scope.layout.registry)
        nothing, ahead = Known(entries={}, scan=Scan()), Ahead(gone=seen.going, staged=seen.coming)
        built = build_registry(scope.layout, seen.receipt(), nothing, ahead, disabled=disabled, place=seen.skill)
        entries: dict[str, RegistryEntry] = {}
        problems = [*built.problems, *built.remarks]
        if text is not None:
            try:
                entries = read_registry(text, scope.layout.registry)[0]
            except DocumentError as error:
                problems.append(Problem(path="skills.json", message=error.message))
        stale = {name for name, entry in entries.items() if name in built.entries and entry != built.entries[name]}
        if not stale and text is not None and text != built.text and {*entries} == {*built.entries}:
            stale = {"skills.json"}  # the same skills, written otherwise
        checked = Checked(
            missing=tuple(sorted({*built.entries} - {*entries})),
            stale=tuple(sorted(stale)),
            extra=tuple(sorted({*entries} - {*built.entries})),
            problems=tuple(problems),
        )
        return checked, checked.ok

    return look_until(scope.layout, look)
