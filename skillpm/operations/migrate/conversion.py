"""`migrate`: flat files, `x.md` and `<category>/x.md`, become skills, `x/SKILL.md`; nothing is lost."""

import os
from collections.abc import Mapping
from shlex import quote

from skillpm.core.digest import content_hash, digest_of
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.text import counted
from skillpm.core.values import Value
from skillpm.errors import ConflictError, NotFoundError
from skillpm.files import read_text, told
from skillpm.formats.legacy_registry import is_generated
from skillpm.formats.receipt import Receipt, write_receipt
from skillpm.installer.backups import keep_old_registry, last_old_registry
from skillpm.installer.layout import PROJECT_FOLDER, Layout, load_receipt
from skillpm.installer.links.created_folders import with_made_folders
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.migration.cleanup import stage_flat
from skillpm.installer.migration.migration_planner import Migration, plan_migration
from skillpm.installer.migration.scanner import FlatFolder, look_at_flat_files
from skillpm.installer.skill_file import read_skill_file
from skillpm.installer.staging import Settling, prepare
from skillpm.installer.stat_cache import Stamp, read_scan
from skillpm.installer.transaction import Change, commit
from skillpm.operations.context.project_files import read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_lock import exclusive, tidy_up
from skillpm.operations.install.blockers import kept_links
from skillpm.operations.install.executor import remember
from skillpm.operations.install.unmanaged_links import OwnSkills
from skillpm.operations.migrate.flat_files import flat_files_in
from skillpm.operations.migrate.handwritten_registry import old_registry_of
from skillpm.operations.migrate.report import Migrated, linked_in, listing, showing, tell_misnamed, tell_users_only
from skillpm.registry.build_state import Built
from skillpm.registry.builder import Ahead, Fresh, build_registry, known_registry


class _Ahead(Value):
    """A migration that was planned: what is there, what is to be."""

    receipt: Receipt
    migration: Migration
    built: Built
    links: LinkPlan
    agents: bool
    has_news: bool


def _lying_here(tools: Tools) -> str:
    """Say what to name: a folder of flat files that is here, also one that no manifest makes a project's."""
    here = tools.settings.working_directory
    for typed, called in ((PROJECT_FOLDER, f"{PROJECT_FOLDER} here"), (".", "the folder you are in")):
        if found := flat_files_in(os.path.join(here, typed), (), tools.settings.limits):
            return f"for the {counted(len(found), 'flat file')} in {called}: `skillpm migrate {typed}`"
    return "name the folder that holds the skills: `skillpm migrate DIR`"


def migrate(scope: Scope, tools: Tools, *, dry_run: bool = False) -> Migrated:
    """Make skills of the flat files in a scope's skills directory, all of them or none.

    Like every change it is planned twice: without the lock, to find that there is nothing to do, and under it.
    """
    if not os.path.isdir(scope.layout.directory):
        raise NotFoundError(f"there is no folder {scope.layout.directory}", hint=_lying_here(tools))
    is_pending = os.path.exists(scope.layout.journal)
    rubbish = (scope.layout.staging, scope.layout.trash)
    is_tidy = not (is_pending or any(map(os.path.lexists, rubbish)))
    if is_pending and dry_run:
        tools.reporter.warning("an interrupted change is not finished yet; this is how things are without it")
    if dry_run or is_tidy:
        ahead = _look_ahead(scope, tools)
        if dry_run or not ahead.has_news:
            return _migrated(scope, tools, ahead, dry_run=dry_run)
    was_there, done = os.path.isdir(scope.layout.ours), False
    before = last_old_registry(scope.layout)
    try:
        with exclusive(scope, tools):
            ahead = _look_ahead(scope, tools)
            if ahead.has_news:
                _carry_out(scope, tools, ahead)
            done = True
    finally:
        if not (was_there or done):
            tidy_up(scope)
    after = last_old_registry(scope.layout)
    return _migrated(scope, tools, ahead, kept="" if after == before else after)


