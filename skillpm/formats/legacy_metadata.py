"""Metadata of a skill from a hand-written registry that its SKILL.md lacks: found by `migrate`, kept in the receipt."""

from typing import Any

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.system_requirements import SystemRequirements
from skillpm.core.values import Value

TEXT_KEYS = ("category", "description", "version")
# The kinds of requirements: the key in documents, and the field of `SystemRequirements`.
REQUIREMENT_KINDS = {kind: kind for kind in ("bins", "env", "config", "os", "mcp", "notes")} | {"anyBins": "any_bins"}


class LegacyMetadata(Value):
    """The metadata of one skill; the registry adds it to that of its SKILL.md."""

    triggers: tuple[str, ...] = ()
    category: str = ""
    description: str = ""
    version: str = ""
    requires: SystemRequirements = SystemRequirements()
    user_only: bool = False

    @property
    def present_keys(self) -> tuple[str, ...]:
        """The names of the fields that are set, for messages."""
        fields = {
            "triggers": self.triggers,
            "category": self.category,
            "description": self.description,
            "version": self.version,
            "needs": self.requires != SystemRequirements(),
            "userOnly": self.user_only,
        }
        return tuple(key for key, value in fields.items() if value)


def read_legacy_metadata(node: JsonNode) -> LegacyMetadata:
    """Parse the metadata of one skill. Raises `DocumentError`."""
    node.check_keys("triggers", *TEXT_KEYS, "requires", "userOnly")
    requires = node.get("requires")
    return LegacyMetadata(
        triggers=node.texts_or_empty("triggers"),
        **{key: node.text_or(key) for key in TEXT_KEYS},
        requires=SystemRequirements() if requires is None else _read_requires(requires),
        user_only=node.flag_or("userOnly"),
    )


def legacy_metadata_value(metadata: LegacyMetadata) -> dict[str, Any]:
    """Return the metadata as JSON, without keys that have empty values."""
    value = {
        "triggers": list(metadata.triggers),
        **{key: getattr(metadata, key) for key in TEXT_KEYS},
        "requires": requirements_value(metadata.requires),
        "userOnly": metadata.user_only,
    }
    return {key: part for key, part in value.items() if part}


def requirements_value(requires: SystemRequirements) -> dict[str, list[str]]:
    """Return requirements as JSON, without empty kinds."""
    return {kind: list(words) for kind, field in REQUIREMENT_KINDS.items() if (words := getattr(requires, field))}


def merge_requirements(first: SystemRequirements, second: SystemRequirements) -> SystemRequirements:
    """Return the union of two requirements; the words of the first one come first."""
    return SystemRequirements(
        **{field: _merge_words(getattr(first, field), getattr(second, field)) for field in REQUIREMENT_KINDS.values()}
    )


def subtract_requirements(requirements: SystemRequirements, own: SystemRequirements) -> SystemRequirements:
    """Return the requirements without those that the skill declares itself."""
    return SystemRequirements(
        **{
            field: _subtract_words(getattr(requirements, field), getattr(own, field))
            for field in REQUIREMENT_KINDS.values()
        }
    )


def _merge_words(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*first, *second]))


def _subtract_words(words: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in own)


def _read_requires(node: JsonNode) -> SystemRequirements:
    node.check_keys(*REQUIREMENT_KINDS)
    return SystemRequirements(**{REQUIREMENT_KINDS[kind]: words.texts() for kind, words in node.items()})
