"""`use`: fetch a skill with every check of an install, unpack it in the cache, and load it. Installs nothing."""

from collections.abc import Mapping, Sequence
from functools import cache

from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import OfflineError
from skillpm.fetchers.base import is_proved, variant_of
from skillpm.fetchers.verified_content import fetch_content
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.pin import describe_pin
from skillpm.installer.unpacked import unpack_skill
from skillpm.operations.content_validation.incoming import check_incoming
from skillpm.operations.content_validation.problems import IncomingSkill
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_fetchers import make_fetchers
from skillpm.operations.context.validation_options import ValidationOptions
from skillpm.operations.install.request import InstallRequest, NewRequirement
from skillpm.operations.install.spec_requirements import parse_requests
from skillpm.operations.pipeline.content_warnings import lfs_messages
from skillpm.operations.pipeline.lock_resolution import LockPolicy, resolve_lockfile
from skillpm.operations.pipeline.whole_repositories import require_confirmation
from skillpm.operations.serve import Viewer, make_service
from skillpm.registry.card import Card
from skillpm.registry.directory_registry import Registry
from skillpm.registry.entry import build_entry
from skillpm.requirements.manifest_requirements import rebase_source
from skillpm.requirements.source import PathSource
from skillpm.serving.access_errors import SkillForbidden
from skillpm.serving.approval import Ask
from skillpm.serving.body_modes import Mode
from skillpm.serving.results import Loaded
from skillpm.store import Proofs


class UseOptions(Value):
    """For whom a skill is loaded, and how."""

    viewer: Viewer = Viewer()
    mode: Mode | None = None
    style: str = "default"
    arguments: Sequence[str] | None = None
    # Called with the skill's name if a rule requires a person's approval.
    ask: Ask | None = None
    # Whether the user has confirmed that the skill may be a repository with many files.
    allows_whole_repositories: bool = False
    validation: ValidationOptions = ValidationOptions()


class UsedSkill(Value):
    """A loaded skill, where it came from, and the folders of the skills that it depends on."""

    loaded: Loaded
    source: str
    version: str
    digest: str
    dependencies: Mapping[SkillName, str]


def use(scope: Scope, context: Context, request: InstallRequest, options: UseOptions) -> UsedSkill:
    """Load one skill without installing it. Only the cache is written to.

    Indexes, limits and permissions are those of the scope. Raises `SkillForbidden` before the content is fetched.
    """
    ask = options.ask and cache(options.ask)  # `load` asks again
    service = make_service(scope, context.settings, options.viewer, registry=Registry(), ask=ask)
    (requirement,) = parse_requests(scope, context, request)
    service.refuse_blocked(requirement.name)
    decision = service.rules.decide(requirement.name)
    if decision.action == "deny":
        raise SkillForbidden(requirement.name, decision)
    service.require_approval(requirement.name)
    skills = resolve_apart(scope, context, [requirement])
    if not options.allows_whole_repositories:
        require_confirmation(context.store, Lockfile(), Lockfile(skills=skills))
    trees = fetch_checked(scope, context, skills)
    incoming = [IncomingSkill(name=name, locked=skills[name], tree=tree) for name, tree in trees.items()]
    check_incoming(scope, context, incoming, options.validation)
    cache_dir = context.settings.cache_dir
    folders = {name: unpack_skill(cache_dir, name, tree, variant_of(skills[name].pin)) for name, tree in trees.items()}
    name = requirement.name
    locked, folder = skills[name], folders.pop(name)
    service.registry = Registry([_make_card(name, locked, folder, trees[name])])
    loaded = service.load(name, mode=options.mode, style=options.style, arguments=options.arguments)
    return UsedSkill(
        loaded=loaded,
        source=describe_pin(locked.pin),
        version=locked.version,
        digest=locked.digest or "",
        dependencies=folders,
    )


def resolve_apart(
    scope: Scope, context: Context, requirements: Sequence[NewRequirement]
) -> Mapping[SkillName, LockedSkill]:
    """Return the skills and their dependencies, resolved as if nothing were installed."""
    sources = {}
    for requirement in requirements:
        source = requirement.source
        copied = source.replace(link=False) if isinstance(source, PathSource) else source
        sources[requirement.name] = rebase_source(copied, scope.member)
    files = read_project_files(scope, context).alone(sources)
    return resolve_lockfile(scope, files, make_fetchers(scope, context), LockPolicy()).skills


def fetch_checked(scope: Scope, context: Context, skills: Mapping[SkillName, LockedSkill]) -> dict[SkillName, FileTree]:
    """Return the content of these skills, proved to be that of their sources, every byte checked."""
    fetchers = make_fetchers(scope, context).with_locked(skills)
    proofs = Proofs(context.settings.cache_dir)
    missing = {name: skill for name, skill in skills.items() if not is_proved(name, skill, context.store, proofs)}
    if descriptions := fetchers.fetch(missing):
        raise OfflineError(descriptions, skills=[*missing])
    trees = {
        name: fetch_content(fetchers, name, skill, skill.digest)
        for name, skill in sorted(skills.items())
        if skill.digest is not None
    }
    for message in lfs_messages(trees, {name: skill.pin for name, skill in skills.items()}):
        context.reporter.warn(message)
    return trees


def _make_card(name: SkillName, skill: LockedSkill, folder: str, tree: FileTree) -> Card:
    data = tree.read(tree.skill_file) or b""
    path = f"{name}/{tree.skill_file}"
    entry = build_entry(name, path, data, pin=skill.pin, digest=skill.digest, version=skill.version)
    return Card(entry, folder.removesuffix(f"/{name}"))
