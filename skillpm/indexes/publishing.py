"""What an index will say: old versions stay as they are, new ones join them. Rules only; `building` writes it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skillpm.documents.digest import Digest, content_hash
from skillpm.documents.index import Release, Releases, Summary, newest_first, same_version
from skillpm.documents.names import SkillName
from skillpm.documents.skill import read_skill
from skillpm.documents.tree import Tree
from skillpm.documents.validity import judge
from skillpm.errors import NotFoundError, RefusedError
from skillpm.indexes.packing import pack
from skillpm.values import NOTHING, Value

GENERAL = "general"


class Made(Value):
    """A version of a skill that is to be published. `came_from` is for messages."""

    name: SkillName
    version: str
    tree: Tree
    came_from: str
    published: str = ""
    dependencies: Mapping[str, Any] = NOTHING


class Planned(Value):
    """What an index will hold: the versions of each skill, and the archives that are new (path from the index)."""

    releases: Mapping[SkillName, Releases]
    archives: Mapping[str, bytes]
    added: tuple[str, ...]


def faults(tree: Tree, folder: str) -> list[str]:
    """Say in what a skill does not keep the specification: `SKILL.md:3: …`, nothing where it is valid."""
    verdict = judge(tree.read(tree.skill_file) or b"", folder, [file.path for file in tree.files])
    return [f"{tree.skill_file}:{item.line}: {item.message}" for item in verdict.findings if item.level == "error"]


def planned(old: Mapping[SkillName, Releases], made: Iterable[Made]) -> Planned:
    """Join new versions to the old ones. Raises `RefusedError` for a version whose content is not what it was."""
    releases = {name: list(skill.versions) for name, skill in old.items()}
    archives: dict[str, bytes] = {}
    added: list[str] = []
    for item in made:
        versions = releases.setdefault(item.name, [])
        there = next((release for release in versions if same_version(release.version, item.version)), None)
        if there is not None:
            _check_same(item, there.version, there.digest)
            continue
        data, path = pack(item.tree), archive_path(item.name, item.version)
        versions.append(
            Release(
                version=item.version,
                url=path,
                digest=item.tree.digest,
                sha256=content_hash(data),
                size=len(data),
                dependencies=item.dependencies,
                requires=read_skill(item.tree.read(item.tree.skill_file) or b"").requires.bins,
                published=item.published,
            )
        )
        archives[path] = data
        added.append(f"{item.name} {item.version}")
    return Planned(
        releases={name: Releases(name=name, versions=newest_first(releases[name])) for name in sorted(releases)},
        archives=archives,
        added=tuple(sorted(added)),
    )


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
    """Take a version out of what is offered, or put it back. Whoever has it locked gets it in any case."""
    versions: Sequence[Release] = releases.versions
    if not any(same_version(release.version, version) for release in versions):
        have = ", ".join(release.version for release in versions[:10])
        raise NotFoundError(f"`{releases.name}` has no version {version}", hint=f"it has {have}")
    return releases.but(
        versions=tuple(
            release.but(yanked=not back, reason="" if back else reason)
            if same_version(release.version, version)
            else release
            for release in versions
        )
    )


def _check_same(item: Made, version: str, digest: Digest) -> None:
    if item.tree.digest != digest:
        raise RefusedError(
            f"`{item.name}` {version} is published already, with other content: "
            f"{digest} there, {item.tree.digest} in {item.came_from}",
            hint="a version never changes: give the new content a new version; nothing was written",
        )
