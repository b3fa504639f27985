"""The skills that this machine has not checked yet, as after a clone: reported by commands that check nothing."""

from skillpm.core.names import SkillName
from skillpm.core.suggestions import list_some
from skillpm.core.text import pluralize
from skillpm.formats.lockfile import LockedSkill
from skillpm.installer.disk_state import read_installed_state
from skillpm.installer.layout import load_receipt
from skillpm.installer.stat_cache import read_stat_cache
from skillpm.operations.context.acceptance import Acceptance, PresentSkill
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope

MAX_NAMED = 5


def find_unchecked(scope: Scope, context: Context) -> list[SkillName]:
    """Return the locked and recorded skills that are there, and that this machine has never accepted as they are."""
    receipt, stat_cache = load_receipt(scope.layout).skills, read_stat_cache(scope.layout.stat_cache)
    locked = read_project_files(scope, context).lockfile.skills
    acceptance, unchecked = Acceptance(scope, context.settings), []
    for name in sorted({*receipt, *locked}):
        folder, installed = scope.layout.skill_path(name), receipt.get(name)
        state = read_installed_state(folder, name, installed, stat_cache)
        claim = locked.get(name)
        if claim is None and installed is not None:
            claim = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
        # An edited skill or a live link is judged by its files whenever it is used.
        if claim is None or claim.digest is None or state.digest != claim.digest:
            continue
        if acceptance.read(PresentSkill(name=name, folder=folder, claim=claim, digest=state.digest)) is None:
            unchecked.append(name)
    return unchecked


def unchecked_message(scope: Scope, names: list[SkillName]) -> str:
    """Return what to say of unchecked skills."""
    verb, them = ("was", "it") if len(names) == 1 else ("were", "them")
    named = f"{pluralize(len(names), 'skill')} {verb} not checked on this machine: {list_some(names, MAX_NAMED)}"
    return f"{named}; `{scope.command('sync')}` checks {them}"
