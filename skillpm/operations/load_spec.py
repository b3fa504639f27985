"""`load SPEC`: fetch a skill with every check of an install, unpack it in the cache, and load it. Installs nothing."""

from collections.abc import Mapping, Sequence
from functools import cache

from skillpm.change.apart import fetch_checked, resolve_apart
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.installer.unpacked import unpack_skill
from skillpm.locking.whole_repositories import require_confirmation
from skillpm.operations.serve import Viewer, make_service
from skillpm.registry.card import Card
from skillpm.registry.directory_registry import Registry
from skillpm.registry.entry import build_entry
from skillpm.scope.project import Project
from skillpm.serving.access_errors import SkillForbidden
from skillpm.serving.approval import Ask
from skillpm.serving.renderers.body_modes import Mode
from skillpm.serving.results import Loaded
from skillpm.specs.request import InstallRequest
from skillpm.specs.spec_requirements import parse_requests
from skillpm.vetting.incoming import check_incoming
from skillpm.vetting.problems import IncomingSkill
from skillpm.vetting.validation_options import ValidationOptions


class LoadSpecOptions(Value):
    """For whom a skill is loaded, and how."""

    viewer: Viewer = Viewer()
    mode: Mode | None = None
    style: str = "default"
    # In characters; None for what the settings say.
    max_length: int | None = None
    arguments: Sequence[str] | None = None
    # Called with the skill's name if a rule requires a person's approval.
    ask: Ask | None = None
    # Whether the user has confirmed that the skill may be a repository with many files.
    allows_whole_repositories: bool = False
    validation: ValidationOptions = ValidationOptions()


class LoadedSpec(Value):
    """A loaded skill, where it came from, and the folders of the skills that it depends on."""

    loaded: Loaded
    source: str
    version: str
    digest: str
    dependencies: Mapping[SkillName, str]


def load_spec(project: Project, request: InstallRequest, options: LoadSpecOptions) -> LoadedSpec:
    """Load one skill without installing it. Only the cache is written to.

    Indexes, limits and permissions are those of the scope. Raises `SkillForbidden` before the content is fetched.
    """
    ask = options.ask and cache(options.ask)  # `load` asks again
    service = make_service(project.scope, project.settings, options.viewer, registry=Registry(), ask=ask)
    (requirement,) = parse_requests(project, request)
    service.refuse_blocked(requirement.name)
    decision = service.rules.decide(requirement.name)
    if decision.action == "deny":
        raise SkillForbidden(requirement.name, decision)
    service.require_approval(requirement.name)
    skills = resolve_apart(project, [requirement])
    if not options.allows_whole_repositories:
        require_confirmation(project.store, Lockfile(), Lockfile(skills=skills))
    trees = fetch_checked(project, skills)
    incoming = [IncomingSkill(name=name, locked=skills[name], tree=tree) for name, tree in trees.items()]
    check_incoming(project, incoming, options.validation)
    cache_dir = project.settings.cache_dir
    folders = {
        name: unpack_skill(cache_dir, name, tree, skills[name].pin.store_variant()) for name, tree in trees.items()
    }
    name = requirement.name
    locked, folder = skills[name], folders.pop(name)
    service.registry = Registry([_make_card(name, locked, folder, trees[name])])
    if options.max_length is not None:
        service.max_length = options.max_length
    loaded = service.load(name, mode=options.mode, style=options.style, arguments=options.arguments)
    return LoadedSpec(
        loaded=loaded,
        source=locked.pin.describe(),
        version=locked.version,
        digest=locked.digest or "",
        dependencies=folders,
    )


def _make_card(name: SkillName, skill: LockedSkill, folder: str, tree: FileTree) -> Card:
    data = tree.read(tree.skill_file) or b""
    path = f"{name}/{tree.skill_file}"
    entry = build_entry(name, path, data, pin=skill.pin, digest=skill.digest, version=skill.version)
    return Card(entry, folder.removesuffix(f"/{name}"))
