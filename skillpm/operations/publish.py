"""`pack` and `index build`: skills, judged strictly, as archives and as an index."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from shlex import join

from skillpm.cachedir import tag_cache_folder
from skillpm.core.file_tree import FileTree
from skillpm.core.names import parse_skill_name
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
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.temporary_cache import is_writable
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
    """Refuse to write an archive into the skill: the next one would hold it, and be other content of one version."""
    folder = os.path.normpath(os.path.join(working_directory, draft.label))
    if draft.tag or not os.path.isdir(folder) or not would_be_included(folder, target):
        return
    elsewhere = os.path.relpath(os.path.dirname(folder), working_directory)
    way_out = join(["skillpm", "pack", *([] if path == "." else [path]), "--out", elsewhere])
    raise RefusedError(
        f"{sanitize(os.path.relpath(target, working_directory))} would lie in the skill that it packs, and be a part of it from then on",
        hint=f"write it elsewhere: `{sanitize(way_out)}`, or let git ignore it; nothing was written",
    )


def check_index_output(context: Context, draft: ReleaseDraft, writer: IndexWriter) -> None:
    """Refuse an index within a skill that it publishes: the next build would find other content of that version."""
    folder = os.path.normpath(os.path.join(context.settings.working_directory, draft.label))
    if not draft.tag and os.path.isdir(folder) and would_be_included(folder, os.path.join(writer.folder, "index.json")):
        raise RefusedError(
            f"the index would lie in {sanitize(draft.label)}, a skill that it publishes, and be a part of it",
            hint="give --out a folder outside of it, or let git ignore that folder; nothing was written",
        )


def warn_index_among_sources(context: Context, source: str, writer: IndexWriter) -> None:
    """Warn, once, of an index whose files lie among the skills that it is built of."""
    whole = os.path.join(context.settings.working_directory, source)
    if writer.is_new and os.path.isdir(whole) and os.path.realpath(whole) == os.path.realpath(writer.folder):
        context.reporter.warn(
            f"the index lies among the skills that it is built of, in {sanitize(source)}; --out public keeps them apart"
        )


def warn_included_archives(context: Context, draft: ReleaseDraft, tree: FileTree) -> None:
    """Warn of what looks like an older archive of the skill, and is about to be a part of it."""
    for file in tree.files:
        name = os.path.basename(file.path)
        if (
            draft.is_current
            and name.endswith(PACK_SUFFIXES)
            and (name.startswith(draft.name) or name.endswith(".skill"))
        ):
            context.reporter.warn(
                f"{sanitize(draft.label)}: {sanitize(file.path)} looks like an older archive of this skill, and is packed with "
                "it; move it away, or let git ignore it"
            )


MAX_MESSAGES = 20  # a screen of them
MAX_INDIVIDUAL_WARNINGS = 3  # warnings of one kind; more go into one line


def pack_skill(context: Context, path: str, output: str = "") -> str:
    """Write the archive of one skill, strictly valid, and give its path; the same skill gives the same bytes.

    Raises `RefusedError` for a skill that is not valid, and for a place where the archive would be a part of it.
    """
    drafts: list[ReleaseDraft] = []
    read_drafts(context, path, drafts.append)
    if len(drafts) != 1:
        raise UsageError(
            f"{sanitize(path)} holds {len(drafts)} skills; `pack` takes one", hint="name the folder of one"
        )
    draft = drafts[0]
    bad = [
        *draft.errors,
        *([find_version_error(draft.version)] if draft.version and find_version_error(draft.version) else []),
    ]
    if bad or draft.tree is None:
        raise RefusedError(
            f"{sanitize(draft.label)} is not packed: {'; '.join(bad[:MAX_MESSAGES])}",
            hint="`skillpm validate` tells every finding; nothing was written",
        )
    file = f"{draft.name}-{draft.version}.tar.gz" if draft.version else f"{draft.name}.tar.gz"
    base = context.settings.working_directory
    place = os.path.join(base, output)
    target = os.path.join(place, file) if not output.endswith(PACK_SUFFIXES) else place
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
    """Publish the skills of these sources in an index, beside what it holds; all are judged first.

    `version` is that of skills which say none. What cannot be published is told; where it is current nothing is
    written, unless `skip_invalid` is set.
    """
    if version and find_version_error(version):
        raise UsageError(f"`{sanitize(version, 60)}` is no version", hint="write one like 1.2.0")
    if not is_encodable(name or writer.name):
        raise UsageError(
            f"the folder {sanitize(writer.name)} gives the index no name: it is no UTF-8", hint="give one with --name"
        )
    left: dict[str, ReleaseDraft] = {}
    unlike: dict[str, str] = {}
    taken = 0
    with open_batch(writer) as incoming:

        def take(draft: ReleaseDraft) -> None:
            nonlocal taken
            fault = find_version_error(draft.version)
            judged = draft.replace(errors=(*draft.errors, fault)) if fault and draft.tree is not None else draft
            check_index_output(context, draft, writer)
            if judged.errors or draft.tree is None:
                left[draft.label] = judged.replace(tree=None)
            else:
                taken += 1
                warn_included_archives(context, draft, draft.tree)
                incoming.releases.add(_new_release(draft, draft.tree))
                text = draft.tree.read(draft.tree.skill_file) or b""
                if draft.is_current and PLACEHOLDER.encode() in text:
                    context.reporter.warn(f"{sanitize(draft.label)}: its description is still that of `skillpm new`")
                if draft.is_current and (said := version_mismatch_message("the tag", draft.version, read_skill(text))):
                    unlike[draft.name] = f"{sanitize(draft.label)}: {said}"

        for source in sources:
            warn_index_among_sources(context, source, writer)
            read_drafts(context, source, take, version)
        _warn_version_mismatches(context, unlike)
        _report_unpublishable(context, [*left.values()], skip_invalid=skip_invalid)
        if left and not taken:
            raise RefusedError("nothing of this can be published", hint="the warnings say why; nothing was written")
        built = incoming.publish(name)
    return built.replace(
        left_out=tuple(
            UnpublishedSkill(name=draft.name, where=draft.label, reason="; ".join(draft.errors))
            for draft in left.values()
        )
    )


@contextmanager
def open_index_writer(
    context: Context, output: str, *, must_exist: bool = False, page: bool | None = None
) -> Iterator[IndexWriter]:
    """Open the index in a folder, to change it: with a page for people, without one, or as it is.

    It is locked meanwhile, from before it is read: who reads what another is about to write would undo it. The lock
    lies in the cache, since all that lies in the folder is published.
    """
    settings = context.settings
    folder = os.path.join(settings.working_directory, output)
    with _lock_index(context, folder):
        yield _make_index_writer(context, output, folder, must_exist=must_exist, page=page)


def _lock_index(context: Context, folder: str) -> AbstractContextManager[object]:
    """Hold the lock of the folder, whatever way leads to it; a cache that cannot be written is done without."""
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
    shelf = IndexWriter(
        folder, limits=settings.limits, warn=context.reporter.warn, fsync=settings.fsync, with_page=page
    )
    if must_exist and shelf.is_new:
        raise NotFoundError(
            f"{sanitize(output)} is no index: there is no index.json", hint="make one: skillpm index build"
        )
    return shelf


def _new_release(draft: ReleaseDraft, tree: FileTree) -> NewRelease:
    return NewRelease(
        name=parse_skill_name(draft.name, where=draft.label),
        version=draft.version,
        tree=tree,
        origin=draft.origin,
        published=draft.published,
        dependencies=draft.dependencies,
    )


def _warn_version_mismatches(context: Context, mismatches: Mapping[str, str]) -> None:
    """Warn of skills that are published as another version than they say: of a few one by one, of many in one line."""
    few = len(mismatches) <= MAX_INDIVIDUAL_WARNINGS
    for message in mismatches.values():
        (context.reporter.warn if few else context.reporter.log_verbose)(message)
    if not few:
        names = ", ".join(sanitize(name, 64) for name in sorted(mismatches)[:MAX_INDIVIDUAL_WARNINGS])
        context.reporter.warn(
            f"{len(mismatches)} skills say another version in SKILL.md than their tag does, and whoever installs them is "
            f"warned: {names} and {len(mismatches) - MAX_INDIVIDUAL_WARNINGS} more (-v names the versions)"
        )


def _report_unpublishable(context: Context, drafts: Sequence[ReleaseDraft], *, skip_invalid: bool) -> None:
    """Name what cannot be published, one line a skill. Raises `RefusedError` where somebody can still mend it."""
    stops = [draft for draft in drafts if draft.is_current and not skip_invalid]
    skills: dict[str, list[ReleaseDraft]] = {}
    for draft in sorted(stops or drafts, key=lambda draft: draft.age_rank):
        skills.setdefault(draft.name if draft.tag else draft.label, []).append(draft)
        context.reporter.log_verbose(f"{draft.label} is left out: {'; '.join(draft.errors)}")
    if len(stops) == 1:
        raise RefusedError(
            f"{sanitize(stops[0].label)} cannot be published: {'; '.join(stops[0].errors[:3])}",
            hint=_unpublishable_hint(stops),
        )
    for name in sorted(skills)[:MAX_MESSAGES]:
        first, *older = skills[name]
        what = f"{sanitize(name)} at {sanitize(first.tag)}" if first.tag else sanitize(name)
        more = f" and {len(older)} older tag{'s' if len(older) > 1 else ''}" if older else ""
        context.reporter.warn(
            f"{what}{more}: {first.errors[0]}" if stops else f"{what}{more} is left out: {first.errors[0]}"
        )
    if len(skills) > MAX_MESSAGES:
        rest = f"{len(skills) - MAX_MESSAGES} more skill{'s' if len(skills) > MAX_MESSAGES + 1 else ''}"
        context.reporter.warn(f"and {rest}, which --verbose names")
    if stops:
        few = ", ".join(sanitize(draft.label, 80) for draft in stops[:3])
        others = f" and {len(stops) - 3} more" if len(stops) > 3 else ""  # noqa: PLR2004  (the warnings name them)
        raise RefusedError(
            f"{len(stops)} skills cannot be published as they are: {few}{others}", hint=_unpublishable_hint(stops)
        )


def _unpublishable_hint(blockers: Sequence[ReleaseDraft]) -> str:
    needs_version = any(NO_VERSION in draft.errors for draft in blockers)
    version = "write `metadata: version:` into SKILL.md or give --default-version; " if needs_version else ""
    mend = (
        "`skillpm validate` tells every finding; " if any(draft.errors[0] != NO_VERSION for draft in blockers) else ""
    )
    return f"{version}{mend}--skip-invalid publishes the others; nothing was written"
