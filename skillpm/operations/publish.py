"""`pack` and `index build`: publish valid skills as archives and as an index."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from shlex import join

from skillpm.cachedir import tag_cache_folder
from skillpm.core.file_tree import FileTree
from skillpm.core.names import parse_skill_name
from skillpm.core.suggestions import list_some
from skillpm.core.text import is_encodable, sanitize
from skillpm.errors import NotFoundError, RefusedError, UsageError
from skillpm.fetchers.local import would_be_included
from skillpm.files import translate_os_errors, write_document
from skillpm.indexes.publish.additions import open_batch
from skillpm.indexes.publish.index_builder import IndexBuildResult, IndexWriter, UnpublishedSkill
from skillpm.indexes.publish.release_merge import NewRelease, version_mismatch_message
from skillpm.indexes.publish.tarball import pack_archive
from skillpm.locks import hold_lock
from skillpm.operations.cache.contents import PUBLISH_LOCK_DIR
from skillpm.operations.context.runtime import Context, is_writable
from skillpm.operations.publish_drafts import (
    ARCHIVE_SUFFIXES,
    NO_VERSION,
    ReleaseDraft,
    find_version_error,
    read_drafts,
)
from skillpm.skillmd.skill import read_skill
from skillpm.skillmd.validation import PLACEHOLDER

PACK_SUFFIXES = (".skill", *ARCHIVE_SUFFIXES)


def check_archive_target(draft: ReleaseDraft, path: str, target: str, working_directory: str) -> None:
    """Refuse to write an archive into its own skill: the next archive of the same version would contain it."""
    folder = os.path.normpath(os.path.join(working_directory, draft.label))
    if draft.tag or not os.path.isdir(folder) or not would_be_included(folder, target):
        return
    parent = os.path.relpath(os.path.dirname(folder), working_directory)
    command = join(["skillpm", "pack", *([] if path == "." else [path]), "--out", parent])
    archive = sanitize(os.path.relpath(target, working_directory))
    raise RefusedError(
        f"{archive} is inside the skill that it packs and would become part of it",
        hint=f"write it elsewhere (`{sanitize(command)}`) or add it to .gitignore; nothing was written",
    )


def check_index_output(context: Context, draft: ReleaseDraft, writer: IndexWriter) -> None:
    """Refuse to write an index into a skill that it publishes: the next build of the same version would differ."""
    folder = os.path.normpath(os.path.join(context.settings.working_directory, draft.label))
    if not draft.tag and os.path.isdir(folder) and would_be_included(folder, os.path.join(writer.folder, "index.json")):
        raise RefusedError(
            f"the index would be inside {sanitize(draft.label)}, a skill that it publishes, and become part of it",
            hint="pass --out with a folder outside of the skill, or add the folder to .gitignore; nothing was written",
        )


def warn_index_among_sources(context: Context, source: str, writer: IndexWriter) -> None:
    """Warn about a new index in the folder of the skills that it is built from."""
    path = os.path.join(context.settings.working_directory, source)
    if writer.is_new and os.path.isdir(path) and os.path.realpath(path) == os.path.realpath(writer.folder):
        context.reporter.warn(
            f"the index is written among the skills that it is built from, in {sanitize(source)}; "
            "use --out public to keep them apart"
        )


def warn_included_archives(context: Context, draft: ReleaseDraft, tree: FileTree) -> None:
    """Warn about a file that looks like an older archive of the skill and is about to be packed."""
    for file in tree.files:
        name = os.path.basename(file.path)
        if (
            draft.is_current
            and name.endswith(PACK_SUFFIXES)
            and (name.startswith(draft.name) or name.endswith(".skill"))
        ):
            context.reporter.warn(
                f"{sanitize(draft.label)}: {sanitize(file.path)} looks like an older archive of this skill and is "
                "packed with it; move it away or add it to .gitignore"
            )


def warn_uncommitted(context: Context, drafts: Sequence[ReleaseDraft], verb: str) -> None:
    """Warn about files that differ from the checked-out commit, skill by skill or, if there are many, in one line."""
    changed = [draft for draft in drafts if draft.changed_files]
    few = len(changed) <= MAX_INDIVIDUAL_WARNINGS
    for draft in changed:
        files = list_some(draft.changed_files, 5, 200)
        (context.reporter.warn if few else context.reporter.log_verbose)(
            f"{sanitize(draft.label)} has uncommitted changes, which are {verb}: {files}"
        )
    if not few:
        context.reporter.warn(
            f"{len(changed)} skills have uncommitted changes, which are {verb}: "
            f"{list_some([draft.label for draft in changed], MAX_INDIVIDUAL_WARNINGS, 200)} (-v lists the files)"
        )


MAX_MESSAGES = 20  # fits on a screen
MAX_INDIVIDUAL_WARNINGS = 3  # of one kind; more are summarized in one line


def pack_skill(context: Context, path: str, output: str = "") -> str:
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
    errors = [
        *draft.errors,
        *([find_version_error(draft.version)] if draft.version and find_version_error(draft.version) else []),
    ]
    if errors or draft.tree is None:
        raise RefusedError(
            f"{sanitize(draft.label)} is not valid: {'; '.join(errors[:MAX_MESSAGES])}",
            hint="run `skillpm validate` for all findings; nothing was written",
        )
    warn_uncommitted(context, drafts, "packed")
    file_name = f"{draft.name}-{draft.version}.tar.gz" if draft.version else f"{draft.name}.tar.gz"
    base = context.settings.working_directory
    path_out = os.path.join(base, output)
    target = path_out if output.endswith(PACK_SUFFIXES) else os.path.join(path_out, file_name)
    with translate_os_errors("write an archive", target):
        check_archive_target(draft, path, target, base)
        warn_included_archives(context, draft, draft.tree)
        write_document(target, pack_archive(draft.tree), fsync=context.settings.fsync)
    return os.path.relpath(target, base)


def build_index(
    context: Context,
    sources: Sequence[str],
    writer: IndexWriter,
    *,
    name: str = "",
    version: str = "",
    skip_invalid: bool = False,
) -> IndexBuildResult:
    """Add the skills of these sources to an index; all are validated before anything is written.

    `version` applies to skills without one of their own. Skills that cannot be published are reported; if one of them
    is current, nothing is written, unless `skip_invalid` is set.
    """
    if version and find_version_error(version):
        raise UsageError(f"`{sanitize(version, 60)}` is not a valid version", hint="write one like 1.2.0")
    if not is_encodable(name or writer.name):
        raise UsageError(
            f"the index cannot be named after its folder {sanitize(writer.name)}: it is not UTF-8",
            hint="pass a name with --name",
        )
    rejected: dict[str, ReleaseDraft] = {}
    mismatches: dict[str, str] = {}
    uncommitted: list[ReleaseDraft] = []
    accepted = 0
    with open_batch(writer) as incoming:

        def add_draft(draft: ReleaseDraft) -> None:
            nonlocal accepted
            version_error = find_version_error(draft.version)
            if version_error and draft.tree is not None:
                draft = draft.replace(errors=(*draft.errors, version_error))
            check_index_output(context, draft, writer)
            if draft.errors or draft.tree is None:
                rejected[draft.label] = draft.replace(tree=None)
            else:
                accepted += 1
                uncommitted.extend([draft.replace(tree=None)] if draft.changed_files else [])
                warn_included_archives(context, draft, draft.tree)
                incoming.releases.add(_new_release(draft, draft.tree))
                if draft.is_current:
                    text = draft.tree.read(draft.tree.skill_file) or b""
                    _warn_placeholder(context, draft, text)
                    if mismatch := version_mismatch_message("the tag", draft.version, read_skill(text)):
                        mismatches[draft.name] = f"{sanitize(draft.label)}: {mismatch}"

        for source in sources:
            warn_index_among_sources(context, source, writer)
            read_drafts(context, source, add_draft, version)
        warn_uncommitted(context, uncommitted, "published")
        _warn_version_mismatches(context, mismatches)
        _report_unpublishable(context, [*rejected.values()], skip_invalid=skip_invalid)
        if rejected and not accepted:
            raise RefusedError("no skill can be published", hint="see the warnings; nothing was written")
        built = incoming.publish(name)
    return built.replace(
        left_out=tuple(
            UnpublishedSkill(name=draft.name, where=draft.label, reason="; ".join(draft.errors))
            for draft in rejected.values()
        )
    )


@contextmanager
def open_index_writer(
    context: Context, output: str, *, must_exist: bool = False, page: bool | None = None
) -> Iterator[IndexWriter]:
    """Open the index in a folder for changes: with an HTML catalog, without one, or (`page=None`) as it is today.

    The index is locked before it is read, so that two builds cannot undo each other's changes. The lock file is in the
    cache, since everything in the folder is published.
    """
    settings = context.settings
    folder = os.path.join(settings.working_directory, output)
    with _lock_index(context, folder):
        yield _make_index_writer(context, output, folder, must_exist=must_exist, page=page)


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


def _make_index_writer(
    context: Context, output: str, folder: str, *, must_exist: bool, page: bool | None
) -> IndexWriter:
    settings = context.settings
    writer = IndexWriter(
        folder, limits=settings.limits, warn=context.reporter.warn, fsync=settings.fsync, with_page=page
    )
    if must_exist and writer.is_new:
        raise NotFoundError(
            f"{sanitize(output)} is not an index: it has no index.json", hint="create one with `skillpm index build`"
        )
    return writer


def _new_release(draft: ReleaseDraft, tree: FileTree) -> NewRelease:
    return NewRelease(
        name=parse_skill_name(draft.name, where=draft.label),
        version=draft.version,
        tree=tree,
        origin=draft.origin,
        published=draft.published,
        dependencies=draft.dependencies,
    )


def _warn_placeholder(context: Context, draft: ReleaseDraft, text: bytes) -> None:
    if PLACEHOLDER.encode() in text:
        context.reporter.warn(f"{sanitize(draft.label)}: the description is still the placeholder of `skillpm new`")


def _warn_version_mismatches(context: Context, mismatches: Mapping[str, str]) -> None:
    """Warn about tags that differ from the version in SKILL.md, skill by skill or, if there are many, in one line."""
    few = len(mismatches) <= MAX_INDIVIDUAL_WARNINGS
    for message in mismatches.values():
        (context.reporter.warn if few else context.reporter.log_verbose)(message)
    if not few:
        names = ", ".join(sanitize(name, 64) for name in sorted(mismatches)[:MAX_INDIVIDUAL_WARNINGS])
        context.reporter.warn(
            f"{len(mismatches)} skills have another version in SKILL.md than in their tag, of which users who install "
            f"them are warned: {names} and {len(mismatches) - MAX_INDIVIDUAL_WARNINGS} more (-v lists the versions)"
        )


def _report_unpublishable(context: Context, drafts: Sequence[ReleaseDraft], *, skip_invalid: bool) -> None:
    """Report what cannot be published, one line a skill. Raises `RefusedError` if a current version is among it."""
    blockers = [draft for draft in drafts if draft.is_current and not skip_invalid]
    skills: dict[str, list[ReleaseDraft]] = {}
    for draft in sorted(blockers or drafts, key=lambda draft: draft.age_rank):
        skills.setdefault(draft.name if draft.tag else draft.label, []).append(draft)
        context.reporter.log_verbose(f"{draft.label} is left out: {'; '.join(draft.errors)}")
    if len(blockers) == 1:
        raise RefusedError(
            f"{sanitize(blockers[0].label)} cannot be published: {'; '.join(blockers[0].errors[:3])}",
            hint=_unpublishable_hint(blockers),
        )
    for name in sorted(skills)[:MAX_MESSAGES]:
        newest, *older = skills[name]
        label = f"{sanitize(name)} at {sanitize(newest.tag)}" if newest.tag else sanitize(name)
        if older:
            label += f" and {len(older)} older tag{'s' if len(older) > 1 else ''}"
        verb = "" if blockers else (" are left out" if older else " is left out")
        context.reporter.warn(f"{label}{verb}: {newest.errors[0]}")
    if len(skills) > MAX_MESSAGES:
        rest = f"{len(skills) - MAX_MESSAGES} more skill{'s' if len(skills) > MAX_MESSAGES + 1 else ''}"
        context.reporter.warn(f"and {rest} (--verbose lists them)")
    if blockers:
        few = ", ".join(sanitize(draft.label, 80) for draft in blockers[:3])
        others = f" and {len(blockers) - 3} more" if len(blockers) > 3 else ""  # noqa: PLR2004
        raise RefusedError(
            f"{len(blockers)} skills cannot be published: {few}{others}", hint=_unpublishable_hint(blockers)
        )


def _unpublishable_hint(blockers: Sequence[ReleaseDraft]) -> str:
    needs_version = any(NO_VERSION in draft.errors for draft in blockers)
    has_findings = any(draft.errors[0] != NO_VERSION for draft in blockers)
    set_version = "add `metadata: version:` to SKILL.md or pass --default-version; " if needs_version else ""
    show_findings = "run `skillpm validate` for all findings; " if has_findings else ""
    return f"{set_version}{show_findings}pass --skip-invalid to publish the others; nothing was written"
