"""`pack` and `index build`: skills, judged strictly, as archives and as an index."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from shlex import join

from skillpm.cachedir import mark
from skillpm.core.file_tree import Tree
from skillpm.core.names import skill_name
from skillpm.core.text import is_text, show
from skillpm.errors import NotFoundError, RefusedError, UsageError
from skillpm.fetchers.local import would_be_part
from skillpm.files import told, write_document
from skillpm.indexes.publish.additions import adding
from skillpm.indexes.publish.index_builder import Built, LeftOut, Shelf
from skillpm.indexes.publish.release_merge import Made, other_version
from skillpm.indexes.publish.tarball import pack
from skillpm.locks import locked
from skillpm.operations.cache.contents import PUBLISHING
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.temporary_cache import can_be_written
from skillpm.operations.publish_drafts import ARCHIVES, NO_VERSION, Draft, read_drafts, version_fault
from skillpm.skillmd.skill import read_skill
from skillpm.skillmd.validation import PLACEHOLDER

PACKED = (".skill", *ARCHIVES)


def check_place(draft: Draft, path: str, target: str, base: str) -> None:
    """Refuse to write an archive into the skill: the next one would hold it, and be other content of one version."""
    folder = os.path.normpath(os.path.join(base, draft.place))
    if draft.at or not os.path.isdir(folder) or not would_be_part(folder, target):
        return
    elsewhere = os.path.relpath(os.path.dirname(folder), base)
    way_out = join(["skillpm", "pack", *([] if path == "." else [path]), "--out", elsewhere])
    raise RefusedError(
        f"{show(os.path.relpath(target, base))} would lie in the skill that it packs, and be a part of it from then on",
        hint=f"write it elsewhere: `{show(way_out)}`, or let git ignore it; nothing was written",
    )


def check_out(tools: Tools, draft: Draft, shelf: Shelf) -> None:
    """Refuse an index within a skill that it publishes: the next build would find other content of that version."""
    folder = os.path.normpath(os.path.join(tools.settings.working_directory, draft.place))
    if not draft.at and os.path.isdir(folder) and would_be_part(folder, os.path.join(shelf.folder, "index.json")):
        raise RefusedError(
            f"the index would lie in {show(draft.place)}, a skill that it publishes, and be a part of it",
            hint="give --out a folder outside of it, or let git ignore that folder; nothing was written",
        )


def tell_among(tools: Tools, source: str, shelf: Shelf) -> None:
    """Warn, once, of an index whose files lie among the skills that it is built of."""
    whole = os.path.join(tools.settings.working_directory, source)
    if shelf.is_new and os.path.isdir(whole) and os.path.realpath(whole) == os.path.realpath(shelf.folder):
        tools.reporter.warning(
            f"the index lies among the skills that it is built of, in {show(source)}; --out public keeps them apart"
        )


def tell_archives(tools: Tools, draft: Draft, tree: Tree) -> None:
    """Warn of what looks like an older archive of the skill, and is about to be a part of it."""
    for file in tree.files:
        name = os.path.basename(file.path)
        if draft.is_current and name.endswith(PACKED) and (name.startswith(draft.name) or name.endswith(".skill")):
            tools.reporter.warning(
                f"{show(draft.place)}: {show(file.path)} looks like an older archive of this skill, and is packed with "
                "it; move it away, or let git ignore it"
            )


MOST_TOLD = 20  # a screen of them
FEW = 3  # warnings of one kind; more go into one line


def pack_skill(tools: Tools, path: str, out: str = "") -> str:
    """Write the archive of one skill, strictly valid, and give its path; the same skill gives the same bytes.

    Raises `RefusedError` for a skill that is not valid, and for a place where the archive would be a part of it.
    """
    drafts: list[Draft] = []
    read_drafts(tools, path, drafts.append)
    if len(drafts) != 1:
        raise UsageError(f"{show(path)} holds {len(drafts)} skills; `pack` takes one", hint="name the folder of one")
    draft = drafts[0]
    bad = [*draft.faults, *([version_fault(draft.version)] if draft.version and version_fault(draft.version) else [])]
    if bad or draft.tree is None:
        raise RefusedError(
            f"{show(draft.place)} is not packed: {'; '.join(bad[:MOST_TOLD])}",
            hint="`skillpm validate` tells every finding; nothing was written",
        )
    file = f"{draft.name}-{draft.version}.tar.gz" if draft.version else f"{draft.name}.tar.gz"
    base = tools.settings.working_directory
    place = os.path.join(base, out)
    target = os.path.join(place, file) if not out.endswith(ARCHIVES) else place
    with told("write an archive", target):
        check_place(draft, path, target, base)
        tell_archives(tools, draft, draft.tree)
        write_document(target, pack(draft.tree), fsync=tools.settings.fsync)
    return os.path.relpath(target, base)


def build_index(
    tools: Tools, sources: Sequence[str], shelf: Shelf, *, name: str = "", version: str = "", skip_invalid: bool = False
) -> Built:
    """Publish the skills of these sources in an index, beside what it holds; all are judged first.

    `version` is that of skills which say none. What cannot be published is told; where it is current nothing is
    written, unless `skip_invalid` is set.
    """
    if version and version_fault(version):
        raise UsageError(f"`{show(version, 60)}` is no version", hint="write one like 1.2.0")
    if not is_text(name or shelf.name):
        raise UsageError(
            f"the folder {show(shelf.name)} gives the index no name: it is no UTF-8", hint="give one with --name"
        )
    left: dict[str, Draft] = {}
    unlike: dict[str, str] = {}
    taken = 0
    with adding(shelf) as incoming:

        def take(draft: Draft) -> None:
            nonlocal taken
            fault = version_fault(draft.version)
            judged = draft.but(faults=(*draft.faults, fault)) if fault and draft.tree is not None else draft
            check_out(tools, draft, shelf)
            if judged.faults or draft.tree is None:
                left[draft.place] = judged.but(tree=None)
            else:
                taken += 1
                tell_archives(tools, draft, draft.tree)
                incoming.edition.add(_made(draft, draft.tree))
                text = draft.tree.read(draft.tree.skill_file) or b""
                if draft.is_current and PLACEHOLDER.encode() in text:
                    tools.reporter.warning(f"{show(draft.place)}: its description is still that of `skillpm new`")
                if draft.is_current and (said := other_version("the tag", draft.version, read_skill(text))):
                    unlike[draft.name] = f"{show(draft.place)}: {said}"

        for source in sources:
            tell_among(tools, source, shelf)
            read_drafts(tools, source, take, version)
        _tell_unlike(tools, unlike)
        _tell(tools, [*left.values()], skip_invalid=skip_invalid)
        if left and not taken:
            raise RefusedError("nothing of this can be published", hint="the warnings say why; nothing was written")
        built = incoming.publish(name)
    return built.but(
        left_out=tuple(
            LeftOut(name=draft.name, where=draft.place, why="; ".join(draft.faults)) for draft in left.values()
        )
    )


@contextmanager
def shelf_at(tools: Tools, out: str, *, must_exist: bool = False, page: bool | None = None) -> Iterator[Shelf]:
    """Open the index in a folder, to change it: with a page for people, without one, or as it is.

    It is locked meanwhile, from before it is read: who reads what another is about to write would undo it. The lock
    lies in the cache, since all that lies in the folder is published.
    """
    settings = tools.settings
    folder = os.path.join(settings.working_directory, out)
    with _locked(tools, folder):
        yield _shelf(tools, out, folder, must_exist=must_exist, page=page)


def _locked(tools: Tools, folder: str) -> AbstractContextManager[object]:
    """Hold the lock of the folder, whatever way leads to it; a cache that cannot be written is done without."""
    settings = tools.settings
    if not can_be_written(settings.cache_dir):
        return nullcontext()
    with told("mark the cache", settings.cache_dir):
        mark(settings.cache_dir)
    key = sha256(os.path.realpath(folder).encode(errors="surrogateescape")).hexdigest()
    lock = os.path.join(settings.cache_dir, PUBLISHING, f"{key[:32]}.lock")
    return locked(lock, settings.lock_timeout, f"the index in {show(folder)}", tools.reporter.warning)


def _shelf(tools: Tools, out: str, folder: str, *, must_exist: bool, page: bool | None) -> Shelf:
    settings = tools.settings
    shelf = Shelf(folder, limits=settings.limits, warn=tools.reporter.warning, fsync=settings.fsync, page=page)
    if must_exist and shelf.is_new:
        raise NotFoundError(f"{show(out)} is no index: there is no index.json", hint="make one: skillpm index build")
    return shelf


def _made(draft: Draft, tree: Tree) -> Made:
    return Made(
        name=skill_name(draft.name, where=draft.place),
        version=draft.version,
        tree=tree,
        came_from=draft.came_from,
        published=draft.published,
        dependencies=draft.dependencies,
    )


def _tell_unlike(tools: Tools, unlike: Mapping[str, str]) -> None:
    """Warn of skills that are published as another version than they say: of a few one by one, of many in one line."""
    few = len(unlike) <= FEW
    for message in unlike.values():
        (tools.reporter.warning if few else tools.reporter.note)(message)
    if not few:
        names = ", ".join(show(name, 64) for name in sorted(unlike)[:FEW])
        tools.reporter.warning(
            f"{len(unlike)} skills say another version in SKILL.md than their tag does, and whoever installs them is "
            f"warned: {names} and {len(unlike) - FEW} more (-v names the versions)"
        )


def _tell(tools: Tools, left: Sequence[Draft], *, skip_invalid: bool) -> None:
    """Name what cannot be published, one line a skill. Raises `RefusedError` where somebody can still mend it."""
    stops = [draft for draft in left if draft.is_current and not skip_invalid]
    skills: dict[str, list[Draft]] = {}
    for draft in sorted(stops or left, key=lambda draft: draft.rank):
        skills.setdefault(draft.name if draft.at else draft.place, []).append(draft)
        tools.reporter.note(f"{draft.place} is left out: {'; '.join(draft.faults)}")
    if len(stops) == 1:
        raise RefusedError(
            f"{show(stops[0].place)} cannot be published: {'; '.join(stops[0].faults[:3])}", hint=_way_out(stops)
        )
    for name in sorted(skills)[:MOST_TOLD]:
        first, *older = skills[name]
        what = f"{show(name)} at {show(first.at)}" if first.at else show(name)
        more = f" and {len(older)} older tag{'s' if len(older) > 1 else ''}" if older else ""
        tools.reporter.warning(
            f"{what}{more}: {first.faults[0]}" if stops else f"{what}{more} is left out: {first.faults[0]}"
        )
    if len(skills) > MOST_TOLD:
        rest = f"{len(skills) - MOST_TOLD} more skill{'s' if len(skills) > MOST_TOLD + 1 else ''}"
        tools.reporter.warning(f"and {rest}, which --verbose names")
    if stops:
        few = ", ".join(show(draft.place, 80) for draft in stops[:3])
        others = f" and {len(stops) - 3} more" if len(stops) > 3 else ""  # noqa: PLR2004  (the warnings name them)
        raise RefusedError(f"{len(stops)} skills cannot be published as they are: {few}{others}", hint=_way_out(stops))


def _way_out(stops: Sequence[Draft]) -> str:
    needs_version = any(NO_VERSION in draft.faults for draft in stops)
    version = "write `metadata: version:` into SKILL.md or give --default-version; " if needs_version else ""
    mend = "`skillpm validate` tells every finding; " if any(draft.faults[0] != NO_VERSION for draft in stops) else ""
    return f"{version}{mend}--skip-invalid publishes the others; nothing was written"
