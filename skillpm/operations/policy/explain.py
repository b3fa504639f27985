"""Explain the policies in effect: each rule with its origin, and which skills break one."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

from skillpm.change.apart import fetch_checked, resolve_apart
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import FileError, NotFoundError, NotTrusted, RefusedError
from skillpm.fetchers.packages.local import read_skill_folder
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.trust.audit_settings import AuditSettings
from skillpm.formats.trust.policy import Policy
from skillpm.installer.disk.layout import load_receipt
from skillpm.registry.builder import list_folders
from skillpm.scope.audit_settings import load_audit_settings
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files
from skillpm.scope.scope import Scope, user_scope
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.scope.scope_policy import (
    load_scope_policies,
    read_copy,
    read_policies,
    require_current,
    warn_of_old_policies,
)
from skillpm.settings import Settings
from skillpm.specs.request import InstallRequest
from skillpm.specs.spec_requirements import parse_requests
from skillpm.trust.policy import Policies, PolicyCheck
from skillpm.vetting.acceptance import PresentSkill
from skillpm.vetting.applied_rules import AppliedRule, find_applied_rules
from skillpm.vetting.installed_check import find_in_folder, read_incoming
from skillpm.vetting.policy_rules import check_audit, check_skill
from skillpm.vetting.problems import IncomingSkill, ValidationRequest
from skillpm.vetting.review_files import load_reviews
from skillpm.vetting.signers import find_published
from skillpm.vetting.validation_options import ValidationOptions


class ListedPolicy(Value):
    """A policy in effect, and its rules by key."""

    kind: Literal["machine", "environment", "user", "project", "published"]
    # The file, or the URL.
    origin: str
    rules: dict[str, Any]
    # Of a published policy: when it was issued and, in seconds since 1970, fetched.
    issued: str = ""
    fetched: float = 0.0
    # Until when it may be used; empty for no limit.
    expires: str = ""


class CheckedSkill(Value):
    """A skill, and what each rule says of it."""

    name: str
    source: str
    checks: tuple[PolicyCheck, ...] = ()
    # The rules about signatures that apply to its source, also those of `[[trust]]`.
    trust: tuple[AppliedRule, ...] = ()

    @property
    def problems(self) -> tuple[PolicyCheck, ...]:
        """The rules that it breaks."""
        return tuple(check for check in self.checks if check.problem)


class _Rules(Value):
    """What skills are checked against."""

    policies: Policies
    audit: AuditSettings


def list_policies(scope: Scope, settings: Settings) -> list[ListedPolicy]:
    """Return the policies in effect, each published one after the policy that names it.

    Raises `DocumentError` also for a rule of the audit that does not exist.
    """
    load_audit_settings(scope, settings)
    listed = []
    for file, policy in read_policies((scope, user_scope(settings)), settings):
        listed.append(ListedPolicy(kind=file.origin, origin=policy.origin, rules=_list_rules(policy)))
        copy = None if policy.fetch is None else read_copy(policy.fetch, settings)
        if copy is not None:
            published = copy.policy
            listed.append(
                ListedPolicy(
                    kind="published",
                    origin=published.origin,
                    rules=_list_rules(published),
                    issued=published.issued,
                    fetched=copy.fetched,
                    expires=published.expires,
                )
            )
    return listed


def _list_rules(policy: Policy) -> dict[str, Any]:
    fetch = policy.fetch
    rules: dict[str, Any] = {
        "sources.allow": policy.sources,
        "indexes.allow": policy.indexes,
        "oci.allow": policy.oci,
        "require.signers": dict(policy.signers) or None,
        "require.reviews": policy.reviews or None,
        "require.min-age": policy.min_age or None,
        "licenses.allow": policy.licenses,
        "limits.executables": None if policy.executables else False,
        "limits.max-size": policy.max_size or None,
        "audit.block": policy.audit_block or None,
        "audit.trust-project": None if policy.trust_project else False,
        "blocked": [_blocked_value(each.digest, each.name, each.reason) for each in policy.blocked] or None,
        "fetch": None if fetch is None else {"url": fetch.url, "refresh": fetch.refresh, "max-age": fetch.max_age},
    }
    return {key: [*value] if isinstance(value, tuple) else value for key, value in rules.items() if value is not None}


def _blocked_value(digest: str, name: str, reason: str) -> dict[str, str]:
    return {**({"digest": digest} if digest else {"name": name}), "reason": reason}


def check_skills(project: Project, names: Sequence[str]) -> list[CheckedSkill]:
    """Check the locked and installed skills against the policies in effect: all, or those that are named.

    A SPEC instead of a name is fetched, unless a policy forbids its place. Raises `NotTrusted` if a published policy is
    too old.
    """
    policies = load_scope_policies(project.scope, project.settings)
    audit = load_audit_settings(project.scope, project.settings)
    require_current(policies, project.settings.now)
    warn_of_old_policies(policies, project.reporter.warn)
    rules = _Rules(policies=policies or Policies(), audit=audit)
    known = {str(skill.name): skill for skill in _check_known(project, rules)}
    if not names:
        return [*known.values()]
    return [known[name] if name in known else _check_spec(project, rules, name) for name in names]


def _check_known(project: Project, rules: _Rules) -> Iterator[CheckedSkill]:
    files, receipt = read_project_files(project), load_receipt(project.layout).skills
    locked = files.lockfile.skills
    make_fetchers(project).name_sources([*files.all_requirements.values(), *files.overrides.values()])
    for name in sorted({*locked, *receipt, *map(SkillName, list_folders(project.layout.directory))}):
        installed = receipt.get(name)
        skill = locked.get(name)
        if skill is None and installed is not None:
            skill = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
        yield CheckedSkill(
            name=name,
            source="local" if skill is None else skill.pin.summarize(),
            checks=tuple(_check(project, rules, name, skill)),
            trust=() if skill is None else find_applied_rules(project.scope, project.settings, skill.pin),
        )


def _check(project: Project, rules: _Rules, name: SkillName, skill: LockedSkill | None) -> Iterator[PolicyCheck]:
    tree = _read_installed(project, name)
    if tree is not None:
        # The files on disk are checked, not what the lockfile says about them.
        present = PresentSkill(name=name, folder=project.layout.skill_path(name), claim=skill, digest=tree.digest)
        yield from _check_incoming(project, rules, read_incoming(project, present), present)
    elif skill is not None:
        yield from rules.policies.check_place(skill.pin)
        yield from rules.policies.check_blocked([name], skill.digest or "")


def _read_installed(project: Project, name: SkillName) -> FileTree | None:
    try:
        return read_skill_folder(project.layout.skill_path(name), name, project.settings.limits)
    except (NotFoundError, RefusedError, FileError):
        return None


def _check_incoming(
    project: Project, rules: _Rules, incoming: IncomingSkill, present: PresentSkill | None = None
) -> Iterator[PolicyCheck]:
    beside = partial(find_published, project, incoming)
    yield from check_skill(rules.policies, incoming, project.settings, lambda: load_reviews(project).trusted, beside)
    request = ValidationRequest(project=project, incoming=[incoming], options=ValidationOptions(), audit=rules.audit)
    others = () if present is None else [finding for finding, _ in find_in_folder(present, incoming)]
    yield from check_audit(rules.policies, request, incoming, others)


def _check_spec(project: Project, rules: _Rules, spec: str) -> CheckedSkill:
    """Fetch the skills of a SPEC, and check them."""
    try:
        (requirement,) = parse_requests(project, InstallRequest(specs=(spec,)))
        locked = resolve_apart(project, [requirement])[requirement.name]
        tree = fetch_checked(project, {requirement.name: locked})[requirement.name]
    except NotTrusted as error:
        problems = error.problems or [{"rule": "sources", "where": error.where, "message": error.message}]
        checks = [PolicyCheck(rule=each["rule"], where=each["where"], problem=each["message"]) for each in problems]
        return CheckedSkill(name=spec, source=sanitize(spec), checks=tuple(checks))
    incoming = IncomingSkill(name=requirement.name, locked=locked, tree=tree)
    passed = tuple(_check_incoming(project, rules, incoming))
    trust = find_applied_rules(project.scope, project.settings, locked.pin)
    return CheckedSkill(name=requirement.name, source=locked.pin.summarize(), checks=passed, trust=trust)
