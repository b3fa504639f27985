"""What a kind of source knows: everything else works on the two classes `Source` and `Pin`.

A skill goes through four states, and each has a type:

- written: a `Source`, in a manifest, in a SPEC or as a dependency of another skill;
- resolved: a `Pin`, which names exactly one content, in a lockfile and in a receipt;
- fetched: a file tree in the store, under the pin's `store_variant`;
- installed: a folder, whose receipt repeats the pin.

Names of methods differ from names of fields in every kind: a `Value` would take an inherited method for the default of
its field.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Literal, Self, TypeVar

from skillpm.core.git_syntax import normalize_web_url
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName, is_skill_name, path_problem
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import RANGE_HINT, is_range
from skillpm.errors import DocumentError, UsageError

EXAMPLES = "e.g. code-review, owner/repo@skill, https://github.com/owner/repo, ./folder"
RefKind = Literal["", "rev", "tag", "branch", "version", "any"]


class Place(Value):
    """A place that skills come from: the table of a policy that decides about it, and its address there.

    The address is a URL, `HOST/PATH` of an OCI repository, or `path:FOLDER`, `bundled:NAME`, `env:NAME`, `npm:NAME`. It
    is empty for an index that is not known yet.
    """

    table: Literal["sources", "indexes", "oci"]
    address: str


class SpecOptions(Value):
    """The options of `install` that replace parts of a SPEC."""

    link: bool = False
    path: str = ""
    files: tuple[str, ...] = ()
    ref_kind: RefKind = ""
    ref: str = ""

    @property
    def has_only_ref(self) -> bool:
        """Whether a ref is the only one of them."""
        return bool(self.ref_kind) and not (self.link or self.path or self.files)


class Location(Value):
    """What a source and a pin both know of where a skill comes from."""

    # The name of the kind: the key of its fetcher. Without an annotation, it does not become a field.
    scheme = ""
    # Content of this machine, without versions: read again by each command.
    is_read_each_time = False

    @abstractmethod
    def place(self) -> Place:
        """Return the place that policies and `[[trust]]` match."""

    def server_url(self) -> str:
        """Return the URL that it names; empty for a name or a folder."""
        return ""

    @property
    def local_path(self) -> str:
        """The path of its folder or file, as it is written; empty unless it is on this machine."""
        return ""

    @property
    def is_live_link(self) -> bool:
        """Whether its folder is linked, not copied: it has no digest."""
        return False

    @property
    def bundled_name(self) -> str:
        """The name under which skillpm bundles it; empty for every other kind."""
        return ""

    @property
    def index_url(self) -> str:
        """The URL of its index, if that is known; empty for every other kind."""
        return ""


class Source(Location):
    """Where a requirement says that a skill comes from."""

    # One address has several skills, which a fetcher lists by it, and from which `select` chooses.
    has_several_skills = False

    # --- text and documents

    @abstractmethod
    def to_json(self) -> Any:
        """Return the value in a manifest. Two requirements are the same if their values are equal."""

    @abstractmethod
    def describe(self) -> str:
        """Return the source for a message, with ref and folder."""

    def phrase(self) -> str:
        """Return it as it follows the name of a skill in a conflict: ` ^1.2 from …`."""
        return f" from {sanitize(self.describe())}"

    def skill_spec(self, spec: str, name: str) -> str:
        """Return the SPEC, for a shell, of one of the several skills that a SPEC means; empty for `SPEC@NAME`."""
        return ""

    @property
    def required_name(self) -> str:
        """The only name that a requirement may have: a lockfile does not record another one."""
        return ""

    @property
    def is_specific(self) -> bool:
        """Whether a manifest may have its SPEC in place of an object."""
        return True

    @property
    def package_label(self) -> str:
        """The installed package that it names: `env:NAME`."""
        return ""

    @property
    def repository_path(self) -> str:
        """The folder in a repository."""
        return ""

    # --- places

    def private_location(self) -> str:
        """Return the address if only the user's own manifest may name it: local, or not encrypted; else empty."""
        return ""

    def with_local_path(self, path: str) -> Self:
        """Return it with another spelling of that path, relative to another folder."""
        return self

    # --- identity

    @abstractmethod
    def admits(self, pin: "Pin") -> bool:
        """Return whether a locked pin comes from what this source specifies."""

    def mismatch(self, pin: "Pin") -> str:
        """Return what it specifies within the repository of a pin that it does not admit; empty for another one."""
        return ""

    def is_same_skill(self, other: "Source") -> bool:
        """Return whether another source is the same skill in the same place, whatever the version."""
        return False

    def is_same_folder(self, other: "Source | None") -> bool:
        """Return whether another source is the same folder of a repository, whatever the version."""
        return False

    def covers(self, other: "Source | None") -> bool:
        """Return whether it specifies everything that another one does, for the same folder and ref."""
        return False

    # --- versions

    @property
    def has_open_version(self) -> bool:
        """Whether it allows several versions."""
        return False

    @property
    def version_range(self) -> str:
        """The range of versions; `*` if it has none."""
        return "*"

    def with_range(self, text: str) -> Self:
        """Return it with another range, if it has one."""
        return self

    def without_range(self) -> Self:
        """Return it without its range of versions: equal results are queried once."""
        return self

    # --- parts that a user gives apart from a SPEC

    def select(self, skill: str) -> Self | None:
        """Return the source of one of its skills; None if it cannot be selected."""
        return None

    @property
    def names_skill(self) -> bool:
        """Whether its SPEC has selected a skill."""
        return False

    def without_selection(self, name: str) -> Self:
        """Return it without the selection of a skill that the name of the requirement says already."""
        return self

    def with_index(self, name: str) -> Self | None:
        """Return it with the name of the only index to query; None if the kind has no indexes."""
        return None

    def with_options(self, options: SpecOptions, spec: str) -> Self | None:
        """Return it with these options; None if the kind does not have all of them. Raises `UsageError`."""
        return None

    # --- indexes

    @property
    def is_open(self) -> bool:
        """Whether any configured index may have it: it is a range without a source."""
        return False

    @property
    def index_name(self) -> str:
        """The name of the configured index that it requires."""
        return ""

    @property
    def inherited_site(self) -> str:
        """The URL of the site in which it is looked up, since a skill of it requires this one."""
        return ""

    def inherit_site(self, url: str) -> Self:
        """Return a dependency of a skill of a site: looked up there, unless it names a source itself."""
        return self