def _look_ahead(scope: Scope, tools: Tools) -> _Ahead:
    layout, receipt = scope.layout, load_receipt(scope.layout)
    if receipt.links and scope.root == layout.directory:
        raise ConflictError(
            f"the skills in {layout.directory} are linked for agents, so it belongs to a scope",
            hint=f"work in that scope: SKILLPM_HOME={quote(layout.directory)} skillpm migrate -g",
        )
    with told("look for flat files", layout.directory):
        folder = look_at_flat_files(layout.directory, tools.settings.limits)
    text = read_text(layout.registry)
    migration = plan_migration(
        folder, old_registry_of(layout, text), _claims(scope, tools, receipt), _made_by_hand(layout, folder, receipt)
    )
    moved = {move.name for move in migration.moves}
    stays = {name: facts for name, facts in receipt.inherited.items() if name not in moved}
    after = receipt.but(inherited={**migration.inherited, **stays})
    fresh = {move.name: Fresh(data=move.data, stamps={}) for move in migration.moves}
    known = known_registry(layout, text, read_scan(layout.scan))
    papers = read_paperwork(scope, tools)
    built = build_registry(layout, after, known, Ahead(fresh=fresh), disabled=papers.disabled)
    links = LinkPlan()
    if scope.root != layout.directory:  # a folder of no scope has no agents
        own = OwnSkills.beside(after, built.entries)
        digests = {move.name: digest_of([("SKILL.md", content_hash(move.data))]) for move in migration.moves}
        copies = own.copies(layout, receipt, tools.settings.link_mode, digests)
        links = kept_links(scope, tools, papers, receipt, {name: copies.get(name) for name in own.names})
        after = after.but(links=links.links, copies=own.copied(links.links, copies))
        after = with_made_folders(receipt, after, scope.link_folders(tools.settings))
    is_stale = text != built.text and (bool(built.entries) or (text is not None and is_generated(text)))
    return _Ahead(
        receipt=after,
        migration=migration,
        built=built,
        links=links,
        agents=bool(papers.agents),
        has_news=bool(moved) or after != receipt or is_stale,
    )


def _claims(scope: Scope, tools: Tools, receipt: Receipt) -> dict[str, str]:
    """Give the names that installing will want, and what to say of them."""
    papers = read_paperwork(scope, tools)
    claims: dict[str, str] = dict.fromkeys(receipt.skills, "is an installed skill whose folder is gone")
    claims |= dict.fromkeys(papers.lockfile.skills, "is locked to come from elsewhere")
    return claims | dict.fromkeys(papers.requirements, "is asked for in the manifest")


def _made_by_hand(layout: Layout, folder: FlatFolder, receipt: Receipt) -> Mapping[SkillName, bytes]:
    """Give the SKILL.md of skills that are folders already, and of which nothing was inherited yet."""
    found = {}
    for name in folder.skills:
        if is_skill_name(name) and name not in receipt.skills and name not in receipt.inherited:
            try:
                found[SkillName(name)] = read_skill_file(layout.skill(name))
            except OSError:
                continue
    return found


def _carry_out(scope: Scope, tools: Tools, ahead: _Ahead) -> None:
    """Do it. Only under the lock."""
    layout, target, fsync = scope.layout, scope.target(tools.settings), tools.settings.fsync
    target.refuse_unwritable(("receipt", "registry"), ahead.links.touched)
    for problem in ahead.built.problems:
        tools.reporter.warning(f"{problem.path} is not in the registry: {problem.message}")
    prepare(layout, fsync=fsync)
    with told("keep the old skills.json", layout.backup):
        keep_old_registry(layout, tools.reporter.note, fsync=fsync)
    stamps: dict[str, Mapping[str, Stamp]] = {}
    settling = Settling(fsync=fsync)
    for move in ahead.migration.moves:
        stamps[move.name] = stage_flat(layout, move.name, move.data, move.flat.mode)
        settling.begin(os.path.join(layout.staging, move.name))
    ahead.built.stamps.update(stamps)
    flat = {move.name: move.flat.path for move in ahead.migration.moves}
    documents = {"receipt": write_receipt(ahead.receipt), "registry": ahead.built.text}
    settling.wait()
    commit(target, Change(flat=flat), documents, tools.reporter.warning)
    remember(scope, ahead.built)


def _migrated(scope: Scope, tools: Tools, ahead: _Ahead, *, kept: str = "", dry_run: bool = False) -> Migrated:
    for move in ahead.migration.moves:
        for finding in move.mended:
            tools.reporter.warning(f"{move.flat.path}, line {finding.line}: {finding.message}")
    tell_misnamed(tools, ahead.migration)
    tell_users_only(tools, ahead.migration)
    return Migrated(
        changed=ahead.has_news,
        directory=scope.layout.directory,
        moves=ahead.migration.moves,
        left=ahead.migration.left,
        inherited=dict(sorted(ahead.migration.inherited.items())),
        skills=len(ahead.built.entries),
        kept=kept,
        warnings=tuple(tools.reporter.warnings),
        dry_run=dry_run,
        listing=listing(scope),
        linked=linked_in(ahead.links),
        showing="" if ahead.agents else showing(scope, tools),
    )
