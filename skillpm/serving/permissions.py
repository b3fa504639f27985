"""Permission rules: what an agent may do with which skill (docs/adr/0010-permissions.md).

`deny` hides a skill completely, `ask` requires a person's approval, and `allow` is the default. Within a document the
last matching rule wins. Documents with an order (JSON, YAML) keep it; in those without one (TOML) more specific
patterns come later, so that a trailing `"*" = "allow"` overrides nothing.

Each document is a layer that is evaluated on its own, and the strictest result of all layers applies. So a project
written by others cannot loosen the user's rules.
"""

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, cast

from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import UsageError

Action = Literal["allow", "ask", "deny"]
STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}


class Rule(Value):
    """A pattern of skill names and the action for them."""

    # `*` matches any text, including `/`; `?` matches one character.
    pattern: str
    action: Action
    # The document and key that define the rule.
    where: str = ""

    def matches(self, name: str) -> bool:
        """Return whether the rule applies to a name. Matching is case-sensitive."""
        return compile_pattern(self.pattern).match(name) is not None


class Decision(Value):
    """The action for a skill, and the rule that decided it; None if no rule matches."""

    action: Action
    rule: Rule | None = None


Layer = tuple[Rule, ...]
DEFAULT_DECISION = Decision(action="allow")


class Rules(Value):
    """All rules in effect, one layer per document.

    `Rules()` allows everything; `decide` returns the action for a skill. Rules are immutable: `with_layer` returns new
    ones.
    """

    layers: tuple[Layer, ...] = ()
    # Those of an agent host. There an agent's rules replace general ones on purpose: none is reported as unreachable.
    host_layers: tuple[Layer, ...] = ()

    @classmethod
    def from_mapping(cls, rules: Mapping[str, str]) -> "Rules":
        """Return the rules written as pattern → `allow`, `ask` or `deny`, such as `{"*": "ask", "pdf": "allow"}`.

        Of the patterns that match a name the last applies, as in a manifest. Raises `UsageError` for another action.
        """
        for pattern, action in rules.items():
            if not is_action(action):
                raise UsageError(
                    f"the rule for `{sanitize(pattern, 80)}` is `{sanitize(str(action), 40)}`",
                    hint="an action is allow, ask or deny",
                )
        return cls().with_layer(build_ordered_rules(rules))

    def decide(self, name: str) -> Decision:
        """Return what an agent may do with the skill of this name: the strictest result of all layers."""
        strictest = DEFAULT_DECISION
        for layer in (*self.layers, *self.host_layers):
            rule = next((rule for rule in reversed(layer) if rule.matches(name)), None)
            if rule is not None and (strictest.rule is None or STRICTNESS[rule.action] > STRICTNESS[strictest.action]):
                strictest = Decision(action=rule.action, rule=rule)
        return strictest

    def hides(self, name: str) -> bool:
        """Return whether a skill is denied and must not be visible."""
        return self.decide(name).action == "deny"

    def with_layer(self, layer: Iterable[Rule]) -> "Rules":
        """Return these rules with those of another document added."""
        rules = tuple(layer)
        return self.replace(layers=(*self.layers, rules)) if rules else self

    @property
    def unreachable(self) -> tuple[tuple[Rule, Rule], ...]:
        """The rules that never apply, each with the later one that matches all its names."""
        return tuple(pair for layer in self.layers for pair in _find_unreachable(layer))


def is_action(value: object) -> bool:
    """Return whether a value is `allow`, `ask` or `deny`."""
    return value in ("allow", "ask", "deny") if isinstance(value, str) else False


def build_ordered_rules(rules: Mapping[str, str], where: str = "") -> Layer:
    """Return the rules of a document whose order is significant (JSON, YAML)."""
    return tuple(
        Rule(pattern=pattern, action=cast("Action", action), where=f"{where}.{pattern}" if where else "")
        for pattern, action in rules.items()
    )


def build_unordered_rules(rules: Mapping[str, str], where: str = "") -> Layer:
    """Return the rules of a table without order (TOML): `*` first, then longer patterns after shorter ones, exact names
    last.

    Of equally specific patterns the stricter one wins.
    """
    return tuple(sorted(build_ordered_rules(rules, where), key=_specificity_key))


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
    """Return whether `wide` matches every name that `narrow` matches: a `*` in `narrow` needs a `*` in `wide`."""
    return re.compile(fnmatch.translate(_escape_brackets(wide).replace("?", "[!*]"))).match(narrow) is not None


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern of skill names as a regular expression that matches from the start of a name."""
    # fnmatch translates to a pattern without backtracking, so a hostile `*a*a*a*` cannot take exponential time.
    return re.compile(fnmatch.translate(_escape_brackets(pattern)))


def _escape_brackets(pattern: str) -> str:
    return pattern.replace("[", "[[]")
