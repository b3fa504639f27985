"""`lock`: resolve only; nothing is installed."""

import os
from collections.abc import Sequence

from skillpm.core.values import Value
from skillpm.files import told, write_document
from skillpm.installer.actions import label
from skillpm.operations.context.missing_manifest import refuse_lost, refuse_lost_project
from skillpm.operations.context.project_files import Paperwork, again_where_moved, read_paperwork, refuse_moved
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_lock import exclusive, tidy_up
from skillpm.operations.inspect.yanked import tell_yanks
from skillpm.operations.install.index_policy import meant_to_rise, told_as_missing, told_as_unnamed, unshared
from skillpm.operations.install.lock_resolution import (
    Strictness,
    changed_skills,
    lock_text,
    make_fetchers,
    outdated,
    relocked,
)


class Locked(Value):
    """What locking changed, or would change: (name, from, to). `same_content` names those whose
    bytes stay as they are. `reasons` say why it was not up to date.
    """

    changed: bool
    up_to_date: bool
    skills: tuple[tuple[str, str, str], ...] = ()
    same_content: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def lock(scope: Scope, tools: Tools, *, dry_run: bool = False, upgrade: Sequence[str] | None = None) -> Locked:
    """Make the lockfile say what the manifest asks; of the skills in `upgrade` (all where it is empty) the newest."""
    refuse_lost_project(scope, tools.settings)
    if dry_run:
        papers = refuse_lost(scope, read_paperwork(scope, tools))
        return _resolved(scope, tools, papers, upgrade)[0].but(changed=False)
    was_there = os.path.isdir(scope.layout.ours)
    try:
        with exclusive(scope, tools):
            result = again_where_moved(lambda: _written(scope, tools, upgrade))
    finally:
        if not was_there:
            tidy_up(scope)
    return result


def _written(scope: Scope, tools: Tools, upgrade: Sequence[str] | None) -> Locked:
    """Lock as the documents say now. Only under the lock; raises `DocumentMoved` where one was saved meanwhile."""
    papers = refuse_lost(scope, read_paperwork(scope, tools))
    result, text = _resolved(scope, tools, papers, upgrade)
    refuse_moved(scope, papers)
    if result.changed:
        with told("write the lockfile", scope.lockfile):
            write_document(
                scope.lockfile,
                text.encode(),
                fsync=tools.settings.fsync,
                follow=True,
                at_last=lambda: refuse_moved(scope, papers),
            )
    return result


def _resolved(scope: Scope, tools: Tools, papers: Paperwork, upgrade: Sequence[str] | None) -> tuple[Locked, str]:
    """Give what locking would change, and the lockfile's text afterwards."""
    names = () if upgrade is None else meant_to_rise(scope, papers, tools.settings, upgrade)
    after = relocked(scope, papers, make_fetchers(scope, tools), Strictness(), names)
    for message in told_as_unnamed(scope, papers, after, tools.settings, upgrade or None):
        tools.reporter.warning(message)
    text = lock_text(after, papers)
    is_same = text == papers.lockfile_text
    for place in () if is_same else unshared(scope, tools.settings, papers, after):
        tools.reporter.warning(told_as_missing(scope, papers, place))
    changed = changed_skills(papers.lockfile, after)
    tell_yanks(scope, tools, papers.lockfile, after, [*names])
    rows = [(name, label(old), label(new)) for name, old, new in changed]
    result = Locked(
        changed=not is_same,
        up_to_date=is_same,
        skills=tuple(rows),
        same_content=tuple(name for name, old, new in changed if old and new and old.digest == new.digest),
        reasons=tuple(outdated(papers)),
        warnings=tuple(tools.reporter.warnings),
    )
    return result, text


def check_lock(scope: Scope, tools: Tools) -> Locked:
    """Tell whether the lockfile is up to date. Writes nothing, asks nobody; local folders are read."""
    refuse_lost_project(scope, tools.settings)
    papers = refuse_lost(scope, read_paperwork(scope, tools))
    reasons = outdated(papers)
    if not reasons and papers.lockfile_text is not None:
        after = relocked(scope, papers, make_fetchers(scope, tools), Strictness())
        reasons = [f"the content of `{name}` has changed" for name, _, _ in changed_skills(papers.lockfile, after)]
    if papers.lockfile_text is None:
        reasons = ["there is no lockfile"]
    for message in told_as_unnamed(scope, papers, papers.lockfile, tools.settings):
        tools.reporter.warning(message)
    warnings = tuple(tools.reporter.warnings)
    return Locked(changed=False, up_to_date=not reasons, reasons=tuple(reasons), warnings=warnings)
