"""Check skills that are in a skills directory already, before agents get them there (ADR 57).

What a checkout says of a folder (receipt, lockfile, `edits`) decides nothing here: the files are judged as they are,
and where a rule asks for a place, the claimed source is proved as for fetched content.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from skillpm.audit.model import AuditFinding
from skillpm.core.digest import shorten_digest
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import SignatureError, SkillpmError
from skillpm.formats.lockfile import LockedSkill
from skillpm.installer.disk.disk_state import IGNORED_NAMES
from skillpm.installer.folder_manifests import find_folder_manifests
from skillpm.kinds.base import Pin
from skillpm.kinds.local import PathPin
from skillpm.scope.audit_settings import load_audit_settings, warn_of_gone_rules
from skillpm.scope.project import Project
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.scope.scope_policy import load_current_policies
from skillpm.scope.trusted_signers import find_trust_groups, read_trust_rules, require_key_files
from skillpm.skillmd.host_manifests import find_host_manifests
from skillpm.store import Proofs
from skillpm.trust.policy import Policies
from skillpm.vetting.acceptance import Acceptance, PresentSkill, read_allowed, remember_allowed
from skillpm.vetting.audited import is_blocking, to_problem
from skillpm.vetting.folder_files import FolderFile, list_files, read_files
from skillpm.vetting.incoming import CHECKS, describe_acceptance
from skillpm.vetting.problems import IncomingSkill, Problem, ValidationRequest
from skillpm.vetting.validation_options import ValidationOptions


def find_refused(
    project: Project,
    present: Sequence[PresentSkill],
    options: ValidationOptions,
    *,
    may_fetch: bool = True,
) -> dict[SkillName, tuple[Problem, ...]]:
    """Return the skills that agents must not get, each with its reasons; record the others as accepted.

    With `may_fetch`, claimed sources are proved where a rule asks for a place; otherwise they must have been.
    """
    try:
        require_key_files(project.scope, project.settings)
    except SignatureError as error:
        # Not an error of the command, which may be about to remove links.
        return {skill.name: (_unusable_key(skill.name, error),) for skill in present}
    return _judge(project, present, options, may_fetch=may_fetch)


def _unusable_key(name: SkillName, error: SignatureError) -> Problem:
    return Problem(
        skill=name, kind="signature", rule="signature", message=error.message, where=error.where, hint=error.hint
    )


def _judge(
    project: Project, present: Sequence[PresentSkill], options: ValidationOptions, *, may_fetch: bool
) -> dict[SkillName, tuple[Problem, ...]]:
    acceptance = Acceptance(project.scope, project.settings)
    is_elsewhere = {skill.name for skill in present if skill.is_exact or skill.file or skill.tree is not None}
    stats = {skill.name: "" if skill.name in is_elsewhere else acceptance.hash_stats(skill.folder) for skill in present}
    incoming = {
        skill.name: read_incoming(project, skill, is_known=acceptance.read(skill) is not None) for skill in present
    }
    unproved = _find_unproved(project, present, incoming, acceptance, may_fetch=may_fetch)
    audit = load_audit_settings(project.scope, project.settings)
    warn_of_gone_rules(audit, options.allow, project.reporter)
    refused = {}
    for skill in present:
        content = incoming[skill.name]
        allowed = {*options.allow, *read_allowed(project.settings.cache_dir, content.digest)}
        request = ValidationRequest(
            project=project,
            incoming=[content],
            options=options.replace(allow=tuple(sorted(allowed))),
            audit=audit,
        )
        problems = [problem for check in CHECKS for problem in check(request)]
        problems += [
            to_problem(request, content, finding, hint)
            for finding, hint in find_in_folder(skill, content)
            if is_blocking(request, content, finding)
        ]
        problems += [unproved[skill.name]] if skill.name in unproved else []
        prior = acceptance.read(skill) if skill.is_claimed else None
        blocking = []
        for problem in problems:
            is_old = prior is not None and _is_covered(skill, problem.where.rpartition(":")[0])
            if problem.blocks and not (is_old and _was_accepted(request, problem, prior)):
                blocking.append(problem)
            elif problem.blocks:
                project.reporter.warn(
                    f"{skill.name}: {problem.text}; agents keep it, since it was accepted on this machine before; "
                    f"`{project.command('update', skill.name)}` applies this rule"
                )
            elif prior is None:
                project.reporter.warn(f"{skill.name}: {problem.text}")
        if blocking:
            refused[skill.name] = tuple(blocking)
            continue
        if options.allow:
            remember_allowed(project.settings.cache_dir, content.digest, options.allow)
        if not skill.is_exact:
            acceptance.add_folder(skill, stats[skill.name])
        if skill.is_claimed and not any(problem.blocks for problem in problems):
            is_proved = _needs_proof(project, content.locked.pin) or bool(prior and prior.get("place"))
            acceptance.add_content(skill, describe_acceptance(request, content, is_place_proved=is_proved))
    return refused


def find_in_folder(skill: PresentSkill, content: IncomingSkill) -> Iterator[tuple[AuditFinding, str]]:
    """Yield findings in the folder of a skill that are not in its content, each with a hint.

    They are manifests of hosts (links, for example), and that not everything in the folder could be audited.
    """
    if content.excess:
        message = f"the folder has {content.excess}, so not all of it was audited"
        finding = AuditFinding(rule="not-audited", severity="high", path="", line=1, message=message)
        yield finding, "SKILLPM_MAX_FILES, SKILLPM_MAX_FILE and SKILLPM_MAX_SKILL raise the limits"
    if skill.file or skill.tree is not None:
        return
    known = {manifest.path for manifest in find_host_manifests(file.path for file in content.tree.files)}
    with suppress(OSError):
        for manifest in find_folder_manifests(skill.folder):
            path, message = sanitize(manifest.path), f"{manifest.summary}; with it, a host starts programs by itself"
            finding = AuditFinding(rule="host-manifest", severity="high", path=path, line=1, message=message)
            if manifest.path not in known:
                yield finding, "remove it from the folder"


def _was_accepted(request: ValidationRequest, problem: Problem, prior: Mapping[str, object] | None) -> bool:
    """Return whether a finding is one that only a newer version of skillpm has.

    Agents keep such a skill until it is updated: otherwise each new version would take skills away. A policy is obeyed
    at once, and so is a changed setting, or an exception that has ended.
    """
    is_own_rule = problem.kind == "audit" and "/" not in problem.rule  # not of a scanner
    if prior is None or not is_own_rule or problem.skill in request.options.updated:
        return False
    if problem.policy:
        return False
    excepted = prior.get("excepted")
    return prior.get("block") == [*request.audit.block] and isinstance(excepted, list) and problem.rule not in excepted


def _is_covered(skill: PresentSkill, path: str) -> bool:
    """Return whether the claimed digest covers a file: programs did not leave it, and no link leads to it."""
    parts = path.split("/")
    places = [os.path.join(skill.folder, *parts[:count]) for count in range(1, len(parts) + 1)]
    return not skill.has_more or (IGNORED_NAMES.isdisjoint(parts) and not any(map(os.path.islink, places)))


def read_incoming(project: Project, skill: PresentSkill, *, is_known: bool = False) -> IncomingSkill:
    """Return a skill that is there, as the checks of new content take it.

    Of a skill that `is_known`, since it was accepted before, warnings are not repeated.
    """
    real = os.path.realpath(skill.folder)
    files, excess = [FolderFile(os.path.basename(skill.file), skill.file)], ""
    if not skill.file and skill.tree is None:
        files, excess = list_files(real, project.layout.boundary, project.settings.limits)
    tree = read_files(files) if skill.tree is None else skill.tree
    folder = PathPin(path=real)
    if skill.claim is None:
        return IncomingSkill(
            name=skill.name, locked=LockedSkill(pin=folder, digest=tree.digest), tree=tree, excess=excess
        )
    if not skill.is_claimed:
        locked = skill.claim.replace(digest=skill.digest or tree.digest)
        return IncomingSkill(name=skill.name, locked=locked, tree=tree, place=folder, excess=excess)
    return IncomingSkill(
        name=skill.name,
        locked=skill.claim,
        tree=tree,
        excess=excess,
        old=skill.claim if is_known else None,
        read_before=lambda: tree,
    )


def _needs_proof(project: Project, pin: Pin) -> bool:
    """Return whether a rule here depends on where a skill comes from, so that its source has to be proved."""
    if pin.bundled_name or pin.place().address.startswith("path:"):
        return False  # a folder of this machine, or skillpm itself: nothing is claimed about a server
    policies = load_current_policies(project.scope, project.settings) or Policies()
    return policies.depends_on_place(pin) or bool(find_trust_groups(read_trust_rules(project.settings), pin))


def _find_unproved(
    project: Project,
    present: Sequence[PresentSkill],
    incoming: Mapping[SkillName, IncomingSkill],
    acceptance: Acceptance,
    *,
    may_fetch: bool,
) -> dict[SkillName, Problem]:
    """Return the skills whose claimed source a rule asks for, and that was not proved; with `may_fetch`, prove it."""
    policies, proofs = (
        load_current_policies(project.scope, project.settings) or Policies(),
        Proofs(project.settings.cache_dir),
    )
    locked = {}
    for skill in present:
        claim = incoming[skill.name].locked
        if not skill.is_claimed or not _needs_proof(project, claim.pin):
            continue
        prior = acceptance.read(skill)
        is_forbidden = any(check.problem for check in policies.check_place(claim.pin))  # which is a problem of its own
        if not (is_forbidden or proofs.has_place(skill.name, claim) or (prior is not None and prior.get("place"))):
            locked[skill.name] = claim
    hint = f"`{project.command('sync')}` proves it with a network connection"
    if may_fetch:
        reasons = _prove(project, locked, SkillpmError("there is no network (--offline)", hint=hint))
    else:
        reasons = dict.fromkeys(locked, SkillpmError("its source was not proved on this machine yet", hint=hint))
    return {name: _unproved(name, locked[name], reason) for name, reason in reasons.items()}


def _prove(
    project: Project, locked: Mapping[SkillName, LockedSkill], offline: SkillpmError
) -> dict[SkillName, SkillpmError]:
    """Fetch what proves the sources of skills; return why some are not proved, `offline` for what was not fetched."""
    if not locked:
        return {}
    fetchers = make_fetchers(project).with_locked(locked)
    try:
        missing = {each.partition(" (")[0] for each in fetchers.fetch(locked)}
    except SkillpmError as error:
        if len(locked) == 1:
            return dict.fromkeys(locked, error)
        # One failure must not decide about the others.
        each = (_prove(project, {name: skill}, offline) for name, skill in locked.items())
        return {name: reason for reasons in each for name, reason in reasons.items()}
    return {name: offline for name in locked if name in missing}


def _unproved(name: SkillName, locked: LockedSkill, reason: SkillpmError) -> Problem:
    what = f"this content ({shorten_digest(locked.digest or '')})"
    source = sanitize(locked.pin.summarize(), 200)
    return Problem(
        skill=name,
        kind="policy",
        rule="place",
        message=f"{what} is not proved to be from {source}: {reason.message}",
        hint=reason.hint,
        digest=locked.digest or "",
    )
