"""What an agent may do with which skill: ordered rules, the last that matches counts, the strictest document wins.

`deny` hides a skill everywhere, `ask` wants a person's word, `allow` is what holds where nothing matches. Rules come
from documents with an order (JSON, YAML: kept) and without one (TOML: the most specific pattern last, so that a
trailing `"*" = "allow"` silences nothing). Each document is a layer and judged by itself; of the layers' answers the
strictest counts, so a project that somebody else wrote cannot loosen what its user has said
(docs/adr/0010-permissions.md).
"""

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, cast

from skillpm.core.values import Value

Action = Literal["allow", "ask", "deny"]
STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}


class Rule(Value):
    """A pattern of names (`*` any text, `/` too; `?` one character) and what is allowed; `where` it is written."""

    pattern: str
    action: Action
    where: str = ""

    def matches(self, name: str) -> bool:
        """Tell whether the rule speaks of a name. Names are compared as they are written."""
        return _compile(self.pattern).match(name) is not None


class Decision(Value):
    """What holds for a skill, and the rule that says so; none where no rule speaks of it."""

    action: Action
    rule: Rule | None = None


Layer = tuple[Rule, ...]
DEFAULT_DECISION = Decision(action="allow")


class Rules(Value):
    """All rules that count here, a layer for each document."""

    layers: tuple[Layer, ...] = ()

    def decide(self, name: str) -> Decision:
        """Give what an agent may do with a skill."""
        strictest = DEFAULT_DECISION
        for layer in self.layers:
            rule = next((rule for rule in reversed(layer) if rule.matches(name)), None)
            if rule is not None and (strictest.rule is None or STRICTNESS[rule.action] > STRICTNESS[strictest.action]):
                strictest = Decision(action=rule.action, rule=rule)
        return strictest

    def hides(self, name: str) -> bool:
        """Tell whether a skill is not to be seen at all."""
        return self.decide(name).action == "deny"

    def with_layer(self, layer: Iterable[Rule]) -> "Rules":
        """Give the same rules and one document more."""
        rules = tuple(layer)
        return self.replace(layers=(*self.layers, rules)) if rules else self

    @property
    def unreachable(self) -> tuple[tuple[Rule, Rule], ...]:
        """The rules that never count, each with the one behind it that takes all its names."""
        return tuple(pair for layer in self.layers for pair in _find_unreachable(layer))


def is_action(value: object) -> bool:
    """Tell whether a value is one of the three words."""
    return value in ("allow", "ask", "deny") if isinstance(value, str) else False


def build_ordered_rules(rules: Mapping[str, str], where: str = "") -> Layer:
    """Give the rules of a document whose order counts (JSON, YAML), as they stand there."""
    return tuple(
        Rule(pattern=pattern, action=cast("Action", action), where=f"{where}.{pattern}" if where else "")
        for pattern, action in rules.items()
    )


def build_unordered_rules(rules: Mapping[str, str], where: str = "") -> Layer:
    """Give the rules of a table without order (TOML): `*` first, longer patterns after shorter, exact names last.

    Of two that are as specific the stricter counts.
    """
    return tuple(sorted(build_ordered_rules(rules, where), key=_specificity_key))


def rules_from_lists(
    allowed: Iterable[str] = (), denied: Iterable[str] = (), permissions: Mapping[str, str] | None = None
) -> Rules:
    """Give the rules that an agent's lists mean: denied beats all, a non-empty allow list leaves out the rest.

    `permissions` are further rules by name, without order.
    """
    only = tuple(allowed)
    allowing = build_ordered_rules({"*": "deny", **dict.fromkeys(only, "allow")}) if only else ()
    refusing = build_ordered_rules(dict.fromkeys(denied, "deny"))
    return Rules().with_layer(allowing).with_layer(build_unordered_rules(permissions or {})).with_layer(refusing)


def _specificity_key(rule: Rule) -> tuple[bool, int, int, int, str]:
    literal = rule.pattern.replace("*", "").replace("?", "")
    is_exact = literal == rule.pattern
    return (is_exact, len(literal), rule.pattern.count("?"), STRICTNESS[rule.action], rule.pattern)


def _find_unreachable(layer: Sequence[Rule]) -> Iterable[tuple[Rule, Rule]]:
    for number, rule in enumerate(layer):
        later = next((other for other in layer[number + 1 :] if _covers(other.pattern, rule.pattern)), None)
        if later is not None:
            yield rule, later


def _covers(wide: str, narrow: str) -> bool:
    """Tell whether every name that `narrow` matches is matched by `wide`: `*` stands for itself, and for no `?`."""
    return re.compile(fnmatch.translate(_escape_brackets(wide).replace("?", "[!*]"))).match(narrow) is not None


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    # fnmatch writes an expression that needs no second try: a hostile `*a*a*a*` costs nothing.
    return re.compile(fnmatch.translate(_escape_brackets(pattern)))


def _escape_brackets(pattern: str) -> str:
    return pattern.replace("[", "[[]")
