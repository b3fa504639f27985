"""The skills that this machine has not checked yet, as after a clone: reported by commands that check nothing."""

from skillpm.core.names import SkillName
from skillpm.installer.disk.disk_state import read_installed_state
from skillpm.installer.disk.layout import load_receipt
from skillpm.installer.disk.stat_cache import read_stat_cache
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files
from skillpm.vetting.acceptance import Acceptance, PresentSkill, find_claim


def find_unchecked(project: Project) -> list[SkillName]:
    """Return the locked and recorded skills that are there, and that this machine has never accepted as they are."""
    receipt, stat_cache = load_receipt(project.layout).skills, read_stat_cache(project.layout.stat_cache)
    locked = read_project_files(project).lockfile.skills
    acceptance, unchecked = Acceptance(project.scope, project.settings), []
    for name in sorted({*receipt, *locked}):
        folder = project.layout.skill_path(name)
        state = read_installed_state(folder, name, receipt.get(name), stat_cache)
        claim = find_claim(name, locked, receipt)
        # An edited skill or a live link is judged by its files whenever it is used.
        if claim is None or claim.digest is None or state.digest != claim.digest:
            continue
        if not acceptance.is_known(PresentSkill(name=name, folder=folder, claim=claim, digest=state.digest)):
            unchecked.append(name)
    return unchecked
