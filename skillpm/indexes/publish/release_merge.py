"""What an index will say: old versions stay as they are, new ones join them. Rules only; `building` writes it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillpm.core.digest import content_hash
from skillpm.core.file_tree import Tree
from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.values import NOTHING, Value
from skillpm.errors import NotFoundError, RefusedError
from skillpm.formats.index_catalog import Summary
from skillpm.formats.index_releases import Release, Releases, newest_first, same_version
from skillpm.indexes.publish.tarball import pack
from skillpm.skillmd.skill import Skill, read_skill
from skillpm.skillmd.validation import judge

GENERAL = "general"


class Made(Value):
    """A version of a skill that is to be published. `came_from` is for messages."""

    name: SkillName
    version: str
    tree: Tree
    came_from: str
    published: str = ""
    dependencies: Mapping[str, Any] = NOTHING


def faults(tree: Tree, folder: str) -> list[str]:
    """Say in what a skill does not keep the specification: `SKILL.md:3: …`, nothing where it is valid."""
    verdict = judge(tree.read(tree.skill_file) or b"", folder, [file.path for file in tree.files])
    return [f"{tree.skill_file}:{item.line}: {item.message}" for item in verdict.findings if item.level == "error"]


def other_version(who: str, version: str, skill: Skill) -> str:
    """Say that a skill says another version than the one it is offered as, which `agreeing` tells all who install it;
    nothing where it says the same, or none.
    """
    if not skill.version or skill.version.removeprefix("v") == version:
        return ""
    own = show(skill.version, 60)
    return f"{who} says version {show(version, 60)}, SKILL.md says {own}; whoever installs it is warned"


class Edition:
    """The versions of an index as they will be: those it has stay as they are, and new ones join them one by one.

    `keep` is given each new archive with its path from the index.
    """

    def __init__(self, old: Mapping[SkillName, Releases], keep: Callable[[str, bytes], None]) -> None:
        self.added: list[str] = []
        self._releases = {name: list(skill.versions) for name, skill in old.items()}
        self._keep = keep
        self._changed: list[tuple[Made, Release]] = []
        self._came_from: dict[tuple[SkillName, str], str] = {}
        self._packed: tuple[Tree | None, bytes] = (None, b"")

    def add(self, made: Made) -> None:
        """Let a version join, or find that it is there."""
        versions = self._releases.setdefault(made.name, [])
        there = next((release for release in versions if same_version(release.version, made.version)), None)
        if there is not None:
            if there.digest != made.tree.digest:
                self._changed.append((made, there))
            return
        data, path = self._pack(made.tree), archive_path(made.name, made.version)
        versions.append(
            Release(
                version=made.version,
                url=path,
                digest=made.tree.digest,
                sha256=content_hash(data),
                size=len(data),
                dependencies=made.dependencies,
                requires=read_skill(made.tree.read(made.tree.skill_file) or b"").requires.bins,
                published=made.published,
            )
        )
        self._keep(path, data)
        self.added.append(f"{made.name} {made.version}")
        self._came_from[made.name, made.version] = made.came_from

    def releases(self) -> dict[SkillName, Releases]:
        """Give all versions of each skill. Raises `RefusedError` for a version whose content is not what it was."""
        if self._changed:
            raise self._refusal(*self._changed[0])
        return {
            name: Releases(name=name, versions=newest_first(self._releases[name]))
            for name in sorted(self._releases)
            if self._releases[name]
        }

    def _refusal(self, made: Made, there: Release) -> RefusedError:
        more = f"; and {len(self._changed) - 1} more" if len(self._changed) > 1 else ""
        other = self._came_from.get((made.name, there.version))
        if other is not None:
            return RefusedError(
                f"`{made.name}` {there.version} would come from two places with different content: "
                f"{show(other)} and {show(made.came_from)}{more}",
                hint="leave one of them out, or give one another name or version; nothing was written",
            )
        return RefusedError(
            f"`{made.name}` {there.version} is published already, with other content: "
            f"{there.digest} there, {made.tree.digest} in {show(made.came_from)}{more}",
            hint="a version never changes: give the new content a new version, or build into an empty folder where "
            "nobody has it yet; nothing was written",
        )

    def _pack(self, tree: Tree) -> bytes:
        """Pack a tree, once for all versions in a row that have this very content."""
        if self._packed[0] is not tree:
            self._packed = tree, pack(tree)
        return self._packed[1]


def archive_path(name: str, version: str) -> str:
    """Give where an archive lies in an index."""
    return f"archives/{name}-{version}.tar.gz"


def summary_of(name: SkillName, version: str, tree: Tree) -> Summary:
    """Give what the catalogue says of a skill."""
    skill = read_skill(tree.read(tree.skill_file) or b"")
    return Summary(
        name=name,
        description=skill.description,
        category=skill.category or GENERAL,
        tags=skill.tags,
        latest=version,
    )


def yanked(releases: Releases, version: str, *, reason: str = "", back: bool = False) -> Releases:
    """Take a version out of what is offered, or put it back. Whoever has it locked gets it in any case.

    A reason that was given before stays until there is a new one: those who have the version read it.
    """
    versions: Sequence[Release] = releases.versions
    if not any(same_version(release.version, version) for release in versions):
        have = ", ".join(release.version for release in versions[:10])
        raise NotFoundError(f"`{releases.name}` has no version {version}", hint=f"it has {have}")
    return releases.but(
        versions=tuple(
            release.but(yanked=not back, reason="" if back else reason or release.reason)
            if same_version(release.version, version)
            else release
            for release in versions
        )
    )
