"""What an index will say: old versions stay as they are, new ones join them. Rules only; `building` writes it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillpm.core.digest import content_hash
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import NotFoundError, RefusedError
from skillpm.formats.index_catalog import SkillSummary
from skillpm.formats.index_releases import Release, SkillReleases, is_same_version, newest_first
from skillpm.indexes.publish.tarball import pack_archive
from skillpm.skillmd.skill import Skill, read_skill
from skillpm.skillmd.validation import validate_skill

DEFAULT_CATEGORY = "general"


class NewRelease(Value):
    """A version of a skill that is to be published. `came_from` is for messages."""

    name: SkillName
    version: str
    tree: FileTree
    origin: str
    published: str = ""
    dependencies: Mapping[str, Any] = EMPTY_MAPPING


def find_errors(tree: FileTree, folder: str) -> list[str]:
    """Say in what a skill does not keep the specification: `SKILL.md:3: …`, nothing where it is valid."""
    verdict = validate_skill(tree.read(tree.skill_file) or b"", folder, [file.path for file in tree.files])
    return [f"{tree.skill_file}:{item.line}: {item.message}" for item in verdict.findings if item.level == "error"]


def version_mismatch_message(origin: str, version: str, skill: Skill) -> str:
    """Say that a skill says another version than the one it is offered as, which `agreeing` tells all who install it;
    nothing where it says the same, or none.
    """
    if not skill.version or skill.version.removeprefix("v") == version:
        return ""
    own = sanitize(skill.version, 60)
    return f"{origin} says version {sanitize(version, 60)}, SKILL.md says {own}; whoever installs it is warned"


class MergedReleases:
    """The versions of an index as they will be: those it has stay as they are, and new ones join them one by one.

    `keep` is given each new archive with its path from the index.
    """

    def __init__(
        self, existing: Mapping[SkillName, SkillReleases], store_archive: Callable[[str, bytes], None]
    ) -> None:
        self.added: list[str] = []
        self._releases = {name: list(skill.versions) for name, skill in existing.items()}
        self._store_archive = store_archive
        self._conflicts: list[tuple[NewRelease, Release]] = []
        self._origins: dict[tuple[SkillName, str], str] = {}
        self._last_archive: tuple[FileTree | None, bytes] = (None, b"")

    def add(self, new_release: NewRelease) -> None:
        """Let a version join, or find that it is there."""
        versions = self._releases.setdefault(new_release.name, [])
        there = next((release for release in versions if is_same_version(release.version, new_release.version)), None)
        if there is not None:
            if there.digest != new_release.tree.digest:
                self._conflicts.append((new_release, there))
            return
        data, path = self._pack(new_release.tree), archive_path(new_release.name, new_release.version)
        versions.append(
            Release(
                version=new_release.version,
                url=path,
                digest=new_release.tree.digest,
                sha256=content_hash(data),
                size=len(data),
                dependencies=new_release.dependencies,
                requires=read_skill(new_release.tree.read(new_release.tree.skill_file) or b"").requires.bins,
                published=new_release.published,
            )
        )
        self._store_archive(path, data)
        self.added.append(f"{new_release.name} {new_release.version}")
        self._origins[new_release.name, new_release.version] = new_release.origin

    def merge(self) -> dict[SkillName, SkillReleases]:
        """Give all versions of each skill. Raises `RefusedError` for a version whose content is not what it was."""
        if self._conflicts:
            raise self._conflict_error(*self._conflicts[0])
        return {
            name: SkillReleases(name=name, versions=newest_first(self._releases[name]))
            for name in sorted(self._releases)
            if self._releases[name]
        }

    def _conflict_error(self, new_release: NewRelease, existing: Release) -> RefusedError:
        more = f"; and {len(self._conflicts) - 1} more" if len(self._conflicts) > 1 else ""
        other = self._origins.get((new_release.name, existing.version))
        if other is not None:
            return RefusedError(
                f"`{new_release.name}` {existing.version} would come from two places with different content: "
                f"{sanitize(other)} and {sanitize(new_release.origin)}{more}",
                hint="leave one of them out, or give one another name or version; nothing was written",
            )
        return RefusedError(
            f"`{new_release.name}` {existing.version} is published already, with other content: "
            f"{existing.digest} there, {new_release.tree.digest} in {sanitize(new_release.origin)}{more}",
            hint="a version never changes: give the new content a new version, or build into an empty folder where "
            "nobody has it yet; nothing was written",
        )

    def _pack(self, tree: FileTree) -> bytes:
        """Pack a tree, once for all versions in a row that have this very content."""
        if self._last_archive[0] is not tree:
            self._last_archive = tree, pack_archive(tree)
        return self._last_archive[1]


def archive_path(name: str, version: str) -> str:
    """Give where an archive lies in an index."""
    return f"archives/{name}-{version}.tar.gz"


def build_summary(name: SkillName, version: str, tree: FileTree) -> SkillSummary:
    """Give what the catalogue says of a skill."""
    skill = read_skill(tree.read(tree.skill_file) or b"")
    return SkillSummary(
        name=name,
        description=skill.description,
        category=skill.category or DEFAULT_CATEGORY,
        tags=skill.tags,
        latest=version,
    )


def set_yanked(releases: SkillReleases, version: str, *, reason: str = "", undo: bool = False) -> SkillReleases:
    """Take a version out of what is offered, or put it back. Whoever has it locked gets it in any case.

    A reason that was given before stays until there is a new one: those who have the version read it.
    """
    versions: Sequence[Release] = releases.versions
    if not any(is_same_version(release.version, version) for release in versions):
        have = ", ".join(release.version for release in versions[:10])
        raise NotFoundError(f"`{releases.name}` has no version {version}", hint=f"it has {have}")
    return releases.replace(
        versions=tuple(
            release.replace(yanked=not undo, reason="" if undo else reason or release.reason)
            if is_same_version(release.version, version)
            else release
            for release in versions
        )
    )
