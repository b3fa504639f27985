"""Where a skill is to come from: the value forms of a manifest, and back."""

from typing import Any, Literal, assert_never

from skillpm.core.decoder import JsonNode, unknown_key_error
from skillpm.core.digest import parse_digest
from skillpm.core.git_syntax import is_commit, is_ref, normalize_git_url
from skillpm.core.names import SkillName, path_problem
from skillpm.core.suggestions import closest_matches
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import RANGE_HINT, is_range
from skillpm.errors import DocumentError
from skillpm.formats.index_sources import normalize_site_url
from skillpm.formats.pin import read_archive_location

RefKind = Literal["", "rev", "tag", "branch", "version", "any"]


class GitSource(Value):
    """A folder in a git repository. Without `path` it is found by `skill`, the folder's or the declared name.

    `kind` says what `ref` is: a commit, a tag, a branch, a range over tags; `any` where the person did not say.
    """

    url: str
    path: str = ""
    skill: str = ""
    kind: RefKind = ""
    ref: str = ""


class PathSource(Value):
    """A folder on this machine, as written in the manifest; `link` makes it a live link."""

    path: str
    link: bool = False


class BundledSource(Value):
    """A skill that ships with the tool."""

    name: str


class IndexSource(Value):
    """A version range, to be looked up in the indexes, and last among the bundled skills.

    `index` is the only one to be asked: by its name, or by its address where nobody gave it one.
    """

    name: str
    version: str = "*"
    index: str = ""

    @property
    def index_url(self) -> str:
        """The address of the index, where it is named so."""
        return self.index if "://" in self.index else ""


class UrlSource(Value):
    """An archive or single file at a URL, or a site with an index."""

    url: str
    digest: str = ""


Source = GitSource | PathSource | BundledSource | IndexSource | UrlSource


def requirement_value(source: Source) -> Any:
    """Give a source in the value form of a manifest; equal values mean equal requirements."""
    match source:
        case GitSource():
            value = {"git": source.url, "path": source.path, "skill": source.skill, source.kind: source.ref}
            return {key: part for key, part in value.items() if part}
        case PathSource():
            return {"path": source.path, "link": True} if source.link else {"path": source.path}
        case BundledSource():
            return {"bundled": True}
        case IndexSource():
            return {"version": source.version, "index": source.index} if source.index else source.version
        case UrlSource():
            return {"url": source.url, "digest": source.digest} if source.digest else {"url": source.url}
        case _:
            assert_never(source)


SOURCE_KEYS = ("git", "path", "bundled", "url", "version")


def read_table(name: SkillName, node: JsonNode) -> Source:
    """Read the object form of a requirement."""
    if node.get("git") is not None:
        return _read_git_source(node)
    if (path := node.get("path")) is not None:
        node.check_keys("path", "link")
        link = node.get("link")
        return PathSource(path=path.path(), link=link is not None and link.flag())
    if (bundled := node.get("bundled")) is not None:
        node.check_keys("bundled")
        if bundled.value is not True:
            bundled.raise_expected("true")
        return BundledSource(name=name)
    if (url := node.get("url")) is not None:
        node.check_keys("url", "digest")
        digest = node.get("digest")
        checked = "" if digest is None else parse_digest(digest.value, where=digest.where)
        return UrlSource(url=read_archive_location(url), digest=checked)
    if node.get("version") is not None:
        node.check_keys("version", "index")
        return IndexSource(name=name, version=read_range(node.require("version")), index=_read_index(node.get("index")))
    for key, member in node.items():
        if similar := closest_matches(key, SOURCE_KEYS):
            raise unknown_key_error(member, key, similar)
    return node.raise_expected("a requirement with git, path, bundled, url or version")


def _read_index(node: JsonNode | None) -> str:
    """Give an index by its name, or by its address as all documents keep it."""
    if node is None:
        return ""
    return normalize_site_url(node) if "://" in node.text() else node.text()


def read_range(node: JsonNode) -> str:
    """Give a version range that has the form of one."""
    if not is_range(node.text()):
        raise DocumentError(
            f"`{sanitize(node.text(), 80)}` is no version range",
            where=node.where,
            hint=RANGE_HINT,
        )
    return node.text().strip()


def _read_git_source(node: JsonNode) -> GitSource:
    node.check_keys("git", "path", "skill", "rev", "tag", "branch", "version")
    given: list[RefKind] = [kind for kind in ("rev", "tag", "branch", "version", "any") if kind in node.value]
    if len(given) > 1:
        raise DocumentError(f"at most one of {', '.join(given)} may be given", where=node.where)
    kind: RefKind = given[0] if given else ""
    url = node.require("git")
    return GitSource(
        url=normalize_git_url(url.text(), error_type=DocumentError, where=url.where),
        path=normalize_folder(node.text_or("path"), where=f"{node.where}.path"),
        skill=node.text_or("skill"),
        kind=kind,
        ref=read_ref(kind, node.require(kind)) if kind else "",
    )


def normalize_folder(text: str, *, where: str, error_type: type[DocumentError] = DocumentError) -> str:
    """Give a folder in a repository without `./` and slashes around it; `.` is the repository's top."""
    folder = text.strip().removeprefix("./").strip("/")
    if folder in {"", "."}:
        return "." if text.strip() else ""
    if fault := path_problem(folder):
        raise error_type(f"the path {fault}", where=where)
    return folder


def read_ref(kind: RefKind, node: JsonNode) -> str:
    """Check a ref by its kind."""
    text = node.text()
    if kind == "version":
        return read_range(node)
    if kind == "rev" and not is_commit(text):
        node.raise_expected("a whole commit id (40 hex digits)")
    if kind in {"tag", "branch"} and not is_ref(text):
        node.raise_expected(f"the name of a {kind}")
    return text
