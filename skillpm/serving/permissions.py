"""Permission rules: what an agent may do with which skill (ADR 10).

`deny` hides a skill completely, `ask` requires a person's approval, and `allow` is the default. Within a document the
last matching rule wins. Documents with an order (JSON, YAML) keep it; in those without one (TOML) more specific
patterns come later, so that a trailing `"*" = "allow"` overrides nothing.

Each document is a layer that is evaluated on its own, and the strictest result of all layers applies. So a project
written by others cannot loosen the user's rules.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Literal, cast

from skillpm.core.name_patterns import NamePatterns, matches_pattern
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
        return matches_pattern(self.pattern, name)


class Decision(Value):
    """The action for a skill, and the rule that decided it; None if no rule matches."""

    action: Action
    rule: Rule | None = None


class Layer(tuple[Rule, ...]):  # noqa: SLOT001  (it keeps the tables of its patterns)
    """The rules of one document, in their order; `check_patterns` limits their number."""

    def find_rule(self, name: str) -> Rule | None:
        """Return the last rule that matches a name."""
        position = self._patterns.find_last(name)
        return self[position] if position >= 0 else None

    def find_unreachable(self) -> Iterable[tuple[Rule, Rule]]:
        """Yield the rules that never apply, each with a later one that matches all its names."""
        # A pattern covers another one if it matches its text; for a `*` there it must have one, too.
        covering = NamePatterns((rule.pattern for rule in self), one_character="[^*]")
        for number, rule in enumerate(self):
            position = covering.find_last(rule.pattern)
            if position > number:
                yield rule, self[position]

    @cached_property
    def _patterns(self) -> NamePatterns:
        return NamePatterns(rule.pattern for rule in self)


DEFAULT_DECISION = Decision(action="allow")


class Rules(Value):
    """All rules in effect, one layer per document.

    `Rules()` allows everything; `decide` returns the action for a skill. Rules are immutable: `with_layer` returns new
    ones.
    """

    layers: tuple[Layer, ...] = ()
    # Those of an agent host, where an agent's rules replace general ones on purpose, and the names that policies block:
    # none of them is reported as unreachable.
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
            rule = layer.find_rule(name)
            if rule is not None and (strictest.rule is None or STRICTNESS[rule.action] > STRICTNESS[strictest.action]):
                strictest = Decision(action=rule.action, rule=rule)
        return strictest

    def hides(self, name: str) -> bool:
        """Return whether a skill is denied and must not be visible."""
        return self.decide(name).action == "deny"

    def with_layer(self, layer: Iterable[Rule]) -> "Rules":
        """Return these rules with those of another document added."""
        rules = Layer(layer)
        return self.replace(layers=(*self.layers, rules)) if rules else self

    @property
    def unreachable(self) -> tuple[tuple[Rule, Rule], ...]:
        """The rules that never apply, each with the later one that matches all its names."""
        return tuple(pair for layer in self.layers for pair in layer.find_unreachable())


def is_action(value: object) -> bool:
    """Return whether a value is `allow`, `ask` or `deny`."""
    return value in ("allow", "ask", "deny") if isinstance(value, str) else False


def build_ordered_rules(rules: Mapping[str, str], where: str = "") -> Layer:
    """Return the rules of a document whose order is significant (JSON, YAML)."""
    return Layer(
        Rule(pattern=pattern, action=cast("Action", action), where=f"{where}.{pattern}" if where else "")
        for pattern, action in rules.items()
    )


def build_unordered_rules(rules: Mapping[str, str], where: str = "") -> Layer:
    """Return the rules of a table without order (TOML): `*` first, then longer patterns after shorter ones, exact names
    last.

    Of equally specific patterns the stricter one wins.
    """
    return Layer(sorted(build_ordered_rules(rules, where), key=_specificity_key))


def _specificity_key(rule: Rule) -> tuple[bool, int, int, int, str]:
    literal = rule.pattern.replace("*", "").replace("?", "")
    is_exact = literal == rule.pattern
    return (is_exact, len(literal), rule.pattern.count("?"), STRICTNESS[rule.action], rule.pattern)
