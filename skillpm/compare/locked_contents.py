"""Read the contents of locked skills that strangers may have locked: only from places that the user named."""

from collections.abc import Mapping

from skillpm.core.file_tree import FileTree
from skillpm.core.git_syntax import server_of
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import SkillpmError
from skillpm.fetchers.common.base import is_proved
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.fetchers.verified_content import fetch_content
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.kinds.base import Pin, Source
from skillpm.scope.locked_sources import find_unconfigured
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.store import Proofs

LIVE_LINK = "it is a live link, whose content is not locked"


class LockedContents(Value):
    """The contents of locked skills, and for each that was not read the reason."""

    trees: Mapping[SkillName, FileTree] = EMPTY_MAPPING
    unread: Mapping[SkillName, str] = EMPTY_MAPPING


def read_contents(project: Project, files: ProjectFiles, skills: Mapping[SkillName, LockedSkill]) -> LockedContents:
    """Read the contents of locked skills with every check of an install; what is missing is fetched.

    A lockfile of another revision, or of a pull request, may come from a stranger. So only servers are contacted that
    `files` (the manifest of the working tree) or the user's configuration name.
    """
    fetchers = make_fetchers(project).with_locked(skills)
    fetchers.name_sources([*files.requirements.values(), *files.overrides.values()])
    proofs = Proofs(project.settings.cache_dir)
    unread = {name: LIVE_LINK for name, skill in skills.items() if skill.digest is None}
    missing = {name: skill for name, skill in skills.items() if not is_proved(name, skill, project.store, proofs)}
    unread |= _find_unnamed(project, files, fetchers, missing)
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
    project: Project, files: ProjectFiles, fetchers: FetcherDispatcher, skills: Mapping[SkillName, LockedSkill]
) -> dict[SkillName, str]:
    """Return the skills whose source neither the manifest nor the user's configuration names, with the reason."""
    # Without its dependencies: what a stranger's lockfile says about them names no index.
    lockfile = Lockfile(skills={name: skill.replace(dependencies={}) for name, skill in skills.items()})
    unconfigured = find_unconfigured(project.scope, files, lockfile, project.settings)
    sources = [*files.requirements.values(), *files.overrides.values()]
    named = {_address(source) for source in sources}
    unnamed = {}
    for name, skill in skills.items():
        pin, url = skill.pin, skill.pin.server_url()
        if pin.index_url:
            is_named = name not in unconfigured
        elif server_of(url):
            is_named = fetchers.destinations.is_named(url)
        else:
            is_named = bool(pin.bundled_name) or _address(pin) in named
        if not is_named:
            place = sanitize(skill.pin.describe(), 200)
            unnamed[name] = (
                f"not fetched from {place}: neither your skills.json nor your configuration names that place"
            )
    return unnamed


def _address(source: Source | Pin) -> str:
    """Return what names a source of this machine: a path, a URL, or a package."""
    return source.local_path or source.server_url() or source.place().address


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
