"""Run all checks in order; a check that fails does not stop the others."""

from collections.abc import Callable, Iterable

from skillpm.core.values import Value
from skillpm.errors import SkillpmError
from skillpm.operations.doctor import agent_checks, cache_checks, directory_checks, environment_checks
from skillpm.operations.doctor.diagnostics import Diagnostic, DoctorContext, diagnostic_from_error
from skillpm.scope.scope import Scope

Check = Callable[[DoctorContext], Iterable[Diagnostic]]


def _if_scope(check: Callable[[DoctorContext, Scope], Iterable[Diagnostic]]) -> Check:
    return lambda doctor: () if doctor.scope is None else check(doctor, doctor.scope)


# Ordered by dependency: what is reported first is to be repaired first. The text is the label in the report.
CHECKS: dict[str, tuple[str, Check]] = {
    "environment": ("environment variables", environment_checks.check_environment),
    "command": ("the command skillpm", environment_checks.check_command),
    "git": ("git", environment_checks.check_git),
    "homes": ("a single home", environment_checks.check_homes),
    "disks": ("free disk space", environment_checks.check_disks),
    "config": ("config.toml", environment_checks.check_config),
    "papers": ("manifest and lockfile", _if_scope(directory_checks.check_project_files)),
    "permissions": ("permissions", _if_scope(environment_checks.check_permissions)),
    "policy": ("policies", environment_checks.check_policies),
    "trust": ("trusted signers", environment_checks.check_trust),
    "directory": ("the skills directory", _if_scope(directory_checks.check_directory)),
    "journal": ("interrupted changes and leftovers", _if_scope(directory_checks.check_journal)),
    "receipt": ("the receipt", _if_scope(directory_checks.check_receipt)),
    "skills": ("installed files", _if_scope(directory_checks.check_skills)),
    "links": ("links in the folders of agents", _if_scope(agent_checks.check_links)),
    "plugins": ("folders that hosts start", _if_scope(agent_checks.check_plugins)),
    "registry": ("the registry", _if_scope(directory_checks.check_registry_document)),
    "shadowed": ("shadowed skills", agent_checks.check_shadowed),
    "programs": ("requirements of skills", _if_scope(agent_checks.check_programs)),
    "cache": ("the cache", cache_checks.check_cache),
    "store": ("store entries", cache_checks.check_store),
    "repositories": ("cached repositories", cache_checks.check_repositories),
}


class DoctorReport(Value):
    """All diagnostics, and the checks without any."""

    diagnostics: tuple[Diagnostic, ...]
    passed_checks: tuple[str, ...]

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """The diagnostics without notes."""
        return tuple(finding for finding in self.diagnostics if not finding.is_note)

    @property
    def is_ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def run_checks(doctor: DoctorContext) -> DoctorReport:
    """Run every check, read-only."""
    diagnostics = [*doctor.initial_diagnostics]
    for check, (_, run) in CHECKS.items():
        try:
            diagnostics.extend(finding.replace(check=check) for finding in run(doctor))
        except SkillpmError as error:
            # Many checks read the same damaged document; only the first reports it.
            if error.where not in {finding.where for finding in diagnostics if finding.where}:
                diagnostics.append(diagnostic_from_error(check, error))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            where = str(error.filename or "")
            diagnostics.append(Diagnostic(check=check, message=f"cannot be checked: {reason}", where=where))
    failed = {finding.check for finding in diagnostics}
    return DoctorReport(
        diagnostics=tuple(diagnostics), passed_checks=tuple(check for check in CHECKS if check not in failed)
    )
