"""Checks of what agents can use: shadowed skills and unmet requirements."""

import os
from collections.abc import Iterator

from skillpm.core.text import sanitize
from skillpm.operations.discover import discover
from skillpm.operations.doctor.diagnostics import Diagnostic, DoctorContext
from skillpm.operations.inspect.list import list_skills
from skillpm.registry.card import Card
from skillpm.serving.availability import Environment


def check_shadowed(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find skills that are hidden by another skill of the same name."""
    discovery = discover(settings=doctor.settings)
    bundled = tuple(root.path + os.sep for root in discovery.roots if root.profile_root.scope == "bundled")
    for loser in discovery.shadowed:
        if loser.path.startswith(bundled):
            continue  # installing a bundled skill always hides the bundled copy
        message = f"{sanitize(loser.name, 80)} is hidden by {sanitize(loser.winner, 200)}: {loser.why}"
        hint = "run `skillpm discover` to see both; rename or remove one"
        yield Diagnostic(check="shadowed", message=message, where=loser.path, hint=hint, is_note=True)


def check_programs(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find installed skills that require a program, a variable or an operating system that is missing here."""
    scope = doctor.scope
    if scope is None:
        return
    environment = Environment(doctor.settings.environ)
    for skill in list_skills(scope).skills:
        missing = environment.find_missing(Card(skill.entry, scope.layout.directory))
        if missing:
            message = f"{skill.name} has unmet requirements: {', '.join(sanitize(item, 60) for item in missing)}"
            hint = f"install them, or run `skillpm disable {skill.name}{scope.flag}`"
            yield Diagnostic(check="programs", message=message, where=skill.path, hint=hint, is_note=True)
