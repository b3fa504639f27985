"""Read the contents of locked skills that strangers may have locked: only from places that the user named."""

from collections.abc import Mapping

from skillpm.core.file_tree import FileTree
from skillpm.core.git_syntax import server_of
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import SkillpmError
from skillpm.fetchers.base import is_proved
from skillpm.fetchers.dependents import url_of
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.fetchers.verified_content import fetch_content
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.pin import BundledPin, IndexPin, OciPin, PackagePin, PathPin, describe_pin
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_fetchers import make_fetchers
from skillpm.operations.pipeline.index_policy import find_unconfigured
from skillpm.requirements.source import PackageSource, PathSource
from skillpm.store import Proofs

LIVE_LINK = "it is a live link, whose content is not locked"


class LockedContents(Value):
    """The contents of locked skills, and for each that was not read the reason."""

    trees: Mapping[SkillName, FileTree] = EMPTY_MAPPING
    unread: Mapping[SkillName, str] = EMPTY_MAPPING


def read_contents(
    scope: Scope, context: Context, files: ProjectFiles, skills: Mapping[SkillName, LockedSkill]
) -> LockedContents:
    """Read the contents of locked skills with every check of an install; what is missing is fetched.

    A lockfile of another revision, or of a pull request, may come from a stranger. So only servers are contacted that
    `files` (the manifest of the working tree) or the user's configuration name.
    """
    fetchers = make_fetchers(scope, context).with_locked(skills)
    fetchers.name_sources([*files.requirements.values(), *files.overrides.values()])
    proofs = Proofs(context.settings.cache_dir)
    unread = {name: LIVE_LINK for name, skill in skills.items() if skill.digest is None}
    missing = {name: skill for name, skill in skills.items() if not is_proved(name, skill, context.store, proofs)}
    unread |= _find_unnamed(scope, context, files, fetchers, missing)
    unread |= _fetch(fetchers, {name: skill for name, skill in missing.items() if name not in unread})
    trees = {}
    for name, skill in skills.items():
        if name not in unread and skill.digest is not None:
            try:
                trees[name] = fetch_content(fetchers, name, skill, skill.digest)
            except SkillpmError as error:
                unread[name] = error.message
    return LockedContents(trees=trees, unread=unread)


def _find_unnamed(
    scope: Scope,
    context: Context,
    files: ProjectFiles,
    fetchers: FetcherDispatcher,
    skills: Mapping[SkillName, LockedSkill],
) -> dict[SkillName, str]:
    """Return the skills whose source neither the manifest nor the user's configuration names, with the reason."""
    # Without its dependencies: what a stranger's lockfile says about them names no index.
    lockfile = Lockfile(skills={name: skill.replace(dependencies={}) for name, skill in skills.items()})
    unconfigured = find_unconfigured(scope, files, lockfile, context.settings)
    sources = [*files.requirements.values(), *files.overrides.values()]
    local = {source.path if isinstance(source, PathSource) else url_of(source) for source in sources}
    packages = {(source.kind, source.package) for source in sources if isinstance(source, PackageSource)}
    unnamed = {}
    for name, skill in skills.items():
        match skill.pin:
            case BundledPin():
                is_named = True
            case IndexPin():
                is_named = name not in unconfigured
            case PathPin(path=path):
                is_named = path in local
            case PackagePin(kind=kind, package=package):
                is_named = (kind, package) in packages
            case OciPin() as pin:
                is_named = fetchers.destinations.is_named(url_of(pin))
            case pin:
                is_named = fetchers.destinations.is_named(pin.url) if server_of(pin.url) else pin.url in local
        if not is_named:
            place = sanitize(describe_pin(skill.pin), 200)
            unnamed[name] = (
                f"not fetched from {place}: neither your skills.json nor your configuration names that place"
            )
    return unnamed


def _fetch(fetchers: FetcherDispatcher, skills: Mapping[SkillName, LockedSkill]) -> dict[SkillName, str]:
    """Fetch all that can be fetched; return the reason for each of the others."""
    failed: dict[SkillName, str] = {}
    while remaining := {name: skill for name, skill in skills.items() if name not in failed}:
        try:
            missing = fetchers.fetch(remaining)
        except SkillpmError as error:
            concerned = {SkillName(name) for name in error.skills} & {*remaining} or {*remaining}
            failed |= dict.fromkeys(concerned, error.message)
        else:
            names = [SkillName(description.partition(" (")[0]) for description in missing]
            return failed | dict.fromkeys(names, "not cached, and the network is disabled")
    return failed
