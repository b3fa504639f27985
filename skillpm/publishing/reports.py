"""Warnings and errors about skills that are published, or cannot be."""

from collections.abc import Mapping, Sequence

from skillpm.core.suggestions import list_some
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import RefusedError
from skillpm.publishing.drafts import (
    ReleaseDraft,
)
from skillpm.scope.project import Session
from skillpm.skillmd.validation import PLACEHOLDER

MAX_MESSAGES = 20  # fits on a screen
MAX_INDIVIDUAL_WARNINGS = 3  # of one kind; more are summarized in one line


def _warn_each(session: Session, messages: Sequence[str], summary: str) -> None:
    """Print warnings of one kind or, if there are many, a summary; `-v` prints all of them."""
    if len(messages) <= MAX_INDIVIDUAL_WARNINGS:
        for message in messages:
            session.reporter.warn(message)
        return
    for message in messages:
        session.reporter.log_verbose(message)
    session.reporter.warn(summary)


def warn_uncommitted(session: Session, drafts: Sequence[ReleaseDraft], verb: str) -> None:
    """Warn about files that differ from the checked-out commit."""
    changed = [draft for draft in drafts if draft.changed_files]
    listed = list_some([draft.label for draft in changed], MAX_INDIVIDUAL_WARNINGS, 200)
    _warn_each(
        session,
        [
            f"{sanitize(draft.label)} has uncommitted changes, which are {verb}: "
            f"{list_some(draft.changed_files, 5, 200)}"
            for draft in changed
        ],
        f"{len(changed)} skills have uncommitted changes, which are {verb}: {listed} (-v lists the files)",
    )


def warn_placeholder(session: Session, draft: ReleaseDraft) -> None:
    """Warn about a description that `skillpm new` wrote."""
    tree = draft.tree
    if draft.is_current and tree is not None and PLACEHOLDER.encode() in (tree.read(tree.skill_file) or b""):
        session.reporter.warn(f"{sanitize(draft.label)}: the description is still the placeholder of `skillpm new`")


def warn_version_mismatches(session: Session, mismatches: Mapping[str, str]) -> None:
    """Warn about tags that differ from the version in SKILL.md."""
    listed = list_some(sorted(mismatches), MAX_INDIVIDUAL_WARNINGS)
    _warn_each(
        session,
        [*mismatches.values()],
        f"{len(mismatches)} skills declare another version in SKILL.md than in their tag; users who install them are "
        f"warned: {listed} (-v lists the versions)",
    )


def report_unpublishable(session: Session, drafts: Sequence[ReleaseDraft], *, skip_invalid: bool) -> None:
    """Report what cannot be published, one line a skill. Raises `RefusedError` if a current version is among it."""
    blockers = [draft for draft in drafts if draft.is_current and not skip_invalid]
    for draft in sorted(blockers or drafts, key=lambda draft: draft.age_rank):
        session.reporter.log_verbose(f"skipped {draft.label}: {'; '.join(draft.errors)}")
    if len(blockers) == 1:
        raise RefusedError(
            f"{sanitize(blockers[0].label)} cannot be published: {'; '.join(blockers[0].errors[:3])}",
            hint=_unpublishable_hint(blockers),
        )
    _warn_unpublishable(session, blockers or drafts, "" if blockers else "skipped ")
    if blockers:
        listed = list_some([draft.label for draft in blockers], 3)
        raise RefusedError(f"{len(blockers)} skills cannot be published: {listed}", hint=_unpublishable_hint(blockers))


def _warn_unpublishable(session: Session, drafts: Sequence[ReleaseDraft], prefix: str) -> None:
    """Warn about each skill, with the first error of its newest tag."""
    skills: dict[str, list[ReleaseDraft]] = {}
    for draft in sorted(drafts, key=lambda draft: draft.age_rank):
        skills.setdefault(draft.name if draft.tag else draft.label, []).append(draft)
    for name in sorted(skills)[:MAX_MESSAGES]:
        newest, *older = skills[name]
        label = f"{sanitize(name)} at {sanitize(newest.tag)}" if newest.tag else sanitize(name)
        if older:
            label += f" and {pluralize(len(older), 'older tag')}"
        session.reporter.warn(f"{prefix}{label}: {newest.errors[0]}")
    if len(skills) > MAX_MESSAGES:
        session.reporter.warn(f"and {pluralize(len(skills) - MAX_MESSAGES, 'more skill')} (--verbose lists them)")


def _unpublishable_hint(blockers: Sequence[ReleaseDraft]) -> str:
    needs_version = any(draft.no_version in draft.errors for draft in blockers)
    has_findings = any(draft.errors[0] != draft.no_version and draft.is_installable for draft in blockers)
    is_unmet = any(not draft.is_installable for draft in blockers)
    set_version = "add `metadata: version:` to SKILL.md or pass --default-version; " if needs_version else ""
    show_findings = "run `skillpm validate` for all findings; " if has_findings else ""
    change_range = "publish what it requires, or change its `skill-dependencies`; " if is_unmet else ""
    return f"{set_version}{show_findings}{change_range}pass --skip-invalid to publish the others; nothing was written"
