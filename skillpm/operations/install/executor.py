"""Do what was planned: fetch, check, stage, commit. Only under the lock; imported when there is something to do."""

import os
from collections.abc import Collection, Mapping
from typing import Any

from skillpm.core.file_tree import Tree
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError, OfflineError, RefusedError
from skillpm.fetchers.base import variant_of
from skillpm.fetchers.content import content_of
from skillpm.fetchers.dispatcher import Fetchers
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.receipt import InstalledFile, InstalledSkill, write_receipt
from skillpm.installer.layout import Layout, registry_text
from skillpm.installer.links.created_folders import with_made_folders
from skillpm.installer.skill_file import read_skill_file, skill_file_in
from skillpm.installer.staging import Content, LiveLink, Settling, prepare, stage
from skillpm.installer.stat_cache import Stamp, stamp_of, write_scan
from skillpm.installer.transaction import Change, commit
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.live_links import live_target
from skillpm.operations.install.plan import Outlook, inherited_after, receipt_after
from skillpm.registry.build_state import Built
from skillpm.registry.builder import Ahead, Fresh, build_registry, known_registry
from skillpm.requirements.declared_dependencies import FILE, needs_of
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill


def check_needs(scope: Scope, ahead: Outlook, coming: Collection[SkillName], fetchers: Fetchers) -> None:
    """Refuse a lockfile in which a skill that is about to come is needed by one that does not say so.

    The digest vouches for a skill's own words; an index that says others was refused when it was locked.
    """
    unasked = {*coming} - {*ahead.papers.requirements}
    for name, skill in sorted(ahead.lockfile.skills.items()):
        if unasked & {*skill.dependencies} and skill.digest is not None:
            said = _said_by(content_of(fetchers, name, skill, skill.digest))
            needs = unasked & {*skill.dependencies}
            if forged := sorted(need for need in needs if skill.dependencies[need] != said.get(need)):
                raise RefusedError(
                    f"`{name}` does not need `{forged[0]}` as the lockfile says",
                    where=f"{scope.lockfile}: skills.{name}.dependencies",
                    hint=f"find out who changed the lockfile; `skillpm update{scope.flag} {name}` makes it anew",
                )


def _said_by(tree: Tree) -> Mapping[str, Any]:
    try:
        return needs_of(read_skill(tree.read(tree.skill_file) or b"").metadata, tree.read(FILE))
    except (NotLoadable, DocumentError):
        return {}


def carry_out(scope: Scope, tools: Tools, ahead: Outlook, fetchers: Fetchers) -> None:
    """Do what was planned. Only under the lock. Raises `DocumentMoved` where somebody saved a document meanwhile."""
    settings, layout = tools.settings, scope.layout
    scope.target(settings).refuse_unwritable({*ahead.documents, "receipt", "registry"}, ahead.links.touched)
    comes = ahead.comes
    puts = {action.name: action for action in ahead.actions if action.name in comes}
    contents = _contents(scope, tools, {name: ahead.lockfile.skills[name] for name in puts}, fetchers)
    check_needs(scope, ahead, puts, fetchers)
    prepare(layout, fsync=settings.fsync)
    fresh: dict[SkillName, Fresh] = {}
    installed = dict(receipt_after(scope, ahead.receipt, ahead.lockfile, ahead.disk, ahead.actions))
    settling = Settling(fsync=settings.fsync)
    for name, content in contents.items():
        stamps = stage(layout, name, content)
        settling.begin(os.path.join(layout.staging, name))
        locked = ahead.lockfile.skills[name]
        file, data = _skill_file(layout, content)
        fresh[name] = Fresh(data=data, stamps=stamps, file=file)
        installed[name] = installed_skill(locked, content)
    removals = {action.name: action.aside for action in ahead.actions if action.verb == "remove"}
    inherited = inherited_after(scope, ahead.receipt, ahead.actions)
    after = ahead.receipt.but(skills=installed, links=ahead.links.links, inherited=inherited, copies=ahead.copies)
    after = with_made_folders(ahead.receipt, after, scope.link_folders(settings))
    built = build_registry(
        layout,
        after,
        known_registry(layout, registry_text(layout), ahead.scan),
        Ahead(fresh=fresh, gone=removals),
        disabled=ahead.papers.disabled,
    )
    for problem in built.problems:
        tools.reporter.warning(f"{problem.path} is not in the registry: {problem.message}")
    documents = {**ahead.documents, "receipt": write_receipt(after), "registry": built.text}
    here = {name: lies for name, lies in removals.items() if os.path.lexists(layout.skill(name))}
    settling.wait()
    change = Change(
        puts={name: action.aside for name, action in puts.items()},
        removals=here,
        asides=ahead.links.obstacles,
        digests={name: ahead.lockfile.skills[name].digest or "" for name in puts},
        read=ahead.papers.read,
    )
    commit(scope.target(settings), change, documents, tools.reporter.warning)
    remember(scope, built)


def remember(scope: Scope, built: Built) -> None:
    """Write the stat cache for a registry that was just written."""
    try:
        registry: dict[str, Stamp] = {"skills.json": stamp_of(os.stat(scope.layout.registry))}
        if built.inherited:
            registry["inherited"] = built.inherited
    except OSError:
        return
    write_scan(scope.layout.scan, {**built.stamps, "": registry})


def installed_skill(locked: LockedSkill, content: Content) -> InstalledSkill:
    """Give the receipt's entry for content that is being installed."""
    files = {}
    if isinstance(content, Tree):
        files = {
            file.path: InstalledFile(
                sha256=file.content, size=len(file.data), executable=file.executable, link=file.link
            )
            for file in content.files
        }
    return InstalledSkill(pin=locked.pin, digest=locked.digest, version=locked.version, files=files)


def _contents(
    scope: Scope, tools: Tools, locked: Mapping[SkillName, LockedSkill], fetchers: Fetchers
) -> dict[SkillName, Content]:
    """Have every skill's content at hand, every byte checked against the lockfile."""
    stored = {name: skill for name, skill in locked.items() if skill.digest is not None}
    absent = {name: skill for name, skill in stored.items() if _must_fetch(tools, skill)}
    missing = fetchers.fetch(absent) if absent else []
    if missing:
        raise OfflineError(missing)
    contents: dict[SkillName, Content] = {}
    for name, skill in sorted(locked.items()):
        if skill.digest is None:
            contents[name] = LiveLink(target=live_target(scope, tools.settings, skill.pin))
            continue
        contents[name] = content_of(fetchers, name, skill, skill.digest)
    return contents


def _must_fetch(tools: Tools, skill: LockedSkill) -> bool:
    return skill.digest is not None and not tools.store.has(skill.digest, variant_of(skill.pin))


def _skill_file(layout: Layout, content: Content) -> tuple[str, bytes]:
    """Give the name and the bytes of the file that makes it a skill."""
    if isinstance(content, Tree):
        return content.skill_file, content.read(content.skill_file) or b""
    folder = os.path.join(layout.directory, content.target) if isinstance(content, LiveLink) else content.folder
    return skill_file_in(folder), read_skill_file(folder)
