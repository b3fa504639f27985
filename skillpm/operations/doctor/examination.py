"""The examination: every check in turn, none of which stops another."""

from collections.abc import Callable, Iterable

from skillpm.core.values import Value
from skillpm.errors import SkillpmError
from skillpm.operations.doctor import agent_checks as serving_checks
from skillpm.operations.doctor import cache_checks, link_checks
from skillpm.operations.doctor import directory_checks as directory
from skillpm.operations.doctor import environment_checks as surroundings
from skillpm.operations.doctor.diagnostics import Finding, Patient, of_error

Check = Callable[[Patient], Iterable[Finding]]
# In this order things depend on each other: what is told first is to be repaired first.
CHECKS: dict[str, tuple[str, Check]] = {
    "environment": ("the environment's variables", surroundings.environment),
    "git": ("git", surroundings.git),
    "homes": ("one home, not two", surroundings.homes),
    "disks": ("room on the disks", surroundings.disks),
    "config": ("config.toml", surroundings.config),
    "papers": ("manifest and lockfile, and that they agree", directory.papers),
    "permissions": ("permissions", surroundings.permissions),
    "directory": ("the skills directory", directory.directory),
    "journal": ("no interrupted change, no leftovers", directory.journal),
    "receipt": ("the receipt", directory.receipt),
    "skills": ("every installed byte", directory.skills),
    "links": ("links of agent hosts", link_checks.links),
    "registry": ("the registry", directory.registry),
    "shadowed": ("skills that hide others", serving_checks.shadowed),
    "programs": ("what skills need", serving_checks.programs),
    "cache": ("the cache", cache_checks.cache),
    "store": ("every byte in the store", cache_checks.store),
    "repositories": ("every byte of cached repositories", cache_checks.repositories),
}


class Examination(Value):
    """What was found; `fine` are the checks that found nothing."""

    findings: tuple[Finding, ...]
    fine: tuple[str, ...]

    @property
    def problems(self) -> tuple[Finding, ...]:
        """What is wrong, without what is only good to know."""
        return tuple(finding for finding in self.findings if not finding.is_note)

    @property
    def ok(self) -> bool:
        """Tell whether nothing is wrong."""
        return not self.problems


def examine(patient: Patient) -> Examination:
    """Do every check. Changes nothing."""
    found = [*patient.complaints]
    for check, (_, look) in CHECKS.items():
        try:
            found.extend(look(patient))
        except SkillpmError as error:
            # One damaged document is met by many checks, and told by the first.
            if error.where not in {finding.where for finding in found if finding.where}:
                found.append(of_error(check, error))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            where = str(error.filename or "")
            found.append(Finding(check=check, message=f"this cannot be looked at: {reason}", where=where))
    touched = {finding.check for finding in found}
    return Examination(findings=tuple(found), fine=tuple(check for check in CHECKS if check not in touched))
