"""All rules by id, and the version of the set."""

from collections.abc import Mapping
from hashlib import sha256

from skillpm import __version__
from skillpm.audit.checks import hidden_text
from skillpm.audit.rule import Rule

RULES: Mapping[str, Rule] = {rule.id: rule for rule in (*hidden_text.RULES,)}
# Changes with each release, and with the data of the rules.
RULE_SET = f"{__version__}-{sha256(repr([*RULES.values()]).encode()).hexdigest()[:12]}"
