"""What an old hand-made registry said of a skill beyond its SKILL.md: `migrate` found it, the receipt keeps it."""

from typing import Any

from skillpm.core.decoder import Node
from skillpm.core.system_requirements import Requires
from skillpm.core.values import Value

TEXTS = ("category", "description", "version")
# The kinds of needs: as documents spell them, as `Requires` does.
NEEDS = {kind: kind for kind in ("bins", "env", "config", "os", "mcp", "notes")} | {"anyBins": "any_bins"}


class Inherited(Value):
    """What a skill inherited; the registry adds it to what the skill says itself."""

    triggers: tuple[str, ...] = ()
    category: str = ""
    description: str = ""
    version: str = ""
    requires: Requires = Requires()
    user_only: bool = False

    @property
    def told(self) -> tuple[str, ...]:
        """What it holds, in words."""
        facts = {
            "triggers": self.triggers,
            "category": self.category,
            "description": self.description,
            "version": self.version,
            "needs": self.requires != Requires(),
            "userOnly": self.user_only,
        }
        return tuple(fact for fact, value in facts.items() if value)


def read_inherited(node: Node) -> Inherited:
    """Read what was inherited of one skill. Raises `DocumentError`."""
    node.only("triggers", *TEXTS, "requires", "userOnly")
    triggers, requires, user_only = node.get("triggers"), node.get("requires"), node.get("userOnly")
    return Inherited(
        triggers=() if triggers is None else triggers.texts(),
        **{key: node.text_or(key) for key in TEXTS},
        requires=Requires() if requires is None else _read_requires(requires),
        user_only=user_only is not None and user_only.flag(),
    )


def inherited_value(inherited: Inherited) -> dict[str, Any]:
    """Give it as it is written."""
    value = {
        "triggers": list(inherited.triggers),
        **{key: getattr(inherited, key) for key in TEXTS},
        "requires": needs_of(inherited.requires),
        "userOnly": inherited.user_only,
    }
    return {key: part for key, part in value.items() if part}


def needs_of(requires: Requires) -> dict[str, list[str]]:
    """Give needs as documents spell them; kinds of which there are none are left out."""
    return {kind: list(words) for kind, field in NEEDS.items() if (words := getattr(requires, field))}


def joined(own: Requires, more: Requires) -> Requires:
    """Give what either needs, the first one's words first."""
    return Requires(**{field: _both(getattr(own, field), getattr(more, field)) for field in NEEDS.values()})


def without(told: Requires, own: Requires) -> Requires:
    """Give what is told to be needed and what the skill does not say itself."""
    return Requires(**{field: _without(getattr(told, field), getattr(own, field)) for field in NEEDS.values()})


def _both(own: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*own, *more]))


def _without(told: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in told if word not in own)


def _read_requires(node: Node) -> Requires:
    node.only(*NEEDS)
    return Requires(**{NEEDS[kind]: words.texts() for kind, words in node.items()})