class Pin(Location):
    """An exact source, with which a lockfile and a receipt record a skill."""

    # The server names content by its digest, so that no proof is kept beside the store.
    is_content_addressed = False
    # Signatures may be published beside the content.
    has_signatures_beside = False

    # --- text and documents

    @abstractmethod
    def to_json(self) -> Mapping[str, Any]:
        """Return the object in a lockfile and a receipt. Keys and their order never change."""

    @abstractmethod
    def describe(self) -> str:
        """Return it as one word that a person and a policy can copy: `git+https://…@commit#subdirectory=…`."""

    def summarize(self) -> str:
        """Return it for a message: as `describe`, with what is long shortened."""
        return self.describe()

    def label(self) -> str:
        """Return what names the state of a skill without a version: a short commit, `link`; empty for its digest."""
        return ""

    def describe_change(self, old: "Pin") -> str:
        """Return what differs from an old pin of the same content."""
        return f"now from {sanitize(self.summarize(), 80)}"

    def version_spec(self, name: str, version: str) -> str:
        """Return the SPEC of another version of a skill; empty if the source has no versions to name."""
        return ""

    @property
    def commit_id(self) -> str:
        """The commit."""
        return ""

    @property
    def package_name(self) -> str:
        """The name of the installed package, whose version is that of its skills."""
        return ""

    # --- places

    @property
    def is_remote(self) -> bool:
        """Whether it is fetched from a server, so that it can be mirrored."""
        return False

    @property
    def local_folder(self) -> str:
        """The path of its folder; empty unless it is a folder of this machine."""
        return ""

    # --- identity

    @abstractmethod
    def origin(self) -> str:
        """Return what one request can ask about several skills: the repository, the index, the folder."""

    def has_same_content(self, other: "Pin") -> bool:
        """Return whether only the commit or the tag differs: that is not a newer version of the skill."""
        return False

    def tagged(self) -> tuple[str, str]:
        """Return the tag under which it was found, and the commit or manifest it meant; both empty without one."""
        return "", ""

    def compare_url(self, old: "Pin") -> str:
        """Return the page of a forge that compares it with an old pin; empty if none is known."""
        return ""

    # --- siblings: other folders of a repository

    def is_beside(self, other: "Pin") -> bool:
        """Return whether it is in the repository of another pin, found in the same way, and all of a folder."""
        return False

    def sibling_spec(self, name: str) -> str:
        """Return the SPEC of a skill in the folder beside it; empty without such a place."""
        return ""

    def sibling_source(self, version_range: str = "") -> Source | None:
        """Return the source of its folder at its commit, or over a range; None without a repository."""
        return None

    # --- store

    @abstractmethod
    def store_variant(self) -> str:
        """Return what distinguishes store entries with the same digest, which does not include executable bits.

        The tree id of a git skill and the checksum of an archive or a layer do include them; the entry of a local
        folder or of an installed package is replaced each time it is read.
        """

    def claim(self, name: str, version: str) -> tuple[str, ...]:
        """Return what a lockfile claims: that this source has some content. Empty for a local source."""
        return ()

    def choose_version(self, name: str, declared: str, version: str, warn: Callable[[str], None]) -> str:
        """Return the version that the package or the tag says, else `version`, the one in SKILL.md."""
        return sanitize(version, 60)


