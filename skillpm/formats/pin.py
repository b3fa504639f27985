"""Pins: exact sources, recorded for each skill in lockfiles and receipts."""

from typing import Any, assert_never

from skillpm.core.decoder import JsonNode
from skillpm.core.digest import is_content_hash
from skillpm.core.git_syntax import is_commit, is_ref, normalize_git_url, normalize_web_url, short_commit
from skillpm.core.names import parse_skill_name, path_problem
from skillpm.core.values import Value
from skillpm.errors import DocumentError


class GitPin(Value):
    """A folder at a commit of a repository."""

    url: str
    commit: str
    # The git tree id of the folder.
    tree: str
    path: str = "."
    # Where the commit was found: `HEAD`, `refs/heads/…`, `refs/tags/…`; empty if it was requested by id.
    ref: str = "HEAD"


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


Pin = GitPin | PathPin | BundledPin | UrlPin | IndexPin


def pin_value(pin: Pin) -> dict[str, Any]:
    """Return a pin as JSON."""
    match pin:
        case GitPin():
            value = {"git": pin.url, "commit": pin.commit, "tree": pin.tree, "path": pin.path}
            return {**value, "ref": pin.ref} if pin.ref else value
        case PathPin():
            return {"path": pin.path, "link": True} if pin.link else {"path": pin.path}
        case BundledPin():
            return {"bundled": pin.name}
        case UrlPin():
            return {"url": pin.url, "sha256": pin.sha256}
        case IndexPin():
            return {"index": pin.index, "url": pin.url, "sha256": pin.sha256}
        case _:
            assert_never(pin)


def read_pin(node: JsonNode) -> Pin:
    """Parse a pin. Raises `DocumentError`, also for an unknown key."""
    if node.get("git") is not None:
        return _read_git_pin(node)
    if (path := node.get("path")) is not None:
        node.check_keys("path", "link")
        link = node.get("link")
        return PathPin(path=path.path(), link=link is not None and link.flag())
    if (name := node.get("bundled")) is not None:
        node.check_keys("bundled")
        return BundledPin(name=parse_skill_name(name.text(), where=name.where))
    if node.get("url") is not None:
        node.check_keys("index", "url", "sha256")
        sha256, index = node.require("sha256"), node.get("index")
        if not is_content_hash(sha256.value):
            sha256.raise_expected("64 hex digits")
        if index is None:
            return UrlPin(url=read_archive_location(node.require("url")), sha256=sha256.text())
        return IndexPin(
            index=read_archive_location(index), url=read_archive_location(node.require("url")), sha256=sha256.text()
        )
    return node.raise_expected("a source: git, path, bundled or url")


def pin_origin(pin: Pin) -> tuple[str, str]:
    """Return the kind and the address of a pin's source, without the version.

    A lockfile is only trusted for origins that the manifest names.
    """
    match pin:
        case GitPin():
            return ("git", pin.url)
        case PathPin():
            return ("path", pin.path)
        case BundledPin():
            return ("bundled", pin.name)
        case UrlPin():
            return ("url", pin.url)
        case IndexPin():
            return ("index", pin.index)
        case _:
            assert_never(pin)


def describe_pin(pin: Pin) -> str:
    """Return a pin as text: `git+https://…@commit#subdirectory=…`, `bundled:x`, a URL or a path."""
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
        case _:
            assert_never(pin)


def read_archive_location(node: JsonNode) -> str:
    """Return the address of an archive: a local file, or a web address without user info."""
    return node.path() if node.text().startswith(("./", "../", "/", "~/")) else _read_web_url(node)


def summarize_pin(pin: Pin) -> str:
    """Return a pin for messages: as `describe_pin`, but a repository with a short commit id."""
    if isinstance(pin, GitPin):
        return f"{pin.url} at {short_commit(pin.commit)}"
    return describe_pin(pin)


def _read_web_url(node: JsonNode) -> str:
    return normalize_web_url(node.text(), error_type=DocumentError, where=node.where)


def _read_git_pin(node: JsonNode) -> GitPin:
    node.check_keys("git", "commit", "tree", "path", "ref")
    url, commit, tree, path, ref = (
        node.require("git"),
        node.require("commit"),
        node.require("tree"),
        node.require("path"),
        node.get("ref"),
    )
    for part in (commit, tree):
        if not is_commit(part.text()):
            part.raise_expected("a full id (40 or 64 hex digits)")
    if path.text() != "." and (problem := path_problem(path.text())):
        raise DocumentError(f"the path {problem}", where=path.where)
    if ref is not None and ref.text() != "HEAD":
        name = ref.text().removeprefix("refs/heads/").removeprefix("refs/tags/")
        if name == ref.text() or not is_ref(name):
            ref.raise_expected("HEAD, refs/heads/… or refs/tags/…")
    return GitPin(
        url=normalize_git_url(url.text(), error_type=DocumentError, where=url.where),
        commit=commit.text(),
        tree=tree.text(),
        path=path.text(),
        ref="" if ref is None else ref.text(),
    )
