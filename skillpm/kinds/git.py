"""Folders of git repositories."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Self

from skillpm.core.digest import content_hash
from skillpm.core.git_syntax import (
    abbreviate_url,
    is_commit,
    is_ref,
    normalize_git_url,
    server_of,
    short_commit,
    ssh_url,
)
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName, path_problem
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import HIDDEN, sanitize
from skillpm.core.versions import is_version
from skillpm.errors import DocumentError, UsageError
from skillpm.kinds.base import Pin, Place, RefKind, Source, SpecOptions, check_range, read_folder, read_range

KEYS = ("git", "path", "skill", "rev", "tag", "branch", "version", "files")
DEFAULT_REF = "HEAD"  # the default branch, which is what a source without a ref means
TAGS, BRANCHES = "refs/tags/", "refs/heads/"
MAX_FILE_PATTERNS = 100
MAX_PATTERN_LENGTH = 1_000
MAX_WILDCARDS = 6
FOLDER_MODE, EXECUTABLE_MODE = "040000", "100755"
LINK_TARGET = lazy_pattern(r"(?:040000|100644|100755) ([0-9a-f]{40}(?:[0-9a-f]{24})?)", re.ASCII)
# Folders of skills and plugins, of which none is versioned as a whole.
COLLECTIONS = ("skills", "plugins", "packages")
# The pages of forges that compare two commits, by host; `{0}` is the old one, `{1}` the new one.
COMPARE_PATHS = {
    "github.com": "/compare/{0}...{1}",
    "gitlab.com": "/-/compare/{0}...{1}",
    "codeberg.org": "/compare/{0}...{1}",
    "bitbucket.org": "/branches/compare/{1}..{0}",
}
REPOSITORY_PATH = lazy_pattern(r"[\w.~-]+(?:/[\w.~-]+)+", re.ASCII)


class GitSource(Source):
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

    scheme = "git"

    def to_json(self) -> Any:
        value = {"git": self.url, "path": self.path, "skill": self.skill, self.kind: self.ref}
        chosen = {"files": [*self.files]} if self.files else {}
        return {key: part for key, part in value.items() if part} | chosen

    def describe(self) -> str:
        at = f"#{self.ref}" if self.ref else ""
        return f"{self.url}{at} ({self.path})" if self.path not in {"", "."} else f"{self.url}{at}"

    def phrase(self) -> str:
        folder = f" ({sanitize(self.path, 80)})" if self.path not in {"", "."} else ""
        is_any = self.ref in {"", "*"}
        ref = "" if is_any else f" {self.ref}" if self.kind == "version" else f" at {self.ref}"
        return f"{sanitize(ref, 80)} from {sanitize(self.url)}{folder}"

    def place(self) -> Place:
        return Place(table="sources", address=git_address(self.url))

    def server_url(self) -> str:
        return self.url

    def private_location(self) -> str:
        return "" if is_encrypted(self.url) else self.url

    @property
    def repository_path(self) -> str:
        return self.path

    def admits(self, pin: Pin) -> bool:
        if not isinstance(pin, GitPin) or pin.url != self.url or pin.files != self.files:
            return False
        if self.path and self.path != pin.path:
            return False
        if self.kind == "rev":
            return pin.commit == self.ref and pin.ref == ""
        if self.kind == "version":
            return pin.ref.startswith(TAGS)
        expected = {"tag": f"{TAGS}{self.ref}", "branch": f"{BRANCHES}{self.ref}", "": DEFAULT_REF}
        return self.kind == "any" or pin.ref == expected[self.kind]

    def mismatch(self, pin: Pin) -> str:
        if not isinstance(pin, GitPin) or self.url != pin.url:
            return ""
        if self.path and self.path != pin.path:
            return f"the folder `{sanitize(self.path)}`"
        if self.files != pin.files:
            return f"{', '.join(f'`{sanitize(each, 40)}`' for each in self.files[:3]) or 'all'} of its files"
        commit = f"commit {short_commit(self.ref)}"
        return {"rev": commit, "": "the default branch"}.get(self.kind, f"{self.kind} {sanitize(self.ref)}")

    def is_same_skill(self, other: Source) -> bool:
        return self.is_same_folder(other)

    def is_same_folder(self, other: Source | None) -> bool:
        # If only one of them has a path, that is where the other is assumed to find the skill by its name.
        return (
            isinstance(other, GitSource)
            and self.url == other.url
            and (self.path == other.path or not (self.path and other.path))
            and (self.skill == other.skill or not (self.skill and other.skill))
            and (self.files == other.files or not (self.files and other.files))
        )

    def covers(self, other: Source | None) -> bool:
        # It may specify more: a path where the other finds the skill by its name.
        return (
            isinstance(other, GitSource)
            and (self.kind, self.ref) == (other.kind, other.ref)
            and self.is_same_folder(other)
            and (self.path == other.path or not other.path)
            and (self.skill == other.skill or not other.skill or self.path != "")
            and (self.files == other.files or not other.files)
        )

    @property
    def has_open_version(self) -> bool:
        return self.kind == "version"

    @property
    def version_range(self) -> str:
        return self.ref if self.kind == "version" else "*"

    def with_range(self, text: str) -> Self:
        return self.replace(ref=text) if self.kind == "version" else self

    def without_range(self) -> Self:
        return self.with_range("*")

    def select(self, skill: str) -> Self | None:
        return None if self.skill else self.replace(skill=skill)

    @property
    def names_skill(self) -> bool:
        return self.skill != ""

    def with_options(self, options: SpecOptions, spec: str) -> Self | None:
        if options.link:
            return None
        source = self
        if options.ref_kind:
            if self.ref:
                raise ref_conflict(options.ref_kind, spec)
            source = source._with_option(options, spec)
        if options.path:
            source = source.replace(path=options.path.strip("/").removeprefix("./") or ".")
        if options.files:
            source = source.replace(files=read_file_patterns(JsonNode(list(options.files), "--files")))
        return source

    def _with_option(self, options: SpecOptions, spec: str) -> Self:
        if options.ref_kind == "rev" and not is_commit(options.ref):
            raise UsageError(
                f"`{sanitize(options.ref)}` is not a full commit ID",
                hint="use all 40 digits, or --tag or --branch",
            )
        if options.ref_kind != "version":
            return self.with_ref(options.ref, spec).replace(kind=options.ref_kind)
        return self.replace(kind="version", ref=check_range(options.ref))

    def with_ref(self, ref: str, spec: str) -> Self:
        """Return it at a ref of unknown kind: a commit if it looks like one, else a tag or a branch."""
        if ref in {"", DEFAULT_REF}:
            return self
        kind: RefKind = "rev" if is_commit(ref) else "any"
        if kind == "any" and not is_ref(ref):
            raise UsageError(f"`{sanitize(spec)}`: invalid ref `{sanitize(ref)}`")
        return self.replace(kind=kind, ref=ref)


class GitPin(Pin):
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
    # The files and folders elsewhere in the repository that links of the folder lead to, sorted by path: mode and id of
    # each, as in its git tree.
    links: tuple[tuple[str, str], ...] = ()

    scheme = "git"
    is_remote = True

    @property
    def objects(self) -> tuple[tuple[str, str], ...]:
        """What the commit has at the paths of the pin: the folder, and all that its links lead to."""
        return (self.path, f"{FOLDER_MODE} {self.tree}"), *self.links

    @property
    def follows_branch(self) -> bool:
        """Whether the commit was found on a branch."""
        return self.ref == DEFAULT_REF or self.ref.startswith(BRANCHES)

    @property
    def branch_label(self) -> str:
        """The branch, for messages."""
        return "the default branch" if self.ref == DEFAULT_REF else f"branch {sanitize(self.ref[len(BRANCHES) :], 60)}"

    def to_json(self) -> dict[str, Any]:
        value = {"git": self.url, "commit": self.commit, "tree": self.tree, "path": self.path}
        more = {"ref": self.ref, "files": [*self.files], "links": dict(self.links)}
        return value | {key: part for key, part in more.items() if part}

    def describe(self) -> str:
        folder = "" if self.path == "." else f"#subdirectory={self.path}"
        return f"git+{self.url}@{self.commit}{folder}"

    def summarize(self) -> str:
        return f"{self.url} at {short_commit(self.commit)}"

    def label(self) -> str:
        return short_commit(self.commit)

    def describe_change(self, old: Pin) -> str:
        if not isinstance(old, GitPin) or (old.url, old.path) != (self.url, self.path):
            return super().describe_change(old)
        if not self.ref:
            return "now pinned by commit"
        if tag := self.tagged()[0]:
            return f"now at tag {sanitize(tag, 60)}"
        ref = sanitize(self.ref.removeprefix(BRANCHES), 60)
        return f"now follows {'the default branch' if ref == DEFAULT_REF else ref}"

    @property
    def commit_id(self) -> str:
        return self.commit

    def place(self) -> Place:
        return Place(table="sources", address=git_address(self.url))

    def server_url(self) -> str:
        return self.url

    def origin(self) -> str:
        return self.url

    def has_same_content(self, other: Pin) -> bool:
        return isinstance(other, GitPin) and (
            (self.url, self.tree, self.files, self.links) == (other.url, other.tree, other.files, other.links)
        )

    def tagged(self) -> tuple[str, str]:
        return (self.ref.removeprefix(TAGS), self.commit) if self.ref.startswith(TAGS) else ("", "")

    def is_beside(self, other: Pin) -> bool:
        if not isinstance(other, GitPin) or self.url != other.url or self.files:
            return False
        if other.ref == "":
            return self.commit == other.commit
        return self.ref.startswith(TAGS) if other.ref.startswith(TAGS) else self.ref == other.ref

    def sibling_spec(self, name: str) -> str:
        if self.path == ".":
            return ""
        ref = self.ref.removeprefix(BRANCHES).removeprefix(TAGS) or self.commit
        return abbreviate_url(self.url) + (f"#{ref}" if ref != DEFAULT_REF else "") + f"@{name}"

    def sibling_source(self, version_range: str = "") -> GitSource:
        if version_range:
            return GitSource(url=self.url, path=self.path, kind="version", ref=version_range)
        return GitSource(url=self.url, path=self.path, kind="rev", ref=self.commit)

    def compare_url(self, old: Pin) -> str:
        if not isinstance(old, GitPin) or old.url != self.url or old.commit == self.commit:
            return ""
        host = server_of(self.url)
        separator = "/" if "://" in self.url else ":"
        path = self.url.partition("://")[2] or self.url
        path = path.partition(separator)[2].strip("/").removesuffix(".git")
        template = COMPARE_PATHS["gitlab.com"] if host.startswith("gitlab.") else COMPARE_PATHS.get(host, "")
        if not template or not REPOSITORY_PATH.fullmatch(path) or {"..", "."} & {*path.split("/")}:
            return ""
        return f"https://{host}/{path}{template.format(old.commit, self.commit)}"

    def store_variant(self) -> str:
        if not self.files and not self.links:
            return self.tree
        # An entry is what patterns choose of the tree, and has what its links lead to.
        links = (f"{path} {target}" for path, target in self.links)
        return content_hash("\n".join([self.tree, *self.files, *links]).encode())

    def claim(self, name: str, version: str) -> tuple[str, ...]:
        # Without the ref, since it moves: the commit is what counts.
        return (
            self.url, self.commit, self.path, self.tree, *self.files,
            *(f"{target} {place}" for place, target in self.links),
        )  # fmt: skip

    def choose_version(self, name: str, declared: str, version: str, warn: Callable[[str], None]) -> str:
        tag = self.tagged()[0]
        names = {name, declared}.union(*tag_prefixes(name, self.path, self.url)) if tag else set()
        from_tag = parse_tag_version(tag, names)
        if from_tag and version and from_tag != version:
            warn(f"{sanitize(name)}: the tag says version {sanitize(from_tag)}, SKILL.md says {sanitize(version)}")
        return from_tag or sanitize(version, 60)


def is_encrypted(url: str) -> bool:
    """Return whether the URL of a repository, or `USER@HOST:PATH`, cannot be tampered with in transit."""
    return url.startswith(("https://", "ssh://")) or ("://" not in url and "@" in url.partition(":")[0])


def git_address(url: str) -> str:
    """Return the address of a repository in places: with a scheme, or as a path."""
    if url.startswith("file://"):
        return f"path:{url.removeprefix('file://')}"
    server, _, path = url.partition(":")
    return url if "://" in url else ssh_url(server, path)


def ref_conflict(kind: str, spec: str) -> UsageError:
    """Return the error for an option that names a ref beside a SPEC that has one."""
    return UsageError(f"`{sanitize(spec)}` already has a ref, which conflicts with --{kind}")


def tag_prefixes(name: str, path: str, url: str) -> list[set[str]]:
    """Return the names with which tags of a skill's versions may begin, each more general than the one before.

    Those of the skill, then of each folder or plugin that holds it, then of the repository. Any other name is that of
    something else in the repository, whose versions are not those of the skill.
    """
    *folders, last = [part for part in path.split("/") if part not in {"", "."}] or [""]
    holders = [folder for folder in reversed(folders) if folder not in COLLECTIONS and not folder.startswith(".")]
    repository = url.rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")
    return [{name, last} - {""}, *({folder} for folder in holders), {repository}]


def parse_tag_version(tag: str, names: set[str]) -> str:
    """Return the version in a tag (`v1.2.0`, `pdf-v1.2.0`, `pdf@1.2.0`), or an empty string."""
    candidates = [tag]
    for name in names - {""}:
        candidates.extend(
            tag.removeprefix(name + separator)
            for separator in ("--", "-", "@", "/")
            if tag.startswith(name + separator)
        )
    for text in reversed(candidates):
        bare = text.removeprefix("v")
        if bare[:1].isdigit() and is_version(bare):
            return bare
    return ""


def read_source(_: SkillName, node: JsonNode) -> GitSource:
    """Parse the object of a requirement."""
    return read_repository_folder(node)


def read_repository_folder(node: JsonNode, keys: Sequence[str] = KEYS) -> GitSource:
    """Parse a folder in a repository, given by an object with these keys."""
    node.check_keys(*keys)
    given: list[RefKind] = [kind for kind in ("rev", "tag", "branch", "version", "any") if kind in node.value]
    if len(given) > 1:
        raise DocumentError(f"{', '.join(given)} cannot be combined", where=node.where)
    kind: RefKind = given[0] if given else ""
    return GitSource(
        url=read_git_url(node.require("git")),
        path=_read_source_folder(node.get("path")),
        skill=node.text_or("skill"),
        kind=kind,
        ref=_read_ref(kind, node.require(kind)) if kind else "",
        files=read_file_patterns(node.get("files")),
    )


def _read_source_folder(node: JsonNode | None) -> str:
    """Return a folder in a repository without leading `./` and surrounding slashes; `.` is the top level."""
    text = "" if node is None else node.text().strip()
    folder = text.removeprefix("./").strip("/")
    if node is None or folder in {"", "."}:
        return "." if text else ""
    if problem := path_problem(folder):
        raise DocumentError(f"the path {problem}", where=node.where)
    return folder


def _read_ref(kind: RefKind, node: JsonNode) -> str:
    text = node.text()
    if kind == "version":
        return read_range(node)
    if kind == "rev" and not is_commit(text):
        node.raise_expected("a full commit id (40 hex digits)")
    if kind in {"tag", "branch"} and not is_ref(text):
        node.raise_expected(f"the name of a {kind}")
    return text


def read_pin(node: JsonNode) -> GitPin:
    """Parse the object of a lockfile or a receipt."""
    node.check_keys("git", "commit", "tree", "path", "ref", "files", "links")
    url, commit, tree, path = (node.require(key) for key in ("git", "commit", "tree", "path"))
    ref = node.get("ref")
    for part in (commit, tree):
        if not is_commit(part.text()):
            part.raise_expected("a full id (40 or 64 hex digits)")
    if ref is not None and ref.text() != DEFAULT_REF:
        name = ref.text().removeprefix(BRANCHES).removeprefix(TAGS)
        if name == ref.text() or not is_ref(name):
            ref.raise_expected("HEAD, refs/heads/… or refs/tags/…")
    return GitPin(
        url=read_git_url(url),
        commit=commit.text(),
        tree=tree.text(),
        path=read_folder(path),
        ref=node.text_or("ref"),
        files=read_file_patterns(node.get("files")),
        links=_read_links(node.get("links")),
    )


def _read_links(node: JsonNode | None) -> tuple[tuple[str, str], ...]:
    links: list[tuple[str, str]] = []
    for path, target in () if node is None else node.items():
        if problem := path_problem(path):
            raise DocumentError(f"the path `{sanitize(path, 80)}` {problem}", where=target.where)
        if LINK_TARGET.fullmatch(target.text()) is None:
            target.raise_expected("040000, 100644 or 100755, and a full object id")
        links.append((path, target.text()))
    return tuple(sorted(links))


def read_git_url(node: JsonNode) -> str:
    """Return the URL of a repository, normalized. Raises `DocumentError`."""
    try:
        return normalize_git_url(node.text(), error_type=DocumentError)
    except DocumentError as error:
        error.where = error.where or node.where
        raise


def read_file_patterns(node: JsonNode | None) -> tuple[str, ...]:
    """Return patterns in the syntax of `.gitignore`; none without a node.

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