P = TypeVar("P", bound=Pin)


def of_kind(kind: type[P], pins: Mapping[SkillName, Pin]) -> dict[SkillName, P]:
    """Return the pins of one kind, for a feature that only this kind has."""
    return {name: pin for name, pin in pins.items() if isinstance(pin, kind)}


def is_local(url: str) -> bool:
    """Return whether the address of an index or an archive is a local path."""
    return "://" not in url


def web_address(url: str) -> str:
    """Return the address of an index or an archive in places."""
    return f"path:{url}" if is_local(url) else url


def check_name(name: str, spec: str) -> str:
    """Return the name of a skill in a SPEC. Raises `UsageError`."""
    if not is_skill_name(name):
        raise UsageError(f"`{sanitize(spec)}`: invalid skill name `{sanitize(name)}`", hint=EXAMPLES)
    return name


def check_range(text: str) -> str:
    """Return the version range of an option. Raises `UsageError` for an invalid one."""
    if not is_range(text):
        raise UsageError(f"invalid version range `{sanitize(text)}`", hint=RANGE_HINT)
    return text.strip()


def read_range(node: JsonNode) -> str:
    """Return a version range. Raises `DocumentError` for an invalid one."""
    if not is_range(node.text()):
        message = f"invalid version range `{sanitize(node.text(), 80)}`"
        raise DocumentError(message, where=node.where, hint=RANGE_HINT)
    return node.text().strip()


def read_folder(node: JsonNode) -> str:
    """Return a folder in a repository or a package; `.` is the top."""
    if node.text() != "." and (problem := path_problem(node.text())):
        raise DocumentError(f"the path {problem}", where=node.where)
    return node.text()


def read_archive_location(node: JsonNode) -> str:
    """Return the address of an archive: a local file, or a web address without user info."""
    if node.text().startswith(("./", "../", "/", "~/")):
        return node.path()
    return normalize_web_url(node.text(), error_type=DocumentError, where=node.where)
