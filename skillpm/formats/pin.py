"""Pins: exact sources, recorded for each skill in lockfiles and receipts."""

import posixpath
from typing import Any, assert_never

from skillpm.core.decoder import JsonNode
from skillpm.core.git_syntax import is_commit, is_ref, normalize_git_url, normalize_web_url, short_commit
from skillpm.core.names import PACKAGE_KINDS, PackageKind, normalize_package_name, path_problem
from skillpm.core.text import HIDDEN, sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError

MAX_FILE_PATTERNS = 100
MAX_PATTERN_LENGTH = 1_000
MAX_WILDCARDS = 6


class GitPin(Value):
    """A folder at a commit of a repository."""

    url: str
    commit: str
    # The git tree id of the folder.
    tree: str
    path: str = "."
    # Where the commit was found: `HEAD`, `refs/heads/…`, `refs/tags/…`; empty if it was requested by id.
    ref: str = "HEAD"
    # Patterns that choose files of the folder; empty for all.
    files: tuple[str, ...] = ()

    @property
    def follows_branch(self) -> bool:
        """Whether the commit was found on a branch."""
        return self.ref == "HEAD" or self.ref.startswith("refs/heads/")


class PathPin(Value):
    """A local folder, copied (its digest is locked) or linked live (it has no digest)."""

    path: str
    link: bool = False


class BundledPin(Value):
    """A skill that ships with skillpm."""

    name: str


class UrlPin(Value):
    """An archive or a single file at a URL, with the SHA-256 of its bytes."""

    url: str
    sha256: str


class IndexPin(Value):
    """A version of a skill in an index: the URL of the index, and that of the archive with its SHA-256."""

    index: str
    url: str
    sha256: str


class PackagePin(Value):
    """A folder in a version of an installed package."""

    kind: PackageKind
    package: str
    # Below site-packages, or in the npm package; `.` is the package itself.
    path: str
    version: str = ""


class OciPin(Value):
    """A manifest in a repository of an OCI registry, and its layer, by their digests."""

    repository: str
    # Empty if the digest was asked for.
    tag: str = ""
    manifest: str
    layer: str
    # The digest that was asked for, if it is that of an index that lists the manifest.
    index: str = ""


Pin = GitPin | PathPin | BundledPin | UrlPin | IndexPin | PackagePin | OciPin


def pin_value(pin: Pin) -> dict[str, Any]:
    """Return a pin as JSON."""
    match pin:
        case GitPin():
            value = {"git": pin.url, "commit": pin.commit, "tree": pin.tree, "path": pin.path}
            more = {"ref": pin.ref, "files": [*pin.files]}
            return value | {key: part for key, part in more.items() if part}
        case PathPin():
            return {"path": pin.path, "link": True} if pin.link else {"path": pin.path}
        case BundledPin():
            return {"bundled": pin.name}
        case UrlPin():
            return {"url": pin.url, "sha256": pin.sha256}
        case IndexPin():
            return {"index": pin.index, "url": pin.url, "sha256": pin.sha256}
        case PackagePin():
            version = {"version": pin.version} if pin.version else {}
            return {pin.kind: pin.package, **version, "path": pin.path}
        case OciPin():
            value = {"oci": pin.repository, "tag": pin.tag, "index": pin.index}
            return {key: part for key, part in value.items() if part} | {"manifest": pin.manifest, "layer": pin.layer}
        case _:
            assert_never(pin)


def read_pin(node: JsonNode) -> Pin:
    """Parse a pin. Raises `DocumentError`, also for an unknown key."""
    if node.get("git") is not None:
        return _read_git_pin(node)
    for kind in PACKAGE_KINDS:
        if (package := node.get(kind)) is not None:
            node.check_keys(kind, "version", "path")
            return PackagePin(
                kind=kind,
                package=read_package_name(kind, package),
                path=_read_folder(node.require("path")),
                version=node.text_or("version"),
            )
    if node.get("oci") is not None:
        return _read_oci_pin(node)
    if (path := node.get("path")) is not None:
        node.check_keys("path", "link")
        return PathPin(path=path.path(), link=node.flag_or("link"))
    if (name := node.get("bundled")) is not None:
        node.check_keys("bundled")
        return BundledPin(name=name.skill_name())
    if node.get("url") is not None:
        node.check_keys("index", "url", "sha256")
        sha256, url = node.require("sha256").content_hash(), read_archive_location(node.require("url"))
        if (index := node.get("index")) is not None:
            return IndexPin(index=read_archive_location(index), url=url, sha256=sha256)
        return UrlPin(url=url, sha256=sha256)
    return node.raise_expected("a source: git, path, bundled, url, oci, env or npm")


