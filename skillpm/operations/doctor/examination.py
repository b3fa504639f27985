"""The examination: every check in turn, none of which stops another."""

from collections.abc import Callable, Iterable

from skillpm.core.values import Value
from skillpm.errors import SkillpmError
from skillpm.operations.doctor import agent_checks as serving_checks
from skillpm.operations.doctor import cache_checks, link_checks
from skillpm.operations.doctor import directory_checks as directory
from skillpm.operations.doctor import environment_checks as surroundings
from skillpm.operations.doctor.diagnostics import Diagnostic, DoctorContext, diagnostic_from_error

Check = Callable[[DoctorContext], Iterable[Diagnostic]]
# In this order things depend on each other: what is told first is to be repaired first.
CHECKS: dict[str, tuple[str, Check]] = {
    "environment": ("the environment's variables", surroundings.check_environment),
    "git": ("git", surroundings.check_git),
    "homes": ("one home, not two", surroundings.check_homes),
    "disks": ("room on the disks", surroundings.check_disks),
    "config": ("config.toml", surroundings.check_config),
    "papers": ("manifest and lockfile, and that they agree", directory.check_project_files),
    "permissions": ("permissions", surroundings.check_permissions),
    "directory": ("the skills directory", directory.check_directory),
    "journal": ("no interrupted change, no leftovers", directory.check_journal),
    "receipt": ("the receipt", directory.check_receipt),
    "skills": ("every installed byte", directory.check_skills),
    "links": ("links of agent hosts", link_checks.check_links),
    "registry": ("the registry", directory.check_registry_document),
    "shadowed": ("skills that hide others", serving_checks.check_shadowed),
    "programs": ("what skills need", serving_checks.check_programs),
    "cache": ("the cache", cache_checks.check_cache),
    "store": ("every byte in the store", cache_checks.check_store),
    "repositories": ("every byte of cached repositories", cache_checks.check_repositories),
}


class DoctorReport(Value):
    """What was found; `fine` are the checks that found nothing."""

    diagnostics: tuple[Diagnostic, ...]
    passed_checks: tuple[str, ...]

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """What is wrong, without what is only good to know."""
        return tuple(finding for finding in self.diagnostics if not finding.is_note)

    @property
    def is_ok(self) -> bool:
        """Tell whether nothing is wrong."""
        return not self.problems


def run_checks(doctor: DoctorContext) -> DoctorReport:
    """Do every check. Changes nothing."""
    found = [*doctor.initial_diagnostics]
    for check, (_, look) in CHECKS.items():
        try:
            found.extend(look(doctor))
        except SkillpmError as error:
            # One damaged document is met by many checks, and told by the first.
            if error.where not in {finding.where for finding in found if finding.where}:
                found.append(diagnostic_from_error(check, error))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            where = str(error.filename or "")
            found.append(Diagnostic(check=check, message=f"this cannot be looked at: {reason}", where=where))
    touched = {finding.check for finding in found}
    return DoctorReport(
        diagnostics=tuple(found), passed_checks=tuple(check for check in CHECKS if check not in touched)
    )
