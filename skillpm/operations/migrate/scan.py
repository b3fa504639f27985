"""Read what a migration depends on: flat files, the old registry, names in use, and skills that are folders already."""

from collections.abc import Mapping

from skillpm.core.names import SkillName, is_skill_name
from skillpm.files import translate_os_errors
from skillpm.formats.receipt import Receipt
from skillpm.installer.layout import Layout
from skillpm.installer.migration.migration_planner import Migration, plan_migration
from skillpm.installer.migration.scanner import FlatFolder, scan_flat_files
from skillpm.installer.skill_file import read_skill_file
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.scope import Scope
from skillpm.operations.migrate.handwritten_registry import load_legacy_registry
from skillpm.settings import Settings


def scan_for_migration(
    scope: Scope, settings: Settings, files: ProjectFiles, receipt: Receipt, registry_text: str | None
) -> Migration:
    """Return which flat files become skills, and what the old registry says of them."""
    layout = scope.layout
    with translate_os_errors("look for flat files", layout.directory):
        folder = scan_flat_files(layout.directory, settings.limits)
    legacy = load_legacy_registry(layout, registry_text)
    return plan_migration(folder, legacy, _reserved_names(files, receipt), _read_local_skills(layout, folder, receipt))


def _reserved_names(files: ProjectFiles, receipt: Receipt) -> dict[str, str]:
    """Return the names that an installation will need, with the reason."""
    reserved: dict[str, str] = dict.fromkeys(receipt.skills, "is an installed skill whose folder is missing")
    reserved |= dict.fromkeys(files.lockfile.skills, "is locked to another source")
    return reserved | dict.fromkeys(files.requirements, "is required by the manifest")


def _read_local_skills(layout: Layout, folder: FlatFolder, receipt: Receipt) -> Mapping[SkillName, bytes]:
    """Return the SKILL.md of local skills for which the receipt has no metadata of an old registry yet."""
    contents = {}
    for name in folder.skills:
        if is_skill_name(name) and name not in receipt.skills and name not in receipt.inherited:
            try:
                contents[SkillName(name)] = read_skill_file(layout.skill_path(name))
            except OSError:
                continue
    return contents
