"""The check `widens`: a version that may do more than the installed one."""

from collections.abc import Iterator

from skillpm.formats.trust.audit_settings import WIDENS
from skillpm.operations.gate.problems import GateRequest, Problem
from skillpm.skillmd.capabilities import find_capabilities
from skillpm.skillmd.capability_changes import compare_capabilities


def find_widened(request: GateRequest) -> Iterator[Problem]:
    """Yield the skills that may do more than what is installed, where `widens` blocks or warns."""
    blocks, warns = request.audit.blocks(WIDENS, ""), request.audit.warns(WIDENS, "")
    for skill in request.incoming if blocks or warns else ():
        if skill.old is None or skill.old.digest == skill.digest:
            continue
        if skill.before is None:
            message = "what it may do cannot be compared: the installed content is not known any more"
            yield Problem(skill=skill.name, kind="widens", rule=WIDENS, message=message, blocks=blocks)
            continue
        for finding in compare_capabilities(find_capabilities(skill.before), find_capabilities(skill.tree)):
            message = f"may now {finding.message}"
            yield Problem(skill=skill.name, kind="widens", rule=WIDENS, message=message, blocks=blocks)
