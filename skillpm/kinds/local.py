"""Local folders: copied, or linked live."""

import posixpath
from typing import Any, Self

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.kinds.base import EXAMPLES, Pin, Place, Source, SpecOptions

LINK_PREFIX = "link:"


class PathSource(Source):
    """A local folder, as written in the manifest; `link` makes it a live link."""

    path: str
    link: bool = False

    scheme = "path"
    is_read_each_time = True

    def to_json(self) -> Any:
        return {"path": self.path, "link": True} if self.link else {"path": self.path}

    def describe(self) -> str:
        return f"{self.path} (live link)" if self.link else self.path

    def place(self) -> Place:
        return Place(table="sources", address=f"path:{self.path}")

    def private_location(self) -> str:
        return self.path

    @property
    def local_path(self) -> str:
        return self.path

    def with_local_path(self, path: str) -> Self:
        return self.replace(path=path)

    @property
    def is_live_link(self) -> bool:
        return self.link

    def admits(self, pin: Pin) -> bool:
        return isinstance(pin, PathPin) and (pin.path, pin.link) == (self.path, self.link)

    def is_same_skill(self, other: Source) -> bool:
        # Only `--force` replaces a live link by a copy.
        return isinstance(other, PathSource) and self.path == other.path and self.link

    def select(self, skill: str) -> Self | None:
        return self.replace(path=posixpath.join(self.path, parse_skill_name(skill)))

    def with_options(self, options: SpecOptions, spec: str) -> Self | None:
        is_only_link = options.link and not (options.ref_kind or options.path or options.files)
        return self.replace(link=True) if is_only_link else None


class PathPin(Pin):
    """A local folder, copied (its digest is locked) or linked live (it has no digest)."""

    path: str
    link: bool = False

    scheme = "path"
    is_read_each_time = True

    def to_json(self) -> dict[str, Any]:
        return {"path": self.path, "link": True} if self.link else {"path": self.path}

    def describe(self) -> str:
        return f"{LINK_PREFIX}{self.path}" if self.link else self.path

    def label(self) -> str:
        return "link" if self.link else ""

    def place(self) -> Place:
        return Place(table="sources", address=f"path:{self.path}")

    @property
    def local_path(self) -> str:
        return self.path

    @property
    def is_live_link(self) -> bool:
        return self.link

    @property
    def local_folder(self) -> str:
        return self.path

    def sibling_spec(self, name: str) -> str:
        return posixpath.join(posixpath.dirname(self.path), name)

    def origin(self) -> str:
        return self.path

    def store_variant(self) -> str:
        return "path"


def read_source(_: SkillName, node: JsonNode) -> PathSource:
    """Parse the object of a requirement."""
    node.check_keys("path", "link")
    return PathSource(path=node.require("path").path(), link=node.flag_or("link"))


def read_pin(node: JsonNode) -> PathPin:
    """Parse the object of a lockfile or a receipt."""
    node.check_keys("path", "link")
    return PathPin(path=node.require("path").path(), link=node.flag_or("link"))


def parse_spec(spec: str) -> PathSource:
    """Parse `link:PATH`. Raises `UsageError`."""
    if spec == LINK_PREFIX:
        raise UsageError(f"invalid SPEC `{sanitize(spec)}`", hint=EXAMPLES)
    return PathSource(path=spec.removeprefix(LINK_PREFIX), link=True)
