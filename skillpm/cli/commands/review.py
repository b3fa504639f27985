"""`skillpm review`."""

from typing import Any

import click

from skillpm.cli.options import Invocation, fetch_options
from skillpm.cli.reports.review_output import files_to_json, finding_to_json, print_file_diffs
from skillpm.core.digest import shorten_digest
from skillpm.core.shell import shell_word
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import UsageError
from skillpm.formats.trust.reviews import SAFE_TO_RUN, Review
from skillpm.installer.actions import version_label
from skillpm.operations.approve import Approval, approve, import_reviews
from skillpm.skillmd.capabilities import summarize_findings
from skillpm.vetting.review_state import (
    ReviewedSkill,
    ReviewSubject,
    find_subject,
    list_reviews,
)


@click.command(
    epilog="""\b
Examples:
  skillpm review                 list the locked skills that are not reviewed
  skillpm review pdf             show what is not reviewed: all, or a diff
  skillpm review pdf --approve   record that you have read it
  skillpm review pdf --approve --criteria safe-to-deploy --notes 'no network'
  skillpm review pdf --digest sha256:1a2b3c4d5e6f   content that was refused
  skillpm review --import https://acme.example/skills.reviews.json"""
)
@click.argument("name", default="", metavar="[NAME]", help="A locked skill [default: list all].")
@click.option("--approve", "approves", is_flag=True, help="Record that you have read the content.")
@click.option("--criteria", metavar="NAME", help=f"With --approve: what you attest [default: {SAFE_TO_RUN}].")
@click.option("--notes", metavar="TEXT", help="With --approve: what others should know.")
@click.option("--reviewer", metavar="WHO", help="With --approve: your name [default: that of your git configuration].")
@click.option("--digest", metavar="DIGEST", help="Review this content in the cache instead of the locked one.")
@click.option("--import", "url", metavar="URL", help="Import another organization's reviews, pinned as they are now.")
@click.option("--exit-code", "as_check", is_flag=True, help="Exit with 1 if a locked skill is not reviewed.")
@fetch_options
def command(call: Invocation, name: str, approves: bool, url: str | None, as_check: bool) -> int:  # noqa: FBT001
    """Show unreviewed skills, and record reviews in skills.reviews.json."""
    _check_options(call, name, approves=approves, url=url)
    if url is not None:
        _import(call, url)
        return 0
    if not name:
        return _print_list(call, as_check=as_check)
    subject = find_subject(call.project, name, call.flags["digest"] or "")
    if approves:
        _approve(call, subject)
    else:
        _print_subject(call, subject)
    return 0


def _check_options(call: Invocation, name: str, *, approves: bool, url: str | None) -> None:
    """Raise `UsageError` for conflicting options."""
    flags = call.flags
    for option in ("criteria", "notes", "reviewer"):
        if flags[option] is not None and not approves:
            raise UsageError(f"--{option} requires --approve")
    if (approves or flags["digest"]) and not name:
        raise UsageError(f"{'--approve' if approves else '--digest'} needs the name of a skill")
    if url is not None and name:
        raise UsageError("--import cannot be used with the name of a skill")


def _print_list(call: Invocation, *, as_check: bool) -> int:
    console, found = call.console, list_reviews(call.project)
    code = 1 if as_check and found.unreviewed else 0
    if console.as_json:
        skills = [_skill_to_json(skill) for skill in found.skills]
        console.print_json({"skills": skills, "trusted": found.is_project_trusted})
        return code
    for skill in found.unreviewed:
        changed = f"changed since {shorten_digest(skill.last_reviewed)} was reviewed" if skill.last_reviewed else ""
        link = "" if skill.locked.digest else "a live link, which has no content to review"
        console.print_line(
            f"{skill.name} {sanitize(version_label(skill.locked), 60)}: {changed or link or 'not reviewed'}"
        )
    reviewed = len(found.skills) - len(found.unreviewed)
    if not found.skills:
        console.print_message("no locked skill needs a review")
    elif found.unreviewed:
        count = f"{len(found.unreviewed)} of {pluralize(len(found.skills), 'locked skill')}"
        console.print_message(f"{count} not reviewed; `{call.scope.command('review', 'NAME')}` shows what to read")
    else:
        console.print_message(f"{'all ' if reviewed > 1 else ''}{pluralize(reviewed, 'locked skill')} reviewed")
    if reviewed and not found.is_project_trusted:
        console.print_message(_untrusted_note(call))
    return code


def _untrusted_note(call: Invocation) -> str:
    folder = call.scope.base
    return (
        "the reviews of this project do not apply on this machine; if you trust everyone who can change them, run "
        f"`skillpm config set audit.trust-project {shell_word(folder)}`"
    )


def _print_subject(call: Invocation, subject: ReviewSubject) -> None:
    console = call.console
    if console.as_json:
        console.print_json(
            {
                "name": subject.name,
                "digest": subject.digest,
                "base": subject.base,
                "reviews": [_review_to_json(review) for review in subject.reviews],
                "capabilities": [finding_to_json(finding) for finding in subject.capabilities],
                "files": files_to_json(subject.files),
                "note": subject.note,
            }
        )
        return
    compared = f"compared with {shorten_digest(subject.base)}" if subject.base else "all of it"
    compared += "" if subject.note or not subject.base else ", reviewed before"
    console.print_line(f"{subject.name} {shorten_digest(subject.digest)}: {compared}", bold=True)
    if subject.capabilities:
        words = "may now" if subject.base else "may"
        console.print_line(f"{words}: {summarize_findings(subject.capabilities)}", fg="yellow")
    print_file_diffs(console, subject.files)
    if subject.note:
        console.print_message(subject.note)
    for review in subject.reviews:
        console.print_message(f"reviewed by {review.reviewer} on {review.date} as {review.criteria}")
    digest = ("--digest", subject.digest[:19]) if call.flags["digest"] else ()
    command = call.scope.command("review", subject.name, *digest, "--approve")
    console.print_message(f"if you have read and approve it: `{command}`")


def _approve(call: Invocation, subject: ReviewSubject) -> None:
    flags = call.flags
    approval = Approval(
        criteria=SAFE_TO_RUN if flags["criteria"] is None else flags["criteria"],
        notes=flags["notes"] or "",
        reviewer=flags["reviewer"] or "",
    )
    recorded = approve(call.project, subject.name, subject.digest, approval)
    if call.console.as_json:
        call.console.print_json({"review": _review_to_json(recorded.review), "file": recorded.file})
        return
    review = recorded.review
    call.console.print_line(
        f"recorded that {review.reviewer} has reviewed {review.skill} {shorten_digest(review.digest)} "
        f"as {review.criteria}, in {recorded.file}"
    )


def _import(call: Invocation, url: str) -> None:
    result = import_reviews(call.project, url)
    if call.console.as_json:
        imported = {"url": result.imported.url, "digest": result.imported.digest, "reviews": len(result.reviews)}
        call.console.print_json({"import": imported, "file": result.file})
        return
    count = pluralize(len(result.reviews), "review")
    pinned = shorten_digest(result.imported.digest)
    call.console.print_line(f"imported {count} from {sanitize(url)}, pinned to {pinned}, in {result.file}")


def _skill_to_json(skill: ReviewedSkill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "version": skill.locked.version,
        "digest": skill.locked.digest or "",
        "reviews": [_review_to_json(review) for review in skill.reviews],
        "lastReviewed": skill.last_reviewed,
    }


def _review_to_json(review: Review) -> dict[str, str]:
    return {key: getattr(review, key) for key in ("skill", "digest", "criteria", "reviewer", "date", "notes")}
