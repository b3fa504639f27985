"""The folders of agent hosts: links that lead nowhere, and halves that a killed command left."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from skillpm.documents.text import show
from skillpm.errors import ConflictError, SkillpmError
from skillpm.files import is_alive
from skillpm.installing.layout import load_receipt
from skillpm.installing.links import is_link, points_at
from skillpm.operations.doctor.findings import Finding, Patient
from skillpm.operations.scope import Scope
from skillpm.serving.hosts import agent_folder, all_agents
from skillpm.settings import Settings

HALF_LINK = re.compile(r"(.+)\.(\d+)\.new", re.ASCII)


def links(patient: Patient) -> Iterator[Finding]:
    """Find dead links in the folders of agent hosts, and halves that a killed command left there."""
    scope = patient.scope
    if scope is None:
        return
    for path, ours in dead_links(scope, patient.settings):
        if ours:
            hint = f"`skillpm doctor --fix{scope.flag}` removes it"
            yield Finding(check="links", message="a link to a skill that is not there", where=path, hint=hint)
        else:
            leads = show(os.readlink(path), 200)
            message = f"a link that leads nowhere ({leads}); it is not skillpm's"
            yield Finding(check="links", message=message, where=path, is_note=True)


def dead_links(scope: Scope, settings: Settings) -> Iterator[tuple[str, bool]]:
    """Give the links that lead nowhere, in all folders of agent hosts, and whether they are ours."""
    folders = {agent_folder(agent, scope.kind, settings) for agent in all_agents().values()}
    with suppress(SkillpmError):
        folders |= {*load_receipt(scope.layout).links}
    paths = scope.link_folders(settings)
    for folder in sorted(folder for folder in folders if folder):
        try:
            base = paths.path(folder)
            with os.scandir(base) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except (OSError, ConflictError):
            continue
        if os.path.realpath(base) == os.path.realpath(scope.layout.directory):
            continue
        for entry in found:
            if not is_link(entry.path, entry.stat(follow_symlinks=False)):
                continue
            half = HALF_LINK.fullmatch(entry.name)
            name = half[1] if half else entry.name
            ours = points_at(entry.path, scope.layout.skill(name))
            is_half = half is not None and ours and not is_alive(int(half[2]))
            if is_half or not os.path.exists(entry.path):
                yield entry.path, ours
