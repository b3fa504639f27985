"""`audit`: the findings in installed skills, in folders, and in skills that are not installed."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from skillpm.audit.model import AuditFinding, Severity, is_at_least
from skillpm.change.apart import fetch_checked, resolve_apart
from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.core.names import is_skill_name
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.core.values import Value
from skillpm.errors import FileError, ManySkillsError, NotFoundError, RefusedError
from skillpm.fetchers.packages.local import read_skill_folder, scan_entries
from skillpm.files import translate_os_errors
from skillpm.formats.lockfile import Lockfile
from skillpm.installer.disk.skill_file import find_skill_folders
from skillpm.locking.whole_repositories import require_confirmation
from skillpm.operations.inspect.list import list_skills
from skillpm.scope.audit_settings import load_audit_settings, warn_of_gone_rules
from skillpm.scope.project import Project
from skillpm.scope.verdicts import read_or_audit
from skillpm.specs.request import InstallRequest
from skillpm.specs.spec_requirements import parse_requests
from skillpm.vetting.scanners import ScannerFailed, run_scanner

NOT_ON_DISK = frozenset(["missing", "disabled"])


class AuditedSkill(Value):
    """A skill and its findings. All texts are safe to print."""

    name: str
    # Of its folder, with `/`, relative to the working directory if it is below it; empty if it is not installed.
    path: str = ""
    # Where it would come from, if it is not installed.
    source: str = ""
    digest: str = ""
    findings: tuple[AuditFinding, ...] = ()
    # Those that an exception of the settings covers.
    excepted: tuple[AuditFinding, ...] = ()
    # Those because of which it would be refused.
    blocking: tuple[AuditFinding, ...] = ()
    # Why it could not be audited, or not by all scanners.
    problems: tuple[str, ...] = ()

    def place(self, finding: AuditFinding) -> str:
        """Return the path of a finding's file: from the working directory, or in the skill that is not installed."""
        return f"{self.path or self.name}/{finding.path}"


class AuditOptions(Value):
    """What fails an audit."""

    # Instead of what the settings block; `never` for nothing.
    fail_on: Severity | None = None
    never_fails: bool = False
    # Whether the user has confirmed that a skill may be a repository with many files.
    allows_whole_repositories: bool = False


def audit_skills(project: Project, targets: Sequence[str], options: AuditOptions) -> list[AuditedSkill]:
    """Audit skills: each target is the name of an installed skill, a folder, or a SPEC; without targets, all installed.

    Nothing is installed, and nothing of a skill is run. Raises `NotFoundError` for a target that is none of these. A
    skill that cannot be read is reported as one of the results.
    """
    auditor = _Auditor(project, options)
    installed = {
        skill.name: skill.path for skill in list_skills(project.scope).skills if skill.state not in NOT_ON_DISK
    }
    if not targets:
        return [auditor.audit_folder(path, name, installed=True) for name, path in sorted(installed.items())]
    found: list[AuditedSkill] = []
    for target in targets:
        folder = os.path.join(project.settings.working_directory, target)
        if is_skill_name(target) and target in installed:
            found.append(auditor.audit_folder(installed[target], target, installed=True))
        elif is_local(target) or os.path.isdir(folder):
            found.extend(auditor.audit_below(target, folder))
        else:
            found.extend(auditor.audit_spec(target))
    return found


def is_local(target: str) -> bool:
    """Return whether a target can only be a path."""
    return target in {".", ".."} or target.startswith(("./", "../", "/")) or target.endswith(".md")


class _Auditor:
    def __init__(self, project: Project, options: AuditOptions) -> None:
        self.project = project
        self.options = options
        self.settings = load_audit_settings(project.scope, project.settings)
        warn_of_gone_rules(self.settings, (), project.reporter)
        self.today = datetime.fromtimestamp(project.settings.now, UTC).date().isoformat()

    def audit_below(self, target: str, folder: str) -> Iterator[AuditedSkill]:
        """Audit the skill at a path, or all skills below it."""
        folders = [*find_skill_folders(folder)]
        if not folders:
            shown = sanitize(target)
            exists = os.path.lexists(folder)
            message = f"{shown} contains no SKILL.md" if exists else f"{shown} does not exist"
            raise NotFoundError(
                message, hint="name an installed skill, a skill's folder, or a SPEC like owner/repo@name"
            )
        for each in folders:
            yield self.audit_folder(each, os.path.basename(os.path.realpath(each)), installed=False)

    def audit_folder(self, folder: str, name: str, *, installed: bool) -> AuditedSkill:
        """Audit a folder: all files of an installed skill, of another one those that would be installed."""
        base = self.project.settings.working_directory
        path = os.path.relpath(folder, base)
        shown = sanitize((folder if path.startswith("..") else path).replace(os.sep, "/"), 400)
        limits = self.project.settings.limits
        try:
            with translate_os_errors("read a skill", folder):
                if installed:
                    tree = check_tree(scan_entries(folder, limits, name, excluded=()), name=name, limits=limits)
                else:
                    tree = read_skill_folder(folder, name, limits)
        except (RefusedError, FileError, NotFoundError) as error:
            return AuditedSkill(name=sanitize(name), path=shown, problems=(error.message,))
        return self.audit(AuditedSkill(name=sanitize(name), path=shown, digest=tree.digest), tree)

    def audit_spec(self, spec: str) -> Iterator[AuditedSkill]:
        """Audit the skills of a SPEC and their dependencies, fetched with every check of an install."""
        request = InstallRequest(specs=(spec,))
        try:
            requirements = parse_requests(self.project, request)
        except ManySkillsError:
            requirements = parse_requests(self.project, request.replace(all_skills=True))
        skills = resolve_apart(self.project, requirements)
        if not self.options.allows_whole_repositories:
            require_confirmation(self.project.store, Lockfile(), Lockfile(skills=skills))
        for name, tree in fetch_checked(self.project, skills).items():
            source = sanitize(skills[name].pin.describe())
            yield self.audit(AuditedSkill(name=name, source=source, digest=skills[name].digest or ""), tree)

    def audit(self, skill: AuditedSkill, tree: FileTree) -> AuditedSkill:
        """Return a skill with its findings, those of configured scanners included."""
        findings = [*read_or_audit(self.project.session, tree, Digest(skill.digest))]
        problems: list[str] = []
        for scanner in self.settings.scanners.values():
            settings = self.project.settings
            try:
                others = run_scanner(scanner, skill.name, tree, settings.cache_dir, settings.environ)
            except ScannerFailed as error:
                problems.append(error.message)
                continue
            findings += [
                AuditFinding(
                    rule=f"{scanner.name}/{each.rule}",
                    severity="high" if each.severity == "high" else "medium" if each.severity == "medium" else "low",
                    path=each.path or tree.skill_file,
                    line=each.line or 1,
                    message=each.message,
                )
                for each in others
            ]
        excepted = tuple(finding for finding in findings if self._is_excepted(skill, finding))
        blocking = (finding for finding in findings if finding not in excepted and self._blocks(finding))
        return skill.replace(
            findings=tuple(findings), excepted=excepted, blocking=tuple(blocking), problems=tuple(problems)
        )

    def _is_excepted(self, skill: AuditedSkill, finding: AuditFinding) -> bool:
        found = (each for each in self.settings.allow if each.covers(skill.name, finding.rule, skill.digest))
        return any(not each.is_expired(self.today) for each in found)

    def _blocks(self, finding: AuditFinding) -> bool:
        if self.options.never_fails:
            return False
        if self.options.fail_on is not None:
            return is_at_least(finding.severity, self.options.fail_on)
        return self.settings.blocks(finding.rule, finding.severity)
