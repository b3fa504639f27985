"""What a changed lockfile entry means: warnings, what the skill may do now, and the content that differs."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from skillpm.audit.model import SEVERITIES, is_at_least
from skillpm.compare.file_diff import FileDiff, LineBudget, compare_trees
from skillpm.core.digest import Digest, shorten_digest, shorten_distinct_digests
from skillpm.core.file_tree import FileTree
from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.suggestions import list_some
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import is_newer
from skillpm.fetchers.common.metadata import choose_version
from skillpm.formats.lockfile import LockedSkill
from skillpm.scope.project import Session
from skillpm.scope.verdicts import read_or_audit
from skillpm.skillmd.capabilities import ReviewFinding, compare_capabilities, find_capabilities, summarize_findings
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill

MAX_PLACES = 3  # of each rule
NO_SIGNER = "it no longer has a trusted signature"
OLD_UNKNOWN = " (all of it, since the old content is unknown)"


class SkillChange(Value):
    """A skill of which the locked state differs; `old` or `new` is None for one that is added or removed."""

    name: SkillName
    old: LockedSkill | None
    new: LockedSkill | None
    # Of a page that compares both commits; empty if there is none.
    compare_url: str = ""
    warnings: tuple[ReviewFinding, ...] = ()
    # What it may do that it could not before; of an added skill, or if the old content is unknown, all of it.
    capabilities: tuple[ReviewFinding, ...] = ()
    files: tuple[FileDiff, ...] = ()

    @property
    def kind(self) -> Literal["added", "removed", "changed"]:
        """How the skill changed."""
        if self.old is None:
            return "added"
        return "removed" if self.new is None else "changed"

    @property
    def capability_summary(self) -> str:
        """What it may do now as one line, empty for nothing."""
        if not self.capabilities:
            return ""
        is_all = self.old is not None and any(finding.code == "old-not-read" for finding in self.warnings)
        words = "may" if self.old is None or is_all else "may now"
        return f"{words}: {summarize_findings(self.capabilities)}{OLD_UNKNOWN if is_all else ''}"

    @property
    def is_same_content(self) -> bool:
        """Whether nothing but the source or the version changed."""
        return self.old is not None and self.new is not None and self.old.digest == self.new.digest


def compare_content(before: FileTree | None, after: FileTree | None) -> tuple[ReviewFinding, ...]:
    """Return what the new content may do that the old one could not; None for a skill that is not there."""
    old = None if before is None else find_capabilities(before)
    return () if after is None else compare_capabilities(old, find_capabilities(after))


def describe_change(
    session: Session,
    name: SkillName,
    states: tuple[LockedSkill | None, LockedSkill | None],
    trees: tuple[FileTree | None, FileTree | None],
    unread: tuple[str, str] = ("", ""),
    *,
    budget: LineBudget | None,
) -> SkillChange:
    """Describe a change from the old to the new state; `unread` are the reasons why a content is not there.

    The files that differ are included as far as `budget` reaches, and left out without one.
    """
    (old, new), (before, after) = states, trees
    warnings = [] if after is None else [*find_triggered_rules(session, before, after)]
    warnings += [] if old is None or new is None else [*find_suspicions(old, new)]
    for which, reason in zip(("old", "new"), unread, strict=True):
        if reason:
            summary = f"the {which} content was not read"
            warnings.append(ReviewFinding(code=f"{which}-not-read", summary=summary, values=(sanitize(reason, 400),)))
    if new is not None and after is not None:
        warnings += _check_version(name, new, after)
    return SkillChange(
        name=name,
        old=old,
        new=new,
        compare_url="" if old is None or new is None else new.pin.compare_url(old.pin),
        warnings=tuple(warnings),
        capabilities=compare_content(before, after),
        files=compare_trees(before, after, budget) if budget and new is not None and not any(unread) else (),
    )


def find_triggered_rules(session: Session, before: FileTree | None, after: FileTree) -> Iterator[ReviewFinding]:
    """Yield the audit's findings that the old content did not have, the gravest rules first; None for no content.

    Those of low severity are left out: they are for information, and most are among the capabilities.
    """
    old, new = (() if tree is None else read_or_audit(session, tree, Digest(tree.digest)) for tree in (before, after))
    known = Counter((each.rule, each.path, each.message) for each in old)
    places: dict[tuple[int, str], list[str]] = {}
    for finding in new:
        key = (finding.rule, finding.path, finding.message)
        known[key] -= 1
        if known[key] < 0 and is_at_least(finding.severity, "medium"):
            places.setdefault((SEVERITIES.index(finding.severity), finding.rule), []).append(
                f"{finding.path}:{finding.line}"
            )
    values = tuple(
        f"{rule} ({SEVERITIES[severity]}) in {list_some(found, MAX_PLACES)}"
        for (severity, rule), found in sorted(places.items())
    )
    if values:
        yield ReviewFinding(code="rule-triggered", summary="the audit finds", values=values)


def find_suspicions(old: LockedSkill, new: LockedSkill) -> Iterator[ReviewFinding]:
    """Yield what an honest update rarely does, such as other content behind the same version, tag or commit."""
    is_same, before, after = old.digest == new.digest, old.pin, new.pin
    if before.commit_id and after.commit_id and before.server_url() == after.server_url():
        commits = f"{short_commit(before.commit_id)} → {short_commit(after.commit_id)}"
        tag = after.tagged()[0]
        if before.commit_id != after.commit_id and tag and tag == before.tagged()[0]:
            values = (f"{sanitize(tag, 80)} {commits}",)
            yield ReviewFinding(code="tag-moved", summary="a tag was moved", values=values)
        if before == after and not is_same:
            summary = "the digest changed but the commit did not, which should be impossible with git"
            yield ReviewFinding(code="commit-changed", summary=summary, values=(short_commit(after.commit_id),))
    elif before.server_url() != after.server_url() or before.scheme != after.scheme:
        urls = (sanitize(pin.server_url() or pin.scheme, 200) for pin in (before, after))
        summary = "it comes from a different source"
        yield ReviewFinding(code="source-changed", summary=summary, values=(" → ".join(urls),))
    elif after.scheme == "url" and not is_same:
        summary = "the archive changed but its URL did not"
        yield ReviewFinding(code="archive-changed", summary=summary, values=(sanitize(after.server_url()),))
    if old.signer and old.signer != new.signer:
        if new.signer:
            signers = " → ".join(shorten_distinct_digests(old.signer, new.signer))
            yield ReviewFinding(code="signer-changed", summary="another key signed it", values=(signers,))
        else:
            yield ReviewFinding(code="signer-gone", summary=NO_SIGNER, values=(shorten_digest(old.signer),))
    if old.version == new.version != "" and not is_same:
        summary = "the content changed but the version did not"
        yield ReviewFinding(code="content-changed", summary=summary, values=(sanitize(new.version, 60),))
    if old.version and new.version and is_newer(old.version, new.version):
        versions = f"{sanitize(old.version, 60)} → {sanitize(new.version, 60)}"
        yield ReviewFinding(code="version-lowered", summary="the version is lower than before", values=(versions,))


def _check_version(name: SkillName, locked: LockedSkill, tree: FileTree) -> Iterator[ReviewFinding]:
    """Yield a warning for a locked version that is not that of the content: an install would be refused."""
    if not locked.version or locked.pin.index_url:
        return
    try:
        version = choose_version(read_skill(tree.read(tree.skill_file) or b""), locked.pin, name, lambda _: None)
    except NotLoadable:
        return
    if version != locked.version:
        values = (f"{sanitize(locked.version, 60)}, {sanitize(version, 60) or 'none'}",)
        summary = "the locked version is not that of the content, so that it cannot be installed"
        yield ReviewFinding(code="version-mismatch", summary=summary, values=values)
