"""What agents get: skills that hide others, programs that skills need."""

import os
from collections.abc import Iterator

from skillpm.core.text import sanitize
from skillpm.operations.discover import discover
from skillpm.operations.doctor.diagnostics import Diagnostic, DoctorContext
from skillpm.operations.inspect.list import list_skills
from skillpm.registry.card import Card
from skillpm.serving.availability import Environment


def check_shadowed(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find skills that another one of the same name hides."""
    found = discover(settings=doctor.settings)
    shipped = tuple(root.path + os.sep for root in found.roots if root.profile_root.scope == "bundled")
    for loser in found.shadowed:
        if loser.path.startswith(shipped):
            continue  # whoever installs what ships with the tool means to
        message = f"{sanitize(loser.name, 80)} is hidden by {sanitize(loser.winner, 200)}: {loser.why}"
        hint = "`skillpm discover` shows all of them; rename or remove one of the two"
        yield Diagnostic(check="shadowed", message=message, where=loser.path, hint=hint, is_note=True)


def check_programs(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find installed skills that cannot work here, for want of a program, a variable or another system."""
    scope = doctor.scope
    if scope is None:
        return
    here = Environment(doctor.settings.environ)
    for skill in list_skills(scope).skills:
        missing = here.find_missing(Card(skill.entry, scope.layout.directory))
        if missing:
            message = f"{skill.name} needs what is not here: {', '.join(sanitize(item, 60) for item in missing)}"
            hint = f"install it, or `skillpm disable {skill.name}{scope.flag}`"
            yield Diagnostic(check="programs", message=message, where=skill.path, hint=hint, is_note=True)
