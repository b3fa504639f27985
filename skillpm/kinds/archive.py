"""Archives and single files at a URL, or in a local file."""

from typing import Any, Self

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.kinds.base import (
    Pin,
    Place,
    Source,
    is_local,
    read_archive_location,
    web_address,
)


class UrlSource(Source):
    """An archive or single file at a URL, or a site with an index of skills."""

    url: str
    digest: str = ""

    scheme = "url"

    def to_json(self) -> Any:
        return {"url": self.url, "digest": self.digest} if self.digest else {"url": self.url}

    def describe(self) -> str:
        return self.url

    def place(self) -> Place:
        return Place(table="sources", address=web_address(self.url))

    def server_url(self) -> str:
        return self.url

    def private_location(self) -> str:
        return "" if self.url.startswith("https://") else self.url

    @property
    def local_path(self) -> str:
        return self.url if is_local(self.url) else ""

    def with_local_path(self, path: str) -> Self:
        return self.replace(url=path)

    def admits(self, pin: Pin) -> bool:
        return isinstance(pin, UrlPin) and pin.url == self.url


class UrlPin(Pin):
    """An archive or a single file at a URL, with the SHA-256 of its bytes."""

    url: str
    sha256: str

    scheme = "url"

    def to_json(self) -> dict[str, Any]:
        return {"url": self.url, "sha256": self.sha256}

    def describe(self) -> str:
        return self.url

    def place(self) -> Place:
        return Place(table="sources", address=web_address(self.url))

    def server_url(self) -> str:
        return self.url

    @property
    def is_remote(self) -> bool:
        return not is_local(self.url)

    @property
    def local_path(self) -> str:
        return self.url if is_local(self.url) else ""

    def origin(self) -> str:
        return self.url

    def store_variant(self) -> str:
        return self.sha256

    def claim(self, name: str, version: str) -> tuple[str, ...]:
        return self.url, self.sha256


def read_source(_: SkillName, node: JsonNode) -> UrlSource:
    """Parse the object of a requirement."""
    node.check_keys("url", "digest")
    digest = node.get("digest")
    return UrlSource(url=read_archive_location(node.require("url")), digest="" if digest is None else digest.digest())


def read_pin(node: JsonNode) -> UrlPin:
    """Parse the object of a lockfile or a receipt."""
    node.check_keys("index", "url", "sha256")
    sha256, url = node.require("sha256").content_hash(), read_archive_location(node.require("url"))
    return UrlPin(url=url, sha256=sha256)
