"""Fetch the skills that are bundled with skillpm."""

import os
from collections.abc import Mapping, Sequence
from functools import cache

from skillpm.core.digest import Digest, shorten_digest, shorten_distinct_digests
from skillpm.core.file_tree import FileTree
from skillpm.core.limits import Limits
from skillpm.core.names import COPIES, SkillName
from skillpm.core.versions import filter_versions, is_newer
from skillpm.errors import DigestMismatch, NotFoundError, UnknownSkillError
from skillpm.events import Reporter
from skillpm.fetchers.bundled_paths import bundled_folder, bundled_names
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.fetchers.common.local_paths import LocalPaths
from skillpm.fetchers.common.metadata import read_metadata
from skillpm.formats.lockfile import LockedSkill
from skillpm.kinds.bundled import BundledPin, BundledSource
from skillpm.kinds.index import IndexSource
from skillpm.resolver.provider import AvailableVersion
from skillpm.store import Store


class BundledFetcher:
    """The fetcher for bundled skills, and for bare names if no index is configured."""

    def __init__(self, store: Store, reporter: Reporter, paths: LocalPaths | None = None, scope_flag: str = "") -> None:
        self.store = store
        self.reporter = reporter
        # Of the project, whose copies of bundled skills count, too.
        self.paths = paths
        self.scope_flag = scope_flag

    def pin(self, sources: Mapping[SkillName, BundledSource | IndexSource]) -> dict[SkillName, FetchedSkill]:
        """Read the bundled version of each skill. Raises `NotFoundError` if it is not in the required range."""
        skills = {}
        for name, source in sources.items():
            prefix = "no index is configured, and " if isinstance(source, IndexSource) else ""
            tree = read_bundled_skill(source.name, message_prefix=prefix)
            pin = BundledPin(name=source.name)
            skill = read_metadata(tree, pin, name)
            if isinstance(source, IndexSource) and not filter_versions(source.version, [skill.version]):
                raise NotFoundError(
                    f"no version of `{source.name}` satisfies {source.version}; available: {skill.version}",
                    hint=f"require another version, or name its repository: skillpm install owner/repo@{source.name}",
                )
            self.store.add(tree)
            skills[name] = skill
        return skills

    def versions(
        self,
        sources: Mapping[SkillName, IndexSource],
        *,
        dated: bool = False,  # noqa: ARG002  (bundled skills have no date of their own)
    ) -> dict[SkillName, Sequence[AvailableVersion]]:
        """List the bundled version of each skill that is bundled."""
        bundled = {name: source.name for name, source in sources.items() if source.name in bundled_names()}
        return {
            name: [
                AvailableVersion(
                    version=skill.version, source=BundledSource(name=bundled[name]), dependencies=skill.dependencies
                )
            ]
            for name, skill in self.pin(
                {name: BundledSource(name=bundled_name) for name, bundled_name in bundled.items()}
            ).items()
        }

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Add the locked skills to the store: from this installation, or from the copies in the project."""
        for name, skill in locked.items():
            if isinstance(skill.pin, BundledPin):
                if not is_bundled_content(skill) and (copy := self._read_copy(skill, skill.pin)) is not None:
                    self.store.add(copy)
                    continue
                tree = read_bundled_skill(skill.pin.name)
                if tree.digest != skill.digest:
                    version = read_metadata(tree, skill.pin, name).version
                    if version == skill.version:
                        origin = f"the bundled skills, version {version}"
                        locked_digest, actual = shorten_distinct_digests(skill.digest or "", tree.digest)
                        raise DigestMismatch(name, locked=locked_digest, actual=actual, origin=origin)
                    locked_version = skill.version or shorten_digest(skill.digest or "")
                    raise NotFoundError(
                        f"`{name}` is locked to {locked_version}, but this skillpm bundles {version}",
                        hint=self._repair_hint(name, locked_version, version),
                    )
                self.store.add(tree)
        return []

    def _read_copy(self, skill: LockedSkill, pin: BundledPin) -> FileTree | None:
        """Return the copy of a bundled skill in the project if it has the locked content."""
        from skillpm.fetchers.packages.local import read_skill_folder  # noqa: PLC0415  (pathspec)

        if self.paths is None or not os.path.isdir(self.paths.expand(f"{COPIES}/{pin.name}")):
            return None
        tree = read_skill_folder(self.paths.check(f"{COPIES}/{pin.name}", pin.name), pin.name, Limits())
        return tree if tree.digest == skill.digest else None

    def _repair_hint(self, name: SkillName, locked: str, version: str) -> str:
        update = f"`skillpm update{self.scope_flag} {name}`"
        if self.scope_flag == " -g":
            return f"run {update}"
        lock = f"`skillpm lock{self.scope_flag}` with the skillpm that bundles {locked} copies it into the project"
        newer = f"; {update} locks {version}" if is_newer(version, locked) else ""
        return f"{lock}, for every version of skillpm{newer}"


def is_bundled_content(skill: LockedSkill) -> bool:
    """Return whether a locked skill has the bytes of a skill of this installation: its own word does not count."""
    return isinstance(skill.pin, BundledPin) and skill.digest == _bundled_digest(skill.pin.name)


def bundled_version(name: str) -> str:
    """Return the version of a bundled skill; empty if this skillpm bundles none of this name."""
    if name not in bundled_names():
        return ""
    return read_metadata(read_bundled_skill(name), BundledPin(name=SkillName(name)), SkillName(name)).version


@cache
def _bundled_digest(name: str) -> Digest | None:
    return read_bundled_skill(name).digest if name in bundled_names() else None


def read_bundled_skill(name: str, *, message_prefix: str = "") -> FileTree:
    """Read a bundled skill. Raises `UnknownSkillError` with similar names; `message_prefix` begins its message."""
    names = bundled_names()
    if name not in names:
        from skillpm.core.suggestions import suggestion_hint  # noqa: PLC0415  (only after a mistake)

        fallback = f"bundled are: {', '.join(names)}; from a repository: owner/repo@{name}"
        message = f"{message_prefix}skillpm bundles no skill named `{name}`"
        raise UnknownSkillError(name, message, hint=suggestion_hint(name, names, fallback))
    from skillpm.fetchers.packages.local import read_skill_folder  # noqa: PLC0415  (only for those that ship with skillpm)

    return read_skill_folder(os.path.join(bundled_folder(), name), name, Limits())
