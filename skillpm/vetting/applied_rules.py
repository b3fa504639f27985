"""Which rules about signatures apply to a skill: tables of `[[trust]]`, and required signers of policies."""

from typing import Literal

from skillpm.core.values import Value
from skillpm.formats.trust.trust_rules import TrustRule
from skillpm.kinds.base import Pin
from skillpm.scope.scope import Scope
from skillpm.scope.scope_policy import load_scope_policies
from skillpm.scope.trusted_signers import read_trust_rules
from skillpm.settings import Settings
from skillpm.trust.places import explain_mismatch, match_place


class AppliedRule(Value):
    """A rule whose pattern covers the source of a skill, or may cover it."""

    where: str
    source: str
    is_required: bool
    match: Literal["yes", "ambiguous"]
    # Why it is ambiguous, as a predicate of the source.
    reason: str = ""

    @property
    def text(self) -> str:
        """The rule as one line."""
        verb = "requires a signature" if self.is_required else "trusts signers"
        reason = f" (ambiguous: the source {self.reason})" if self.reason else ""
        return f"{self.where}: {self.source} {verb}{reason}"

    @property
    def json_value(self) -> dict[str, object]:
        """The rule for JSON output."""
        return {"where": self.where, "source": self.source, "required": self.is_required, "match": self.match}


def find_applied_rules(scope: Scope, settings: Settings, pin: Pin) -> tuple[AppliedRule, ...]:
    """Return the rules that apply to a skill of a source."""
    policies = load_scope_policies(scope, settings)
    rules = (*read_trust_rules(settings), *(() if policies is None else policies.signers))
    return tuple(applied for rule in rules if (applied := apply_rule(rule, pin)) is not None)


def apply_rule(rule: TrustRule, pin: Pin) -> AppliedRule | None:
    """Return how a rule applies to a skill of a source; None if it does not."""
    address = pin.place().address
    match = match_place(rule.source, address)
    if match == "no":
        return None
    reason = explain_mismatch(rule.source, address) if match == "ambiguous" else ""
    return AppliedRule(where=rule.where, source=rule.source, is_required=rule.required, match=match, reason=reason)