def describe_pin(pin: Pin) -> str:
    """Return a pin as text: `git+https://…@commit#subdirectory=…`, `bundled:x`, `env:package@x`, a URL or a path."""
    match pin:
        case GitPin():
            folder = "" if pin.path == "." else f"#subdirectory={pin.path}"
            return f"git+{pin.url}@{pin.commit}{folder}"
        case PathPin():
            return f"link:{pin.path}" if pin.link else pin.path
        case BundledPin():
            return f"bundled:{pin.name}"
        case UrlPin() | IndexPin():
            return pin.url
        case PackagePin():
            skill = "" if pin.path == "." else f"@{posixpath.basename(pin.path)}"
            return f"{pin.kind}:{pin.package}{skill}"
        case OciPin():
            return f"oci://{pin.repository}{f':{pin.tag}' if pin.tag else f'@{pin.manifest}'}"
        case _:
            assert_never(pin)


def read_archive_location(node: JsonNode) -> str:
    """Return the address of an archive: a local file, or a web address without user info."""
    if node.text().startswith(("./", "../", "/", "~/")):
        return node.path()
    return normalize_web_url(node.text(), error_type=DocumentError, where=node.where)


def summarize_pin(pin: Pin) -> str:
    """Return a pin for messages: as `describe_pin`, but a repository with a short commit id."""
    if isinstance(pin, GitPin):
        return f"{pin.url} at {short_commit(pin.commit)}"
    return describe_pin(pin)


def _read_git_pin(node: JsonNode) -> GitPin:
    node.check_keys("git", "commit", "tree", "path", "ref", "files")
    url, commit, tree, path = (node.require(key) for key in ("git", "commit", "tree", "path"))
    ref = node.get("ref")
    for part in (commit, tree):
        if not is_commit(part.text()):
            part.raise_expected("a full id (40 or 64 hex digits)")
    if ref is not None and ref.text() != "HEAD":
        name = ref.text().removeprefix("refs/heads/").removeprefix("refs/tags/")
        if name == ref.text() or not is_ref(name):
            ref.raise_expected("HEAD, refs/heads/… or refs/tags/…")
    return GitPin(
        url=read_git_url(url),
        commit=commit.text(),
        tree=tree.text(),
        path=_read_folder(path),
        ref=node.text_or("ref"),
        files=read_file_patterns(node.get("files")),
    )


def _read_oci_pin(node: JsonNode) -> OciPin:
    from skillpm.formats.oci.reference import (  # noqa: PLC0415  (few skills are in registries)
        read_manifest_digest,
        read_repository,
        read_tag,
    )

    node.check_keys("oci", "tag", "index", "manifest", "layer")
    tag, index = node.get("tag"), node.get("index")
    return OciPin(
        repository=read_repository(node.require("oci")),
        tag="" if tag is None else read_tag(tag),
        index="" if index is None else read_manifest_digest(index),
        manifest=read_manifest_digest(node.require("manifest")),
        layer=read_manifest_digest(node.require("layer")),
    )


def _read_folder(node: JsonNode) -> str:
    """Return a folder in a repository or a package; `.` is the top."""
    if node.text() != "." and (problem := path_problem(node.text())):
        raise DocumentError(f"the path {problem}", where=node.where)
    return node.text()


def read_package_name(kind: PackageKind, node: JsonNode) -> str:
    """Return the name of an installed package, normalized. Raises `DocumentError`."""
    return normalize_package_name(kind, node.text()) or node.raise_expected("the name of a package")


def read_git_url(node: JsonNode) -> str:
    """Return the URL of a repository, normalized. Raises `DocumentError`."""
    try:
        return normalize_git_url(node.text(), error_type=DocumentError)
    except DocumentError as error:
        error.where = error.where or node.where
        raise


def read_file_patterns(node: JsonNode | None) -> tuple[str, ...]:
    """Return patterns in the syntax of `.gitignore`; none if there is no node.

    They become regular expressions, in which each further `*` multiplies the time of a failing match.
    """
    if node is None:
        return ()
    patterns = node.texts()
    if not patterns or len(patterns) > MAX_FILE_PATTERNS:
        node.raise_expected(f"1 to {MAX_FILE_PATTERNS} patterns")
    for pattern in patterns:
        is_blank = pattern.strip("! ") == "" or pattern.startswith("#")
        if (
            is_blank
            or len(pattern) > MAX_PATTERN_LENGTH
            or pattern.count("*") > MAX_WILDCARDS
            or HIDDEN.search(pattern)
        ):
            message = f"invalid pattern `{sanitize(pattern, 80)}`"
            hint = f'patterns are written as in .gitignore, with at most {MAX_WILDCARDS} `*`: "references/**"'
            raise DocumentError(message, where=node.where, hint=hint)
    return patterns
