"""The one road of every changing command: edit the manifest, re-lock, and make the directory follow."""

import os
from collections.abc import Callable, Collection, Mapping

from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.fetchers.base import variant_of
from skillpm.installer.actions import Action, Wishes
from skillpm.installer.leftovers import has_leftovers
from skillpm.operations.context.missing_manifest import refuse_lost, refuse_lost_project
from skillpm.operations.context.project_files import Paperwork, again_where_moved, read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.dry_run import foretell
from skillpm.operations.install.index_policy import (
    naming,
    refuse_unnamed,
    told_as_missing,
    told_as_named,
    told_as_unnamed,
    unshared,
)
from skillpm.operations.install.lock_resolution import Strictness, make_fetchers, outdated, relocked
from skillpm.operations.install.next_steps import next_step
from skillpm.operations.install.plan import Outlook, outlook

UNFINISHED = "an interrupted change is not finished yet; this is how things are without it"


class Changed(Value):
    """What an operation did, or with `--dry-run` would do; `notes` are what else there is to know of it,
    `linked` and `unlinked` places in agents' folders, `written` the documents that are new.
    """

    changed: bool
    scope: str
    directory: str
    actions: tuple[Action, ...] = ()
    warnings: tuple[str, ...] = ()
    dry_run: bool = False
    next_step: str = ""
    notes: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


class Options(Value):
    """How a changing command goes about it. `is_naming`: the manifest is to name the indexes that skills come from."""

    strictness: Strictness = Strictness()
    wishes: Wishes = Wishes()
    dry_run: bool = False
    is_naming: bool = False


Edit = Callable[[Paperwork], Paperwork]


def change(
    scope: Scope,
    tools: Tools,
    options: Options,
    edit: Edit,
    upgrade: Callable[[Paperwork], Collection[SkillName]] = lambda _: (),
    read: Callable[[Scope, Tools], Paperwork] = read_paperwork,
) -> Changed:
    """Edit the manifest, re-lock, and make the directory follow: the one road of every changing command.

    It is gone twice: once without the lock, to find that there is nothing to do, and then under it with the
    documents read again, since another process may have changed them. An editor knows no lock: where a document was
    saved while skills were fetched, it is read once more, and what was fetched is at hand by then.
    """
    refuse_lost_project(scope, tools.settings)
    if not options.dry_run and has_leftovers(scope.layout):
        from skillpm.operations.context.scope_lock import clear_up  # noqa: PLC0415  (after somebody was killed)

        clear_up(scope, tools)

    def edited() -> Paperwork:
        return edit(refuse_lost(scope, read(scope, tools)))

    if not os.path.exists(scope.layout.journal):
        papers = edited()
        settled = not outdated(papers) and not upgrade(papers)
        if settled or options.strictness.locked or options.strictness.frozen:
            ahead = _ahead(scope, tools, options, papers, ())
            if ahead.is_nothing or options.dry_run:
                return _changed(scope, tools, options, ahead)
    elif options.dry_run:
        tools.reporter.warning(UNFINISHED)
    if options.dry_run:
        papers = edited()
        return _changed(scope, tools, options, _ahead(scope, tools, options, papers, upgrade(papers)))
    ahead = _carried_out(scope, tools, options, edited, upgrade)
    return _changed(scope, tools, options, ahead)


def _carried_out(
    scope: Scope,
    tools: Tools,
    options: Options,
    edited: Callable[[], Paperwork],
    upgrade: Callable[[Paperwork], Collection[SkillName]],
) -> Outlook:
    """Plan and do, under the lock."""
    # Locks and the machinery of a transaction cost 25 ms: a command with nothing to do never comes here.
    from skillpm.operations.context.scope_lock import exclusive, tidy_up  # noqa: PLC0415
    from skillpm.operations.install.executor import carry_out  # noqa: PLC0415

    def planned_and_done() -> Outlook:
        papers = edited()
        ahead = _ahead(scope, tools, options, papers, upgrade(papers))
        if not ahead.is_nothing:
            carry_out(scope, tools, ahead, make_fetchers(scope, tools))
        return ahead

    was_there = os.path.isdir(scope.layout.ours)
    done = False
    try:
        with exclusive(scope, tools, force=options.wishes.force):
            ahead = again_where_moved(planned_and_done)
            done = True
    finally:
        if not (was_there or done):
            tidy_up(scope)
    return ahead


def _ahead(scope: Scope, tools: Tools, options: Options, papers: Paperwork, upgrade: Collection[SkillName]) -> Outlook:
    fetchers, touched = make_fetchers(scope, tools), options.wishes.touched
    lockfile = relocked(scope, papers, fetchers, options.strictness, upgrade, touched)
    unknown = unshared(scope, tools.settings, papers, lockfile)
    named = unknown if options.is_naming else []
    ahead = outlook(scope, tools, naming(papers, named, tools.settings), lockfile, options.wishes)
    absent = {name for name in ahead.comes if _is_absent(ahead, tools, name)}
    refuse_unnamed(scope, ahead.papers, lockfile, absent, tools.settings)
    if "lockfile" in ahead.documents and not named:
        for place in unknown:
            tools.reporter.warning(told_as_missing(scope, papers, place))
    return ahead.but(named=tuple(named))


def _is_absent(ahead: Outlook, tools: Tools, name: SkillName) -> bool:
    """Tell whether a skill's content is not at hand, so that it has to be fetched."""
    skill = ahead.lockfile.skills[name]
    return skill.digest is not None and not tools.store.has(skill.digest, variant_of(skill.pin))


def _changed(scope: Scope, tools: Tools, options: Options, ahead: Outlook) -> Changed:
    for message in told_as_unnamed(scope, ahead.papers, ahead.lockfile, tools.settings, options.wishes.touched):
        tools.reporter.warning(message)
    if options.dry_run:
        foretell(scope, tools.settings, ahead, tools.reporter.warning)
    return Changed(
        changed=not ahead.is_nothing,
        scope=scope.kind,
        directory=scope.layout.directory,
        actions=ahead.actions,
        warnings=tuple(tools.reporter.warnings),
        dry_run=options.dry_run,
        linked=_places(ahead.links.made),
        unlinked=_places(ahead.links.dropped),
        written=tuple(ahead.documents),
        next_step="" if options.dry_run else next_step(scope, tools, ahead.papers, ahead.lockfile, ahead.receipt),
        notes=tuple(told_as_named(place, dry_run=options.dry_run) for place in ahead.named),
    )


def _places(links: Mapping[SkillName, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted(f"{folder}/{name}" for name, folders in links.items() for folder in folders))
