"""All rules by id, and the version of the set."""

from collections.abc import Mapping
from hashlib import sha256

from skillpm import __version__
from skillpm.audit.checks import (
    claims,
    commands,
    credentials,
    downloads,
    encoded,
    files,
    hidden_text,
    host_manifests,
    instructions,
    links,
    python_code,
    secrets,
    spelling,
)
from skillpm.audit.rule import Rule

# By family, in the order of the documentation.
FAMILIES: Mapping[str, tuple[Rule, ...]] = {
    "Hidden and misleading text": (*hidden_text.RULES, *links.RULES),
    "Instructions against the user": instructions.RULES,
    "Commands": (*downloads.RULES, *encoded.RULES, *spelling.RULES, *commands.RULES),
    "Code": python_code.RULES,
    "Credentials and data": (*credentials.RULES, *secrets.RULES),
    "Files": files.RULES,
    "Hooks and claims": (*host_manifests.RULES, *claims.RULES),
}
RULES: Mapping[str, Rule] = {rule.id: rule for rules in FAMILIES.values() for rule in rules}
# Changes with each release, and with the data of the rules.
RULE_SET = f"{__version__}-{sha256(repr([*RULES.values()]).encode()).hexdigest()[:12]}"
