"""Checks of what agent hosts see: links and incomplete copies in their folders, shadowed skills, unmet requirements."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from skillpm.agent_hosts.discover import discover, find_plugins_in
from skillpm.agent_hosts.known_agents import agent_folder, load_agents
from skillpm.change.lost_skills import find_lost_skills
from skillpm.core.names import is_skill_name
from skillpm.core.text import sanitize
from skillpm.errors import ConflictError, SkillpmError
from skillpm.installer.disk.journal import is_change_pending
from skillpm.installer.disk.layout import load_receipt
from skillpm.installer.links.copies import TEMPORARY_NAME
from skillpm.installer.links.state import is_link, points_at
from skillpm.locks import is_held
from skillpm.operations.doctor.diagnostics import Diagnostic, DoctorContext
from skillpm.operations.host_listing import find_cut_listings
from skillpm.operations.inspect.list import list_skills
from skillpm.registry.card import Card
from skillpm.scope.effective_settings import load_manifest, read_user_setting
from skillpm.scope.scope import Scope
from skillpm.serving.availability import Environment
from skillpm.settings import Settings


def check_links(doctor: DoctorContext, scope: Scope) -> Iterator[Diagnostic]:
    """Find dead links, local skills that cannot be linked, and incomplete copies in the folders of agent hosts."""
    hint = f"`skillpm doctor --fix{scope.flag}` removes it"
    for path, is_own in find_dead_links(scope, doctor.settings):
        if is_own:
            yield Diagnostic(message="a link to a skill that does not exist", where=path, hint=hint)
        else:
            target = sanitize(os.readlink(path), 200)
            message = f"a dead link (to {target}), not created by skillpm"
            yield Diagnostic(message=message, where=path, is_note=True)
    with suppress(ConflictError):
        yield from _check_unlinked_skills(scope, doctor.settings)
        for lost in find_lost_skills(scope, doctor.settings, _linked_agents(doctor, scope)):
            yield Diagnostic(message=str(lost), where=scope.layout.directory, is_note=True)
        for message in find_cut_listings(scope, doctor.settings, _linked_agents(doctor, scope)):
            yield Diagnostic(message=message, where=scope.layout.directory, is_note=True)
    if is_change_pending(scope.layout) or is_held(scope.layout.lock):
        return  # incomplete copies belong to the change in progress
    for path in find_partial_copies(scope, doctor.settings):
        yield Diagnostic(message="left by a killed command", where=path, hint=hint)


def check_plugins(doctor: DoctorContext, scope: Scope) -> Iterator[Diagnostic]:
    """Find the folders that a host would start: in the skills directory, and in the hosts' own folders."""
    folders = {scope.layout.directory, *_find_agent_folders(scope, doctor.settings)}
    for folder in sorted(folders):
        for plugin in find_plugins_in(folder):
            hint = "remove the folder unless you know what it starts"
            yield Diagnostic(message=plugin.message, where=plugin.path, hint=hint, is_note=True)


def check_shadowed(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find skills that are hidden by another skill of the same name."""
    discovery = discover(settings=doctor.settings)
    bundled = tuple(root.path + os.sep for root in discovery.roots if root.profile_root.scope == "bundled")
    for loser in discovery.shadowed:
        if loser.path.startswith(bundled):
            continue  # installing a bundled skill always hides the bundled copy
        message = f"{sanitize(loser.name, 80)} is hidden by {sanitize(loser.winner, 200)}: {loser.why}"
        hint = "run `skillpm discover` to see both; rename or remove one"
        yield Diagnostic(message=message, where=loser.path, hint=hint, is_note=True)


def check_programs(doctor: DoctorContext, scope: Scope) -> Iterator[Diagnostic]:
    """Find installed skills that require a program, a variable or an operating system that is missing here."""
    environment = Environment(doctor.settings.environ)
    for skill in list_skills(scope).skills:
        missing = environment.find_missing(Card(skill.entry, scope.layout.directory))
        if missing:
            message = f"{skill.name} has unmet requirements: {', '.join(sanitize(item, 60) for item in missing)}"
            hint = f"install them, or run `skillpm disable {skill.name}{scope.flag}`"
            yield Diagnostic(message=message, where=skill.path, hint=hint, is_note=True)


def _linked_agents(doctor: DoctorContext, scope: Scope) -> Sequence[str]:
    """Return the hosts that the manifest or `config.toml` names."""
    agents = load_manifest(scope).agents
    user_agents = read_user_setting(doctor.settings, "agents") if agents is None else None
    return agents or (() if user_agents is None else user_agents.texts())


def _check_unlinked_skills(scope: Scope, settings: Settings) -> Iterator[Diagnostic]:
    """Find local skills that a linked host does not see because another file has the name of the link."""
    paths, listed = scope.link_folders(settings), list_skills(scope).skills
    for folder, links in load_receipt(scope.layout).links.items():
        for skill in listed:
            if skill.state != "unmanaged" or skill.name in links or not is_skill_name(skill.name):
                continue
            path = os.path.join(paths.path(folder), skill.name)
            if os.path.lexists(path) and os.path.realpath(path) != os.path.realpath(skill.path):
                message = f"{skill.name} is not linked in {folder}: another file or folder has its name"
                yield Diagnostic(message=message, where=path, is_note=True)


def find_dead_links(scope: Scope, settings: Settings) -> Iterator[tuple[str, bool]]:
    """Yield the dead links in all folders of agent hosts, and whether skillpm created them."""
    for entry in _scan_agent_folders(scope, settings):
        if is_link(entry.path, entry.stat(follow_symlinks=False)) and not os.path.exists(entry.path):
            yield entry.path, points_at(entry.path, scope.layout.skill_path(entry.name))


def find_partial_copies(scope: Scope, settings: Settings) -> list[str]:
    """Return the temporary folders of copies in progress or interrupted."""
    return [entry.path for entry in _scan_agent_folders(scope, settings) if TEMPORARY_NAME.fullmatch(entry.name)]


def _scan_agent_folders(scope: Scope, settings: Settings) -> Iterator["os.DirEntry[str]"]:
    """Yield the entries in the folders of agent hosts."""
    for folder in _find_agent_folders(scope, settings):
        with suppress(OSError), os.scandir(folder) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)


def _find_agent_folders(scope: Scope, settings: Settings) -> Iterator[str]:
    """Yield the folders of agent hosts, except for the skills directory itself."""
    folders = {agent_folder(agent, scope.kind, settings) for agent in load_agents().values()}
    with suppress(SkillpmError):
        folders |= {*load_receipt(scope.layout).links}
    paths = scope.link_folders(settings)
    for folder in sorted(folder for folder in folders if folder):
        with suppress(ConflictError):
            base = paths.path(folder)
            if os.path.realpath(base) != os.path.realpath(scope.layout.directory):
                yield base
