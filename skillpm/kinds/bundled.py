"""Skills that ship with skillpm."""

from typing import Any

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.kinds.base import Pin, Place, Source, check_name

PREFIX = "bundled:"


class BundledSource(Source):
    """A skill that ships with skillpm."""

    name: str

    scheme = "bundled"

    def to_json(self) -> Any:
        return {"bundled": True}

    def describe(self) -> str:
        return "the bundled skills"

    @property
    def required_name(self) -> str:
        return self.name

    @property
    def bundled_name(self) -> str:
        return self.name

    def place(self) -> Place:
        return Place(table="sources", address=f"{PREFIX}{self.name}")

    def admits(self, pin: Pin) -> bool:
        return pin.bundled_name == self.name


class BundledPin(Pin):
    """A skill that ships with skillpm."""

    name: str

    scheme = "bundled"

    def to_json(self) -> dict[str, Any]:
        return {"bundled": self.name}

    def describe(self) -> str:
        return f"{PREFIX}{self.name}"

    @property
    def bundled_name(self) -> str:
        return self.name

    def place(self) -> Place:
        return Place(table="sources", address=f"{PREFIX}{self.name}")

    def origin(self) -> str:
        return ""

    def store_variant(self) -> str:
        return ""


def read_source(name: SkillName, node: JsonNode) -> BundledSource:
    """Parse the object of a requirement."""
    node.check_keys("bundled")
    if (bundled := node.require("bundled")).value is not True:
        bundled.raise_expected("true")
    return BundledSource(name=name)


def read_pin(node: JsonNode) -> BundledPin:
    """Parse the object of a lockfile or a receipt."""
    node.check_keys("bundled")
    return BundledPin(name=node.require("bundled").skill_name())


def parse_spec(spec: str) -> BundledSource:
    """Parse `bundled:NAME`. Raises `UsageError`."""
    return BundledSource(name=check_name(spec.removeprefix(PREFIX), spec))
