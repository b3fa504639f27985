"""Skills resolved and fetched as if nothing were installed, with the checks of an install."""

from collections.abc import Mapping, Sequence

from skillpm.change.content_warnings import lfs_messages
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.errors import OfflineError
from skillpm.fetchers.common.base import is_proved
from skillpm.fetchers.verified_content import fetch_content
from skillpm.formats.lockfile import LockedSkill
from skillpm.locking.lock_resolution import LockPolicy, resolve_lockfile
from skillpm.requirements.manifest_requirements import rebase_source
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.specs.request import NewRequirement
from skillpm.store import Proofs


def resolve_apart(project: Project, requirements: Sequence[NewRequirement]) -> Mapping[SkillName, LockedSkill]:
    """Return the skills and their dependencies, resolved as if nothing were installed."""
    sources = {}
    for requirement in requirements:
        source = requirement.source
        copied = source.replace(link=False) if source.is_live_link else source
        sources[requirement.name] = rebase_source(copied, project.scope.member)
    files = read_project_files(project).alone(sources)
    return resolve_lockfile(project.scope, files, make_fetchers(project), LockPolicy()).skills


def fetch_checked(project: Project, skills: Mapping[SkillName, LockedSkill]) -> dict[SkillName, FileTree]:
    """Return the content of these skills, proved to be that of their sources, every byte checked."""
    fetchers = make_fetchers(project).with_locked(skills)
    proofs = Proofs(project.settings.cache_dir)
    missing = {name: skill for name, skill in skills.items() if not is_proved(name, skill, project.store, proofs)}
    if descriptions := fetchers.fetch(missing):
        raise OfflineError(descriptions, skills=[*missing])
    trees = {
        name: fetch_content(fetchers, name, skill, skill.digest)
        for name, skill in sorted(skills.items())
        if skill.digest is not None
    }
    for message in lfs_messages(trees, {name: skill.pin for name, skill in skills.items()}):
        project.reporter.warn(message)
    return trees
