"""`show SPEC`: a skill that is not installed, fetched with every check of an install. Writes only to the caches."""

from skillpm.change.apart import fetch_checked, resolve_apart
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import DocumentError, UsageError
from skillpm.formats.lockfile import LockedSkill
from skillpm.scope.project import Project
from skillpm.scope.scope_permissions import load_rules, refuse_denied
from skillpm.skillmd.capabilities import Capabilities, find_capabilities
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import Skill, read_skill
from skillpm.specs.request import InstallRequest
from skillpm.specs.spec_requirements import parse_requests


class RemoteSkill(Value):
    """A skill as it would be installed now, and what it may do."""

    name: SkillName
    locked: LockedSkill
    skill: Skill
    tree: FileTree
    capabilities: Capabilities


def show_remote(project: Project, spec: str) -> RemoteSkill:
    """Return what a SPEC of a single skill contains. Raises `NotAllowedError` for a denied name, before fetching."""
    (requirement,) = parse_requests(project, InstallRequest(specs=(spec,)))
    name = requirement.name
    refuse_denied(load_rules(project.scope, project.settings), name)
    locked = resolve_apart(project, [requirement])[name]
    if locked.digest is None:
        raise UsageError(f"`{name}` has no content to show")
    tree = fetch_checked(project, {name: locked})[name]
    try:
        skill = read_skill(tree.read(tree.skill_file) or b"")
    except NotLoadable as error:
        where = f"{tree.skill_file}:{error.finding.line}"
        raise DocumentError(f"`{name}` cannot be loaded: {error.finding.message}", where=where) from None
    return RemoteSkill(name=name, locked=locked, skill=skill, tree=tree, capabilities=find_capabilities(tree))
