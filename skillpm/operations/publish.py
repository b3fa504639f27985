"""`pack` and `index build`: publish valid skills as archives and as an index."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from shlex import join
from typing import TYPE_CHECKING

from skillpm.cachedir import tag_cache_folder
from skillpm.core.exclude_newer import DATE, to_utc
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName, is_skill_name, parse_skill_name
from skillpm.core.suggestions import list_some
from skillpm.core.text import is_encodable, pluralize, sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, RefusedError, UsageError
from skillpm.fetchers.local import would_be_included
from skillpm.files import translate_os_errors, write_document
from skillpm.indexes.publish.additions import ReleaseBatch, open_batch
from skillpm.indexes.publish.index_builder import IndexBuildResult, IndexWriter, UnpublishedSkill
from skillpm.indexes.publish.published_copy import copy_published_index
from skillpm.indexes.publish.release_merge import NewRelease, version_mismatch_message
from skillpm.indexes.publish.tarball import pack_archive
from skillpm.locks import hold_lock
from skillpm.operations.cache.contents import PUBLISH_LOCK_DIR
from skillpm.operations.context.runtime import Context, is_writable
from skillpm.operations.context.scope_fetchers import open_index
from skillpm.operations.publish_drafts import (
    ReleaseDraft,
    find_version_error,
    format_timestamp,
    read_drafts,
)
from skillpm.operations.trust.signing import sign_tree
from skillpm.operations.validate import find_skill_folders
from skillpm.requirements.specifier import ARCHIVE_SUFFIXES
from skillpm.skillmd.skill import read_skill
from skillpm.skillmd.validation import PLACEHOLDER

if TYPE_CHECKING:
    from skillpm.trust.skill_signature import SigningKey

PACK_SUFFIXES = (".skill", *ARCHIVE_SUFFIXES)
MAX_MESSAGES = 20  # fits on a screen
MAX_INDIVIDUAL_WARNINGS = 3  # of one kind; more are summarized in one line


def pack_skill(context: Context, path: str, output: str = "", key: "SigningKey | None" = None) -> str:
    """Write the archive of one valid skill and return its path; the same skill always yields the same bytes.

    Raises `RefusedError` for an invalid skill, and for an archive that would be inside the skill.
    """
    drafts: list[ReleaseDraft] = []
    read_drafts(context, path, drafts.append)
    if len(drafts) != 1:
        raise UsageError(
            f"{sanitize(path)} contains {len(drafts)} skills; `pack` takes one", hint="name the folder of one skill"
        )
    draft = drafts[0]
    version_error = find_version_error(draft) if draft.version else ""
    errors = [*draft.errors, *([version_error] if version_error else [])]
    if errors or draft.tree is None:
        raise RefusedError(
            f"{sanitize(draft.label)} is not valid: {'; '.join(errors[:MAX_MESSAGES])}",
            hint="run `skillpm validate` for all findings; nothing was written",
        )
    warn_uncommitted(context, drafts, "packed")
    tree = sign_tree(context, draft, draft.tree, key)
    file_name = f"{draft.name}-{draft.version}.tar.gz" if draft.version else f"{draft.name}.tar.gz"
    base = context.settings.working_directory
    path_out = os.path.join(base, output)
    target = path_out if output.endswith(PACK_SUFFIXES) else os.path.join(path_out, file_name)
    with translate_os_errors("write an archive", target):
        if _would_be_included(context, draft, target):
            raise _archive_in_skill_error(path, draft, target, base)
        write_document(target, pack_archive(tree), fsync=context.settings.fsync)
    return os.path.relpath(target, base)


def _would_be_included(context: Context, draft: ReleaseDraft, target: str) -> bool:
    """Return whether a file is inside a skill that it contains: the next build of the same version would differ."""
    folder = os.path.normpath(os.path.join(context.settings.working_directory, draft.label))
    return not draft.tag and os.path.isdir(folder) and would_be_included(folder, target)


def _archive_in_skill_error(path: str, draft: ReleaseDraft, target: str, working_directory: str) -> RefusedError:
    parent = os.path.normpath(os.path.join(draft.label, os.pardir))
    command = join(["skillpm", "pack", *([] if path == "." else [path]), "--out", parent])
    archive = sanitize(os.path.relpath(target, working_directory))
    return RefusedError(
        f"{archive} is inside the skill that it packs and would become part of it",
        hint=f"write it elsewhere (`{sanitize(command)}`) or add it to .gitignore; nothing was written",
    )


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


def build_index(
    context: Context, sources: Sequence[str], writer: IndexWriter, options: BuildOptions
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
        collector = _DraftCollector(context, writer, incoming, published, options.key)
        for source in sources:
            read_drafts(
                context,
                source,
                collector.add,
                options.default_version,
                versions_from_commits=options.versions_from_commits,
            )
        collector.reject_uninstallable()
        rejected = list(collector.rejected.values())
        warn_uncommitted(context, collector.accepted, "published")
        _warn_version_mismatches(context, collector.mismatches)
        _report_unpublishable(context, rejected, skip_invalid=options.skip_invalid)
        if rejected and not collector.accepted:
            raise RefusedError("no skill can be published", hint="see the warnings; nothing was written")
        conflicts = incoming.releases.drop_conflicts() if options.skip_invalid else []
        for _, message in conflicts:
            context.reporter.warn(f"skipped {message}")
        built = incoming.publish(options.name)
        for release in built.uninstallable:
            context.reporter.warn(f"{release.name} {release.version} cannot be installed: {release.reason}")
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
        context: Context,
        writer: IndexWriter,
        incoming: ReleaseBatch,
        published: str,
        key: "SigningKey | None" = None,
    ) -> None:
        self.accepted: list[ReleaseDraft] = []
        self.rejected: dict[str, ReleaseDraft] = {}
        self.mismatches: dict[str, str] = {}
        self._context = context
        self._index_file = os.path.join(writer.folder, "index.json")
        self._incoming = incoming
        self._published = published
        self._key = key
        self._now = format_timestamp(int(context.settings.now))

    def add(self, draft: ReleaseDraft) -> None:
        """Add one draft. Raises `RefusedError` if the index would be part of the skill."""
        if _would_be_included(self._context, draft, self._index_file):
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
        tree = sign_tree(self._context, draft, draft.tree, self._key)
        self._incoming.releases.add(_new_release(draft.replace(published=published), tree))
        if draft.is_current:
            text = draft.tree.read(draft.tree.skill_file) or b""
            if PLACEHOLDER.encode() in text:
                self._context.reporter.warn(
                    f"{sanitize(draft.label)}: the description is still the placeholder of `skillpm new`"
                )
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


@contextmanager
def open_index_writer(
    context: Context,
    output: str,
    *,
    must_exist: bool = False,
    page: bool | None = None,
    onto: str = "",
    sources: Sequence[str] = (),
) -> Iterator[IndexWriter]:
    """Open the index in a folder for changes: with an HTML catalog, without one, or (`page=None`) as it is today.

    With `onto`, the index that is published there is copied into the folder first; `sources` are what will be added.

    The index is locked before it is read, so that two builds cannot undo each other's changes. The lock file is in the
    cache, since everything in the folder is published.
    """
    settings, warn = context.settings, context.reporter.warn
    folder = os.path.join(settings.working_directory, output)
    with _lock_index(context, folder):
        if onto:
            _copy_published(context, onto, folder, sources)
        writer = IndexWriter(folder, limits=settings.limits, warn=warn, fsync=settings.fsync, with_page=page)
        if must_exist and writer.is_new:
            raise NotFoundError(
                f"{sanitize(output)} is not an index: it has no index.json",
                hint="create one with `skillpm index build`",
            )
        yield writer


def _copy_published(context: Context, location: str, folder: str, sources: Sequence[str]) -> None:
    settings = context.settings
    paths = [os.path.join(settings.working_directory, source) for source in sources]
    below = {os.path.basename(os.path.realpath(inside)) for path in paths for inside in find_skill_folders(path)}
    also = {SkillName(name) for name in below if is_skill_name(name)}
    copied = copy_published_index(open_index(context, location), folder, settings.limits, also, fsync=settings.fsync)
    context.reporter.log_verbose(f"copied {pluralize(copied.version_count, 'version')} from {sanitize(location)}")


def _lock_index(context: Context, folder: str) -> AbstractContextManager[object]:
    """Lock the folder by its real path; if the cache is not writable, proceed without a lock."""
    settings = context.settings
    if not is_writable(settings.cache_dir):
        return nullcontext()
    with translate_os_errors("mark the cache", settings.cache_dir):
        tag_cache_folder(settings.cache_dir)
    key = sha256(os.path.realpath(folder).encode(errors="surrogateescape")).hexdigest()
    lock = os.path.join(settings.cache_dir, PUBLISH_LOCK_DIR, f"{key[:32]}.lock")
    return hold_lock(lock, settings.lock_timeout, f"the index in {sanitize(folder)}", context.reporter.warn)


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


def _warn_each(context: Context, messages: Sequence[str], summary: str) -> None:
    """Print warnings of one kind or, if there are many, a summary; `-v` prints all of them."""
    if len(messages) <= MAX_INDIVIDUAL_WARNINGS:
        for message in messages:
            context.reporter.warn(message)
        return
    for message in messages:
        context.reporter.log_verbose(message)
    context.reporter.warn(summary)


def warn_uncommitted(context: Context, drafts: Sequence[ReleaseDraft], verb: str) -> None:
    """Warn about files that differ from the checked-out commit."""
    changed = [draft for draft in drafts if draft.changed_files]
    listed = list_some([draft.label for draft in changed], MAX_INDIVIDUAL_WARNINGS, 200)
    _warn_each(
        context,
        [
            f"{sanitize(draft.label)} has uncommitted changes, which are {verb}: "
            f"{list_some(draft.changed_files, 5, 200)}"
            for draft in changed
        ],
        f"{len(changed)} skills have uncommitted changes, which are {verb}: {listed} (-v lists the files)",
    )


def _warn_version_mismatches(context: Context, mismatches: Mapping[str, str]) -> None:
    """Warn about tags that differ from the version in SKILL.md."""
    listed = list_some(sorted(mismatches), MAX_INDIVIDUAL_WARNINGS)
    _warn_each(
        context,
        [*mismatches.values()],
        f"{len(mismatches)} skills declare another version in SKILL.md than in their tag; users who install them are "
        f"warned: {listed} (-v lists the versions)",
    )


def _report_unpublishable(context: Context, drafts: Sequence[ReleaseDraft], *, skip_invalid: bool) -> None:
    """Report what cannot be published, one line a skill. Raises `RefusedError` if a current version is among it."""
    blockers = [draft for draft in drafts if draft.is_current and not skip_invalid]
    for draft in sorted(blockers or drafts, key=lambda draft: draft.age_rank):
        context.reporter.log_verbose(f"skipped {draft.label}: {'; '.join(draft.errors)}")
    if len(blockers) == 1:
        raise RefusedError(
            f"{sanitize(blockers[0].label)} cannot be published: {'; '.join(blockers[0].errors[:3])}",
            hint=_unpublishable_hint(blockers),
        )
    _warn_unpublishable(context, blockers or drafts, "" if blockers else "skipped ")
    if blockers:
        listed = list_some([draft.label for draft in blockers], 3)
        raise RefusedError(f"{len(blockers)} skills cannot be published: {listed}", hint=_unpublishable_hint(blockers))


def _warn_unpublishable(context: Context, drafts: Sequence[ReleaseDraft], prefix: str) -> None:
    """Warn about each skill, with the first error of its newest tag."""
    skills: dict[str, list[ReleaseDraft]] = {}
    for draft in sorted(drafts, key=lambda draft: draft.age_rank):
        skills.setdefault(draft.name if draft.tag else draft.label, []).append(draft)
    for name in sorted(skills)[:MAX_MESSAGES]:
        newest, *older = skills[name]
        label = f"{sanitize(name)} at {sanitize(newest.tag)}" if newest.tag else sanitize(name)
        if older:
            label += f" and {pluralize(len(older), 'older tag')}"
        context.reporter.warn(f"{prefix}{label}: {newest.errors[0]}")
    if len(skills) > MAX_MESSAGES:
        context.reporter.warn(f"and {pluralize(len(skills) - MAX_MESSAGES, 'more skill')} (--verbose lists them)")


def _unpublishable_hint(blockers: Sequence[ReleaseDraft]) -> str:
    needs_version = any(draft.no_version in draft.errors for draft in blockers)
    has_findings = any(draft.errors[0] != draft.no_version and draft.is_installable for draft in blockers)
    is_unmet = any(not draft.is_installable for draft in blockers)
    set_version = "add `metadata: version:` to SKILL.md or pass --default-version; " if needs_version else ""
    show_findings = "run `skillpm validate` for all findings; " if has_findings else ""
    change_range = "publish what it requires, or change its `skill-dependencies`; " if is_unmet else ""
    return f"{set_version}{show_findings}{change_range}pass --skip-invalid to publish the others; nothing was written"
