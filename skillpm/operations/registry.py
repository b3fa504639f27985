"""`registry build|check`: regenerate the registry, or prove that it matches the disk."""

from skillpm.documents.registry import RegistryEntry, read_registry
from skillpm.errors import DocumentError
from skillpm.files import told, write_document
from skillpm.installing.layout import load_receipt
from skillpm.installing.scan import Scan
from skillpm.installing.staging import hide_from_git
from skillpm.installing.view import View, look_until
from skillpm.operations.carrying import remember
from skillpm.operations.exclusive import exclusive
from skillpm.operations.paperwork import read_paperwork
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools
from skillpm.serving.registering import Ahead, Known, Problem, build_registry
from skillpm.values import Value


class Rebuilt(Value):
    """What building found: whether the document changed, how many skills are in it, what could not be."""

    changed: bool
    skills: int
    problems: tuple[Problem, ...]


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
    """Build the registry anew from what lies on disk; every SKILL.md is read again."""
    disabled = read_paperwork(scope, tools).disabled
    with exclusive(scope, tools):
        built = build_registry(
            scope.layout, load_receipt(scope.layout), Known(entries={}, scan=Scan()), Ahead(), disabled=disabled
        )
        try:
            with open(scope.layout.registry, "rb") as file:
                before = file.read()
        except FileNotFoundError:
            before = b""
        text = built.text.encode()
        if text != before:
            with told("write the registry", scope.layout.registry):
                hide_from_git(scope.layout, fsync=tools.settings.fsync)
                write_document(scope.layout.registry, text, fsync=tools.settings.fsync)
        remember(scope, built)
    return Rebuilt(changed=text != before, skills=len(built.entries), problems=tuple(built.problems))


def check_registry(scope: Scope, tools: Tools) -> Checked:
    """Compare the registry with the disk; every SKILL.md is read, nothing is written."""
    disabled = read_paperwork(scope, tools).disabled

    def look(seen: View) -> tuple[Checked, bool]:
        text = seen.document("registry", scope.layout.registry)
        nothing, ahead = Known(entries={}, scan=Scan()), Ahead(gone=seen.going)
        built = build_registry(scope.layout, seen.receipt(), nothing, ahead, disabled=disabled, place=seen.skill)
        entries: dict[str, RegistryEntry] = {}
        problems = list(built.problems)
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
