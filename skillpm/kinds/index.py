"""Versions of skills in indexes, and in sites, which are indexes that a requirement names by URL."""

import re
from typing import Any, Self

from skillpm.core.git_syntax import normalize_web_url
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError
from skillpm.kinds.base import (
    Pin,
    Place,
    Source,
    SpecOptions,
    check_range,
    is_local,
    read_archive_location,
    read_range,
    web_address,
)

# Documents of an index whose URL users paste from a browser.
INDEX_DOCUMENTS = (".well-known/agent-skills/index.json", ".well-known/skills/index.json", "index.json")


class IndexSource(Source):
    """A version range, looked up in the indexes, and last among the bundled skills."""

    name: str
    version: str = "*"
    # Name or URL of the only index to query; empty for all.
    index: str = ""
    # Of a dependency: the URL of the site of the skill that requires it, which is queried instead of all indexes.
    site: str = ""

    scheme = "index"
    has_open_version = True

    def to_json(self) -> Any:
        return {"version": self.version, "index": self.index} if self.index else self.version

    def describe(self) -> str:
        return self.index_url or f"an index or the bundled skills ({self.version})"

    def phrase(self) -> str:
        url = self.index_url or self.site
        index = f" from {sanitize(url or f'index {self.index}')}" if self.index or url else ""
        return f" {sanitize(self.version, 60)}{index}" if self.version != "*" else index

    def skill_spec(self, spec: str, name: str) -> str:
        return shell_word(f"{self.index_url}@{name}")

    @property
    def is_open(self) -> bool:
        return not self.index

    @property
    def is_specific(self) -> bool:
        return self.index_url != ""

    @property
    def required_name(self) -> str:
        return self.name if self.index_url else ""

    @property
    def index_url(self) -> str:
        return self.index if "://" in self.index else ""

    @property
    def index_name(self) -> str:
        return "" if self.index_url else self.index

    @property
    def inherited_site(self) -> str:
        return self.site

    def inherit_site(self, url: str) -> Self:
        return self if self.index else self.replace(site=url)

    def place(self) -> Place:
        return index_place(self.index_url)

    def server_url(self) -> str:
        return self.index_url or self.site

    def private_location(self) -> str:
        return "" if not self.index_url or self.index_url.startswith("https://") else self.index_url

    def admits(self, pin: Pin) -> bool:
        if isinstance(pin, IndexPin):
            return self.index_url in {"", pin.index}
        return not self.index and pin.bundled_name == self.name

    @property
    def version_range(self) -> str:
        return self.version

    def with_range(self, text: str) -> Self:
        return self.replace(version=text)

    def without_range(self) -> Self:
        return self.replace(version="*")

    @property
    def names_skill(self) -> bool:
        return self.index_url != ""

    def with_index(self, name: str) -> Self | None:
        return self.replace(index=name)

    def with_options(self, options: SpecOptions, spec: str) -> Self | None:
        if not self.index_url or not options.has_only_ref or options.ref_kind != "version":
            return None
        return self.replace(version=check_range(options.ref))


class IndexPin(Pin):
    """A version of a skill in an index: the URL of the index, and that of the archive with its SHA-256."""

    index: str
    url: str
    sha256: str

    scheme = "index"
    has_signatures_beside = True

    def to_json(self) -> dict[str, Any]:
        return {"index": self.index, "url": self.url, "sha256": self.sha256}

    def describe(self) -> str:
        return self.url

    def version_spec(self, name: str, version: str) -> str:
        return f"{name}@{version}"

    @property
    def index_url(self) -> str:
        return self.index

    def place(self) -> Place:
        return index_place(self.index)

    def server_url(self) -> str:
        return self.index

    @property
    def is_remote(self) -> bool:
        return not is_local(self.url)

    def origin(self) -> str:
        return self.index

    def store_variant(self) -> str:
        return self.sha256

    def claim(self, name: str, version: str) -> tuple[str, ...]:
        return name, version, self.index, self.url, self.sha256


def index_place(url: str) -> Place:
    """Return the place of an index."""
    return Place(table="indexes", address=url and web_address(url))


def read_source(name: SkillName, node: JsonNode) -> IndexSource:
    """Parse the object of a requirement."""
    node.check_keys("version", "index")
    version, index = read_range(node.require("version")), node.get("index")
    if index is None:
        return IndexSource(name=name, version=version)
    return IndexSource(
        name=name, version=version, index=normalize_site_url(index) if "://" in index.text() else index.text()
    )


def read_pin(node: JsonNode) -> IndexPin:
    """Parse the object of a lockfile or a receipt."""
    node.check_keys("index", "url", "sha256")
    sha256, url = node.require("sha256").content_hash(), read_archive_location(node.require("url"))
    return IndexPin(index=read_archive_location(node.require("index")), url=url, sha256=sha256)


def normalize_site_url(node: JsonNode) -> str:
    """Return the base URL of an index, with a final slash, from its URL or that of one of its documents."""
    url = re.sub(r"[?].*", "", normalize_web_url(node.text(), error_type=DocumentError, where=node.where)).rstrip("/")
    for ending in INDEX_DOCUMENTS:
        if url.endswith(f"/{ending}"):
            url = url.removesuffix(ending)
            break
    return url.rstrip("/") + "/"
