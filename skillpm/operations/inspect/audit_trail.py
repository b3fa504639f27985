"""What `verify --json` adds for auditors: where installed content comes from, who vouches for it, which rules apply."""

import os
from typing import Any

from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName
from skillpm.errors import OfflineError
from skillpm.files import read_text
from skillpm.formats.trust.reviews import find_reviews
from skillpm.installer.disk.layout import load_receipt
from skillpm.operations.policy.explain import list_policies
from skillpm.scope.project import Project, Session
from skillpm.scope.project_files import read_project_files
from skillpm.vetting.review_files import load_reviews


def describe_scope(project: Project) -> dict[str, Any]:
    """Return where a scope is, the SHA-256 of its lockfile, and the policies in effect; their age is in seconds."""
    text, now = read_text(project.scope.lockfile), project.settings.now
    policies = []
    for policy in list_policies(project.scope, project.settings):
        dated = {"issued": policy.issued, "expires": policy.expires, "fetched": policy.fetched}
        dated |= {"age": max(0, int(now - policy.fetched))} if policy.fetched else {}
        policies.append(
            {"kind": policy.kind, "origin": policy.origin, **{key: part for key, part in dated.items() if part != ""}}
            if policy.kind == "published"
            else {"kind": policy.kind, "origin": policy.origin}
        )
    return {
        "scope": project.scope.kind,
        "directory": os.path.abspath(project.layout.directory),
        "lockfile": {"path": project.scope.lockfile, "sha256": None if text is None else content_hash(text.encode())},
        "policies": policies,
    }


def describe_skills(project: Project) -> dict[SkillName, dict[str, Any]]:
    """Return of each installed or locked skill its digest, version, source, commit, signer and reviewers.

    Digest and source are those of the receipt, else those of the lockfile; the state says whether they agree. The
    reviewers are those whose reviews of this digest apply here.
    """
    locked, receipt = read_project_files(project).lockfile.skills, load_receipt(project.layout).skills
    # Imported reviews are read from the cache: this must not depend on their servers.
    offline = Session(settings=project.settings.replace(offline=True), reporter=project.reporter)
    try:
        reviews = load_reviews(Project(project.scope, offline)).trusted
    except OfflineError:
        project.reporter.warn("imported reviews are not cached, so the list of reviewers lacks them")
        own = load_reviews(Project(project.scope, offline), with_imports=False)
        reviews = own.trusted
    described = {}
    for name in sorted({*locked, *receipt}):
        entry, skill = receipt.get(name) or locked[name], locked.get(name)
        found = find_reviews(reviews, name, entry.digest or "")
        described[name] = {
            "version": entry.version,
            "digest": entry.digest,
            "source": entry.pin.to_json(),
            "commit": entry.pin.commit_id,
            "signer": "" if skill is None or skill.digest != entry.digest else skill.signer,
            "reviewers": sorted({review.reviewer for review in found}),
        }
    return described
