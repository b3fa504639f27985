"""`index build`: add the valid skills of sources to an index."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from skillpm.core.exclude_newer import DATE, to_utc
from skillpm.core.file_tree import FileTree
from skillpm.core.names import parse_skill_name
from skillpm.core.text import is_encodable, sanitize
from skillpm.core.values import Value
from skillpm.errors import RefusedError, UsageError
from skillpm.publishing.drafts import (
    ReleaseDraft,
    find_version_error,
    format_timestamp,
    read_drafts,
    would_include,
)
from skillpm.publishing.index.additions import ReleaseBatch, open_batch
from skillpm.publishing.index.index_builder import IndexBuildResult, IndexWriter, UnpublishedSkill
from skillpm.publishing.index.release_merge import NewRelease, version_mismatch_message
from skillpm.publishing.index.verification import IndexProblem, verify_index
from skillpm.publishing.libraries import require_libraries
from skillpm.publishing.reports import (
    report_unpublishable,
    warn_placeholder,
    warn_uncommitted,
    warn_version_mismatches,
)
from skillpm.publishing.signing import sign_tree
from skillpm.scope.project import Session
from skillpm.scope.scope_fetchers import open_index
from skillpm.skillmd.skill import read_skill

if TYPE_CHECKING:
    from skillpm.trust.skill_signature import SigningKey


class BuildOptions(Value):
    """How to build an index."""

    # Of the index; empty to keep its name.
    name: str = ""
    # Of skills without one of their own: this one, or the day of their last commit.
    default_version: str = ""
    versions_from_commits: bool = False
    # The date or timestamp of all new versions, instead of that of their commits.
    published: str = ""
    skip_invalid: bool = False
    # Signs each skill; None to leave them as they are.
    key: "SigningKey | None" = None
    dry_run: bool = False


def build_index(
    session: Session, sources: Sequence[str], writer: IndexWriter, options: BuildOptions
) -> IndexBuildResult:
    """Add the skills of these sources to an index; all are validated before anything is written.

    Skills that cannot be published are reported; if one of them is current, nothing is written, unless `skip_invalid`
    is set.
    """
    if not is_encodable(options.name or writer.name):
        raise UsageError(
            f"the index cannot be named after its folder {sanitize(writer.name)}: it is not UTF-8",
            hint="pass a name with --name",
        )
    published = _parse_publication_date(options.published) if options.published else ""
    with open_batch(writer) as incoming:
        collector = _DraftCollector(session, writer, incoming, published, options.key)
        for source in sources:
            read_drafts(
                session,
                source,
                collector.add,
                options.default_version,
                versions_from_commits=options.versions_from_commits,
            )
        collector.reject_uninstallable()
        rejected = list(collector.rejected.values())
        warn_uncommitted(session, collector.accepted, "published")
        warn_version_mismatches(session, collector.mismatches)
        report_unpublishable(session, rejected, skip_invalid=options.skip_invalid)
        if rejected and not collector.accepted:
            raise RefusedError("no skill can be published", hint="see the warnings; nothing was written")
        conflicts = incoming.releases.drop_conflicts() if options.skip_invalid else []
        for _, message in conflicts:
            session.reporter.warn(f"skipped {message}")
        built = incoming.publish(options.name, dry_run=options.dry_run)
        for release in built.uninstallable:
            session.reporter.warn(f"{release.name} {release.version} cannot be installed: {release.reason}")
    left_out = [
        *((draft.name, draft.label, "; ".join(draft.errors)) for draft in rejected),
        *((release.name, release.origin, message) for release, message in conflicts),
    ]
    return built.replace(
        left_out=tuple(UnpublishedSkill(name=name, where=where, reason=reason) for name, where, reason in left_out)
    )


class _DraftCollector:
    """Adds drafts to a batch, and remembers what to report about them. Their files are not kept in memory."""

    def __init__(
        self,
        session: Session,
        writer: IndexWriter,
        incoming: ReleaseBatch,
        published: str,
        key: "SigningKey | None" = None,
    ) -> None:
        self.accepted: list[ReleaseDraft] = []
        self.rejected: dict[str, ReleaseDraft] = {}
        self.mismatches: dict[str, str] = {}
        self._session = session
        self._index_file = os.path.join(writer.folder, "index.json")
        self._incoming = incoming
        self._published = published
        self._key = key
        self._now = format_timestamp(int(session.settings.now))

    def add(self, draft: ReleaseDraft) -> None:
        """Add one draft. Raises `RefusedError` if the index would be part of the skill."""
        if would_include(self._session, draft, self._index_file):
            raise RefusedError(
                f"the index would be inside {sanitize(draft.label)}, a skill that it publishes, and become part of it",
                hint="pass --out with a folder outside of the skill, or add the folder to .gitignore; "
                "nothing was written",
            )
        version_error = find_version_error(draft)
        if version_error and draft.tree is not None:
            draft = draft.replace(errors=(*draft.errors, version_error))
        if draft.errors or draft.tree is None:
            self.rejected[draft.label] = draft.replace(tree=None)
            return
        self.accepted.append(draft.replace(tree=None))
        published = self._published or draft.published or self._now
        tree = sign_tree(self._session, draft, draft.tree, self._key)
        self._incoming.releases.add(_new_release(draft.replace(published=published), tree))
        if draft.is_current:
            text = draft.tree.read(draft.tree.skill_file) or b""
            warn_placeholder(self._session, draft)
            if mismatch := version_mismatch_message("the tag", draft.version, read_skill(text)):
                self.mismatches[draft.name] = f"{sanitize(draft.label)}: {mismatch}"

    def reject_uninstallable(self) -> None:
        """Reject the drafts whose dependencies no versions of the index satisfy, and those that require these."""
        drafts: dict[tuple[str, str], list[ReleaseDraft]] = {}
        for draft in self.accepted:
            drafts.setdefault((draft.name, draft.version), []).append(draft)
        new = {*self._incoming.releases.added}
        while found := [it for it in self._incoming.find_uninstallable() if f"{it.name} {it.version}" in new]:
            for release in found:
                self._incoming.discard(release.name, release.version)
                new.remove(f"{release.name} {release.version}")
                for draft in drafts[release.name, release.version]:
                    self.accepted.remove(draft)
                    self.rejected[draft.label] = draft.replace(errors=(release.reason,), is_installable=False)


def _parse_publication_date(text: str) -> str:
    """Return a date (its first second) or a timestamp in UTC, as documents have it. Raises `UsageError`."""
    if date := to_utc(f"{text}T00:00:00Z" if DATE.fullmatch(text) else text):
        return date
    raise UsageError(
        f"--published: `{sanitize(text, 60)}` is not a date or a timestamp",
        hint="e.g. 2026-01-31 or 2026-01-31T12:00:00Z",
    )


def _new_release(draft: ReleaseDraft, tree: FileTree) -> NewRelease:
    return NewRelease(
        name=parse_skill_name(draft.name, where=draft.label),
        version=draft.version,
        tree=tree,
        origin=draft.origin,
        published=draft.published,
        dependencies=draft.dependencies,
        is_from_history=draft.is_from_history,
    )


def check_index(session: Session, location: str) -> list[IndexProblem]:
    """Verify the index at a URL or in a folder, and return all problems."""
    require_libraries()
    return list(verify_index(open_index(session, location), session.settings.limits, session.reporter.warn))
