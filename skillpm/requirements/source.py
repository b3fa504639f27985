"""Sources of skills, and their value forms in a manifest."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, assert_never

from skillpm.core.decoder import JsonNode, unknown_key_error
from skillpm.core.git_syntax import is_commit, is_ref
from skillpm.core.names import PackageKind, SkillName, path_problem
from skillpm.core.suggestions import closest_matches
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import RANGE_HINT, is_range
from skillpm.errors import DocumentError
from skillpm.formats.index_sources import normalize_site_url
from skillpm.formats.oci.reference import read_manifest_digest, read_repository, read_tag
from skillpm.formats.pin import read_archive_location, read_file_patterns, read_git_url, read_package_name

RefKind = Literal["", "rev", "tag", "branch", "version", "any"]


class GitSource(Value):
    """A folder in a git repository."""

    url: str
    # Empty if the folder is found by `skill`.
    path: str = ""
    # The name of the folder, or the declared name in its SKILL.md.
    skill: str = ""
    # What `ref` is: a commit, a tag, a branch, or a range over tags; `any` if the user did not say.
    kind: RefKind = ""
    ref: str = ""
    # Patterns that choose files of the folder; empty for all.
    files: tuple[str, ...] = ()


class PathSource(Value):
    """A local folder, as written in the manifest; `link` makes it a live link."""

    path: str
    link: bool = False


class BundledSource(Value):
    """A skill that ships with skillpm."""

    name: str


class IndexSource(Value):
    """A version range, looked up in the indexes, and last among the bundled skills."""

    name: str
    version: str = "*"
    # Name or URL of the only index to query; empty for all.
    index: str = ""
    # Of a dependency: the URL of the site of the skill that requires it, which is queried instead of all indexes.
    site: str = ""

    @property
    def index_url(self) -> str:
        """The URL of the index, if it is not given by name."""
        return self.index if "://" in self.index else ""


class UrlSource(Value):
    """An archive or single file at a URL, or a site with an index of skills."""

    url: str
    digest: str = ""


class PackageSource(Value):
    """A skill of an installed package: a distribution of the virtual environment, or a package in node_modules."""

    kind: PackageKind
    # Empty in a SPEC that means all installed packages.
    package: str
    # The folder of one of several skills, if it is not named like the requirement.
    skill: str = ""


class OciSource(Value):
    """A skill in a repository of an OCI registry, or one of a collection there."""

    # `HOST[:PORT]/PATH`.
    repository: str
    # What `ref` is: a range over tags, a tag, or the digest of a manifest; empty for the newest version.
    kind: Literal["", "version", "tag", "digest"] = ""
    ref: str = ""
    # One of a collection, if it is not named like the requirement.
    skill: str = ""


Source = GitSource | PathSource | BundledSource | IndexSource | UrlSource | PackageSource | OciSource


def requirement_value(source: Source) -> Any:
    """Return a source in the value form of a manifest. Two requirements are the same if their values are equal."""
    match source:
        case GitSource():
            value = {"git": source.url, "path": source.path, "skill": source.skill, source.kind: source.ref}
            chosen = {"files": [*source.files]} if source.files else {}
            return {key: part for key, part in value.items() if part} | chosen
        case PathSource():
            return {"path": source.path, "link": True} if source.link else {"path": source.path}
        case BundledSource():
            return {"bundled": True}
        case IndexSource():
            return {"version": source.version, "index": source.index} if source.index else source.version
        case UrlSource():
            return {"url": source.url, "digest": source.digest} if source.digest else {"url": source.url}
        case PackageSource():
            return {source.kind: source.package} | ({"skill": source.skill} if source.skill else {})
        case OciSource():
            value = {"oci": source.repository, source.kind: source.ref, "skill": source.skill}
            return {key: part for key, part in value.items() if part}
        case _:
            assert_never(source)


def is_read_each_time(source: Source) -> bool:
    """Return whether a source has no versions to choose from, only the content that is on this machine now."""
    return isinstance(source, PathSource | PackageSource)


def read_table(name: SkillName, node: JsonNode) -> Source:
    """Parse the object form of a requirement."""
    for key, read in READERS.items():
        if node.get(key) is not None:
            return read(name, node)
    for key, member in node.items():
        if similar := closest_matches(key, [*READERS]):
            raise unknown_key_error(member, key, similar)
    return node.raise_expected("a requirement with git, path, bundled, url, oci, version, env or npm")


def _read_path(_: SkillName, node: JsonNode) -> PathSource:
    node.check_keys("path", "link")
    return PathSource(path=node.require("path").path(), link=node.flag_or("link"))


def _read_bundled(name: SkillName, node: JsonNode) -> BundledSource:
    node.check_keys("bundled")
    if (bundled := node.require("bundled")).value is not True:
        bundled.raise_expected("true")
    return BundledSource(name=name)


def _read_url(_: SkillName, node: JsonNode) -> UrlSource:
    node.check_keys("url", "digest")
    digest = node.get("digest")
    return UrlSource(url=read_archive_location(node.require("url")), digest="" if digest is None else digest.digest())


def _read_package(kind: PackageKind, node: JsonNode) -> PackageSource:
    node.check_keys(kind, "skill")
    return PackageSource(kind=kind, package=read_package_name(kind, node.require(kind)), skill=node.text_or("skill"))


def _read_version(name: SkillName, node: JsonNode) -> IndexSource:
    node.check_keys("version", "index")
    return IndexSource(name=name, version=read_range(node.require("version")), index=_read_index(node.get("index")))


def read_oci_source(_: SkillName, node: JsonNode) -> OciSource:
    """Parse a repository of a registry, given by an object."""
    node.check_keys("oci", "version", "tag", "digest", "skill")
    given = [key for key in ("version", "tag", "digest") if key in node.value]
    if len(given) > 1:
        raise DocumentError(f"{', '.join(given)} cannot be combined", where=node.where)
    source = OciSource(repository=read_repository(node.require("oci")), skill=node.text_or("skill"))
    match given:
        case ["version"]:
            return source.replace(kind="version", ref=read_range(node.require("version")))
        case ["tag"]:
            return source.replace(kind="tag", ref=read_tag(node.require("tag")))
        case ["digest"]:
            return source.replace(kind="digest", ref=read_manifest_digest(node.require("digest")))
    return source


def _read_index(node: JsonNode | None) -> str:
    """Return the name of an index, or its normalized URL."""
    if node is None:
        return ""
    return normalize_site_url(node) if "://" in node.text() else node.text()


def read_range(node: JsonNode) -> str:
    """Return a version range. Raises `DocumentError` for an invalid one."""
    if not is_range(node.text()):
        message = f"invalid version range `{sanitize(node.text(), 80)}`"
        raise DocumentError(message, where=node.where, hint=RANGE_HINT)
    return node.text().strip()


GIT_KEYS = ("git", "path", "skill", "rev", "tag", "branch", "version", "files")


def read_git_source(node: JsonNode, keys: Sequence[str] = GIT_KEYS) -> GitSource:
    """Parse a folder in a repository, given by an object with these keys."""
    node.check_keys(*keys)
    given: list[RefKind] = [kind for kind in ("rev", "tag", "branch", "version", "any") if kind in node.value]
    if len(given) > 1:
        raise DocumentError(f"{', '.join(given)} cannot be combined", where=node.where)
    kind: RefKind = given[0] if given else ""
    return GitSource(
        url=read_git_url(node.require("git")),
        path=_read_folder(node.get("path")),
        skill=node.text_or("skill"),
        kind=kind,
        ref=read_ref(kind, node.require(kind)) if kind else "",
        files=read_file_patterns(node.get("files")),
    )


def _read_folder(node: JsonNode | None) -> str:
    """Return a folder in a repository without leading `./` and surrounding slashes; `.` is the top level."""
    text = "" if node is None else node.text().strip()
    folder = text.removeprefix("./").strip("/")
    if node is None or folder in {"", "."}:
        return "." if text else ""
    if problem := path_problem(folder):
        raise DocumentError(f"the path {problem}", where=node.where)
    return folder


READERS: Mapping[str, Callable[[SkillName, JsonNode], Source]] = {
    "git": lambda _, node: read_git_source(node),
    "path": _read_path,
    "bundled": _read_bundled,
    "url": _read_url,
    "env": lambda _, node: _read_package("env", node),
    "npm": lambda _, node: _read_package("npm", node),
    "oci": read_oci_source,
    "version": _read_version,
}


def read_ref(kind: RefKind, node: JsonNode) -> str:
    """Return a ref, validated by its kind."""
    text = node.text()
    if kind == "version":
        return read_range(node)
    if kind == "rev" and not is_commit(text):
        node.raise_expected("a full commit id (40 hex digits)")
    if kind in {"tag", "branch"} and not is_ref(text):
        node.raise_expected(f"the name of a {kind}")
    return text
