"""Where a skill is to come from: the value forms of a manifest, and back."""

from typing import Any, Literal, assert_never

from skillpm.core.decoder import Node, unknown_key
from skillpm.core.digest import parse_digest
from skillpm.core.git_syntax import clean_url, is_commit, is_ref
from skillpm.core.names import SkillName, path_fault
from skillpm.core.suggestions import near
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.core.versions import RANGE_HINT, is_range
from skillpm.errors import DocumentError
from skillpm.formats.index_sources import site_address
from skillpm.formats.pin import archive_address

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
    def site(self) -> str:
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


FORMS = ("git", "path", "bundled", "url", "version")


def read_table(name: SkillName, node: Node) -> Source:
    """Read the object form of a requirement."""
    if node.get("git") is not None:
        return _git_source(node)
    if (path := node.get("path")) is not None:
        node.only("path", "link")
        link = node.get("link")
        return PathSource(path=path.path(), link=link is not None and link.flag())
    if (bundled := node.get("bundled")) is not None:
        node.only("bundled")
        if bundled.value is not True:
            bundled.expected("true")
        return BundledSource(name=name)
    if (url := node.get("url")) is not None:
        node.only("url", "digest")
        digest = node.get("digest")
        checked = "" if digest is None else parse_digest(digest.value, where=digest.where)
        return UrlSource(url=archive_address(url), digest=checked)
    if node.get("version") is not None:
        node.only("version", "index")
        return IndexSource(name=name, version=checked_range(node.need("version")), index=_index(node.get("index")))
    for key, member in node.items():
        if similar := near(key, FORMS):
            raise unknown_key(member, key, similar)
    return node.expected("a requirement with git, path, bundled, url or version")


def _index(node: Node | None) -> str:
    """Give an index by its name, or by its address as all documents keep it."""
    if node is None:
        return ""
    return site_address(node) if "://" in node.text() else node.text()


def checked_range(node: Node) -> str:
    """Give a version range that has the form of one."""
    if not is_range(node.text()):
        raise DocumentError(
            f"`{show(node.text(), 80)}` is no version range",
            where=node.where,
            hint=RANGE_HINT,
        )
    return node.text().strip()


def _git_source(node: Node) -> GitSource:
    node.only("git", "path", "skill", "rev", "tag", "branch", "version")
    given: list[RefKind] = [kind for kind in ("rev", "tag", "branch", "version", "any") if kind in node.value]
    if len(given) > 1:
        raise DocumentError(f"at most one of {', '.join(given)} may be given", where=node.where)
    kind: RefKind = given[0] if given else ""
    url = node.need("git")
    return GitSource(
        url=clean_url(url.text(), fail=DocumentError, where=url.where),
        path=clean_folder(node.text_or("path"), where=f"{node.where}.path"),
        skill=node.text_or("skill"),
        kind=kind,
        ref=checked_ref(kind, node.need(kind)) if kind else "",
    )


def clean_folder(text: str, *, where: str, fail: type[DocumentError] = DocumentError) -> str:
    """Give a folder in a repository without `./` and slashes around it; `.` is the repository's top."""
    folder = text.strip().removeprefix("./").strip("/")
    if folder in {"", "."}:
        return "." if text.strip() else ""
    if fault := path_fault(folder):
        raise fail(f"the path {fault}", where=where)
    return folder


def checked_ref(kind: RefKind, node: Node) -> str:
    """Check a ref by its kind."""
    text = node.text()
    if kind == "version":
        return checked_range(node)
    if kind == "rev" and not is_commit(text):
        node.expected("a whole commit id (40 hex digits)")
    if kind in {"tag", "branch"} and not is_ref(text):
        node.expected(f"the name of a {kind}")
    return text
