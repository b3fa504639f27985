"""All rules by id, in the order of the documentation."""

from collections.abc import Mapping
from functools import cache

from skillpm.audit.model import Pattern, Rule
from skillpm.audit.rules.commands import COMMANDS
from skillpm.audit.rules.credentials import CREDENTIALS
from skillpm.audit.rules.files import CLAIMS, FILES
from skillpm.audit.rules.texts import HIDDEN_TEXTS, INSTRUCTIONS

FAMILIES: Mapping[str, tuple[Rule, ...]] = {
    "Hidden and misleading text": HIDDEN_TEXTS,
    "Instructions against the user": INSTRUCTIONS,
    "Commands": COMMANDS,
    "Credentials and data": CREDENTIALS,
    "Files": FILES,
    "Hooks and claims": CLAIMS,
}
RULES: Mapping[str, Rule] = {rule.id: rule for rules in FAMILIES.values() for rule in rules}


@cache
def patterns_for(kind: str) -> tuple[tuple[Rule, Pattern, frozenset[bytes]], ...]:
    """Return the patterns for a kind of file, each with its rule and words. A document has scripts in its fences."""
    kinds = {kind, "script"} if kind == "doc" else {kind}
    return tuple(
        (rule, pattern, frozenset(pattern.words.encode().split()))
        for rule in RULES.values()
        for pattern in rule.patterns
        if kinds.intersection(pattern.kinds.split())
    )
