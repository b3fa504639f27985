"""Merge new releases into those of an index. No I/O: `index_builder` writes the result."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillpm.core.digest import content_hash, shorten_distinct_digests
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SIGNATURE_FILE, SkillName
from skillpm.core.suggestions import list_some
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import NotFoundError, RefusedError, SkillpmError
from skillpm.formats.index_catalog import CatalogSkill
from skillpm.formats.index_releases import PublishedSignature, Release, SkillReleases, is_same_version, newest_first
from skillpm.publishing.index.tarball import pack_archive
from skillpm.skillmd.skill import Skill, read_skill
from skillpm.skillmd.validation import validate_skill
from skillpm.trust.statement import find_mismatch

DEFAULT_CATEGORY = "general"


class NewRelease(Value):
    """A version of a skill to publish."""

    name: SkillName
    version: str
    tree: FileTree
    # For messages: the path, or the repository and the tag.
    origin: str
    # UTC, ISO 8601; empty if unknown.
    published: str = ""
    dependencies: Mapping[str, Any] = EMPTY_MAPPING
    # The version is the day of a commit, and says nothing if the content is that of the newest published version.
    is_from_history: bool = False


def find_errors(tree: FileTree, folder: str) -> list[str]:
    """Return the violations of the specification in a skill, as `SKILL.md:3: message`."""
    result = validate_skill(tree.read(tree.skill_file) or b"", folder, [file.path for file in tree.files])
    return [f"{tree.skill_file}:{item.line}: {item.message}" for item in result.findings if item.level == "error"]


def version_mismatch_message(origin: str, version: str, skill: Skill) -> str:
    """Return a warning if a skill declares another version than it is published as; else, or if it declares none, "".

    `apply_release_version` warns everyone who installs such a skill.
    """
    if not skill.version or skill.version.removeprefix("v") == version:
        return ""
    own = sanitize(skill.version, 60)
    return f"{origin} says version {sanitize(version, 60)}, SKILL.md says {own}; users who install it are warned"


class MergedReleases:
    """The releases of an index after a build. Existing ones are never changed.

    `store_archive` is called with the path and the bytes of each new archive; `read_archive` returns the content of a
    published version.
    """

    def __init__(
        self,
        existing: Mapping[SkillName, SkillReleases],
        store_archive: Callable[[str, bytes], None],
        read_archive: Callable[[SkillName, Release], FileTree],
    ) -> None:
        self.added: list[str] = []
        # Published versions that got a further signature.
        self.signed: list[str] = []
        self._releases = {name: list(skill.versions) for name, skill in existing.items()}
        self._store_archive = store_archive
        self._read_archive = read_archive
        self._conflicts: list[tuple[NewRelease, Release]] = []
        self._origins: dict[tuple[SkillName, str], str] = {}
        self._last_archive: tuple[FileTree | None, bytes] = (None, b"")

    def add(self, new_release: NewRelease) -> None:
        """Add a release. One that is already published with the same content is ignored, but for its signature."""
        versions = self._releases.setdefault(new_release.name, [])
        if new_release.is_from_history and versions and self._is_published(new_release, newest_first(versions)[0]):
            return
        same = (release for release in versions if is_same_version(release.version, new_release.version))
        if existing := next(same, None):
            if not self._is_published(new_release, existing):
                self._conflicts.append((new_release, existing))
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

    def _is_published(self, new_release: NewRelease, existing: Release) -> bool:
        """Return whether a published version has these files, whoever signed them; keep a new signature beside it."""
        if existing.digest == new_release.tree.digest:
            return True
        if (new_release.name, existing.version) in self._origins:
            return False
        try:
            published = self._read_archive(new_release.name, existing)
        except SkillpmError:  # its archive is elsewhere or damaged
            return False
        signature = find_new_signature(published, new_release.tree)
        if signature is None:
            return False
        checksum = content_hash(signature)
        if signature and checksum not in {each.sha256 for each in existing.signatures}:
            path = signature_path(new_release.name, existing.version, checksum)
            added = PublishedSignature(url=path, sha256=checksum, size=len(signature))
            versions = self._releases[new_release.name]
            # The newest one first: readers take a limited number.
            versions[versions.index(existing)] = existing.replace(signatures=(added, *existing.signatures))
            self._store_archive(path, signature)
            self.signed.append(f"{new_release.name} {existing.version}")
        return True

    def discard(self, name: SkillName, version: str) -> None:
        """Leave out a version that was added."""
        self._releases[name] = [release for release in self._releases[name] if release.version != version]
        self.added.remove(f"{name} {version}")

    def merge(self) -> dict[SkillName, SkillReleases]:
        """Return the releases of each skill. Raises `RefusedError` for an existing version with other content."""
        if self._conflicts:
            message, hint = self._describe_conflict(*self._conflicts[0])
            more = f"; and {len(self._conflicts) - 1} more" if len(self._conflicts) > 1 else ""
            raise RefusedError(f"{message}{more}", hint=f"{hint}; nothing was written")
        return {name: skill for name, skill in self.preview().items() if skill.versions}

    def preview(self) -> dict[SkillName, SkillReleases]:
        """Return the releases of each skill, regardless of conflicts; those of which all were discarded have none."""
        return {
            name: SkillReleases(name=name, versions=newest_first(self._releases[name]))
            for name in sorted(self._releases)
        }

    def drop_conflicts(self) -> list[tuple[NewRelease, str]]:
        """Leave out the releases that conflict with published ones, which stay; return them with the reason."""
        old = [pair for pair in self._conflicts if (pair[0].name, pair[1].version) not in self._origins]
        self._conflicts = [pair for pair in self._conflicts if pair not in old]
        return [(new, self._describe_conflict(new, existing)[0]) for new, existing in old]

    def _describe_conflict(self, new_release: NewRelease, existing: Release) -> tuple[str, str]:
        """Return message and hint."""
        other = self._origins.get((new_release.name, existing.version))
        if other is not None:
            places = f"{sanitize(other)} and {sanitize(new_release.origin)}"
            message = f"`{new_release.name}` {existing.version} has different content in two places: {places}"
            return message, "remove one of them, or change its name or version"
        difference = f"{self._describe_difference(new_release, existing)} in {sanitize(new_release.origin)}"
        hint = (
            "a published version never changes: increase the version, pass --skip-invalid to publish the others, or "
            "build into an empty folder if the index is not in use yet"
        )
        return f"`{new_release.name}` {existing.version} is already published with other content: {difference}", hint

    def _describe_difference(self, new_release: NewRelease, existing: Release) -> str:
        """Return the names of the files that differ; the digests if the archive cannot be read here."""
        try:
            published = self._read_archive(new_release.name, existing)
        except SkillpmError:  # its archive is elsewhere or damaged
            return " and ".join(shorten_distinct_digests(existing.digest, new_release.tree.digest))
        return describe_changed_files(published, new_release.tree)

    def _pack(self, tree: FileTree) -> bytes:
        """Return the archive of a tree; consecutive versions with the same tree share it."""
        if self._last_archive[0] is not tree:
            self._last_archive = tree, pack_archive(tree)
        return self._last_archive[1]


def find_new_signature(published: FileTree, new: FileTree) -> bytes | None:
    """Return the signature of a skill that is published already; empty if it has none that is valid and new.

    None if it is not what is published: another file differs than the signature.
    """
    if published.without(SIGNATURE_FILE).digest != new.without(SIGNATURE_FILE).digest:
        return None
    signature = new.read(SIGNATURE_FILE)
    is_new = signature is not None and signature != published.read(SIGNATURE_FILE)
    return signature if signature is not None and is_new and not find_mismatch(new) else b""


def describe_changed_files(published: FileTree, new: FileTree) -> str:
    """Return the names of the files that differ; empty if none does."""
    before = {file.path: (file.data, file.executable) for file in published.files}
    after = {file.path: (file.data, file.executable) for file in new.files}
    differing = {
        "changed": sorted(path for path in before.keys() & after.keys() if before[path] != after[path]),
        "new": sorted(after.keys() - before.keys()),
        "gone": sorted(before.keys() - after.keys()),
    }
    return ", ".join(f"{sanitize(list_some(paths, 3), 300)} {how}" for how, paths in differing.items() if paths)


def archive_path(name: str, version: str) -> str:
    """Return the path of an archive in an index."""
    return f"archives/{name}-{version}.tar.gz"


def signature_path(name: str, version: str, checksum: str) -> str:
    """Return the path of a signature beside an archive in an index; other content has another path."""
    return f"archives/{name}-{version}.{checksum[:16]}.oms.sig"


def build_summary(name: SkillName, version: str, tree: FileTree) -> CatalogSkill:
    """Return the catalog entry of a skill."""
    skill = read_skill(tree.read(tree.skill_file) or b"")
    return CatalogSkill(
        name=name,
        description=skill.description,
        category=skill.category or DEFAULT_CATEGORY,
        tags=skill.tags,
        latest=version,
    )


def set_yanked(releases: SkillReleases, version: str, *, reason: str = "", undo: bool = False) -> SkillReleases:
    """Return the releases with a version yanked, or no longer yanked. Raises `NotFoundError`.

    Without `reason`, an earlier reason is kept: users of the version are shown it.
    """
    versions: Sequence[Release] = releases.versions
    if not any(is_same_version(release.version, version) for release in versions):
        available = ", ".join(release.version for release in versions[:10])
        raise NotFoundError(f"`{releases.name}`: no version {version}", hint=f"available: {available}")
    return releases.replace(
        versions=tuple(
            release.replace(yanked=not undo, reason="" if undo else reason or release.reason)
            if is_same_version(release.version, version)
            else release
            for release in versions
        )
    )
