"""`audit` of a manifest and `[audit]` of config.toml: which findings block a skill, and what is excepted."""

from collections.abc import Iterable, Mapping

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import is_skill_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.values import EMPTY_MAPPING, Value

# All rules of the audit. `widens` compares two versions, and is not included: it must be named.
ALL_RULES, WIDENS = "*", "widens"
# These rules block whatever `block` says, also if it is empty. `--allow` and exceptions apply to them.
ALWAYS_BLOCKED = frozenset(["host-manifest"])
# In the command of a scanner: the folder of the skill, and a file for its SARIF if it does not print it.
PATH, OUTPUT = "{path}", "{output}"
# The digest of an exception for any content of a skill.
ANY_CONTENT = "*"
SEVERITIES = ("high", "medium", "low")
# A rule, or a rule of a configured scanner: `pipe-to-shell`, `cisco/PROMPT_INJECTION`.
RULE = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}(/[A-Za-z0-9][A-Za-z0-9._:/-]{0,119})?")
DATE = lazy_pattern(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])")
TIMEOUT = lazy_pattern(r"([0-9]{1,5})\s*(s|seconds?|m|minutes?)")
MAX_TIMEOUT = 3_600


class AuditException(Value):
    """An accepted finding: of one rule, in one content of one skill."""

    skill: str
    rule: str
    digest: str
    reason: str
    # The last day on which it applies, `2027-03-01`; empty for no end.
    until: str = ""
    # File and key, for messages.
    where: str = ""

    def covers(self, skill: str, rule: str, digest: str) -> bool:
        """Return whether it covers a finding, regardless of its date."""
        return (self.skill, self.rule) == (skill, rule) and self.digest in {digest, ANY_CONTENT}

    def is_expired(self, today: str) -> bool:
        """Return whether its last day has passed; `today` is a date in ISO 8601."""
        return bool(self.until) and self.until < today


class AuditScanner(Value):
    """Another scanner: a command that prints SARIF, or writes it to a file. It has `PATH`, and may have `OUTPUT`."""

    name: str
    command: tuple[str, ...]
    # In seconds.
    timeout: int = 60


class AuditSettings(Value):
    """What the audit does with its findings. `block` and `warn` name rules, severities or `*`."""

    block: tuple[str, ...] = ("high",)
    warn: tuple[str, ...] = ("high", "medium")
    # What policies block, regardless of exceptions and options, each with file and key. It is in `block`, too.
    required: Mapping[str, str] = EMPTY_MAPPING
    # Whose exceptions and reviews apply: of all projects, of none, or of those in these folders. In a checkout they may
    # come from an attacker who wants a skill installed.
    trust_project: bool | tuple[str, ...] = False
    allow: tuple[AuditException, ...] = ()
    scanners: Mapping[str, AuditScanner] = EMPTY_MAPPING

    @property
    def is_effective(self) -> bool:
        """Whether any rule of the audit itself can block or warn, besides those that always block."""
        return any(entry != WIDENS and "/" not in entry for entry in (*self.block, *self.warn))

    def blocks(self, rule: str, severity: str) -> bool:
        """Return whether a finding blocks a skill."""
        return rule in ALWAYS_BLOCKED or names_rule(self.block, rule, severity)

    def find_policy(self, rule: str, severity: str) -> str:
        """Return file and key of the policy that blocks a finding; empty if none does."""
        return next((where for entry, where in self.required.items() if names_rule([entry], rule, severity)), "")

    def warns(self, rule: str, severity: str) -> bool:
        """Return whether a finding is reported."""
        return names_rule(self.warn, rule, severity)


def names_rule(entries: Iterable[str], rule: str, severity: str) -> bool:
    """Return whether a list of rules, severities and `*` contains a rule."""
    return rule in entries or (rule != WIDENS and (ALL_RULES in entries or severity in entries))


def read_audit_settings(node: JsonNode | None) -> AuditSettings:
    """Read `[audit]` of config.toml. Raises `DocumentError` with the invalid key."""
    if node is None:
        return AuditSettings()
    node.check_keys("block", "warn", "trust-project", "allow", "scanners")
    standard = AuditSettings()
    scanners = node.get("scanners")
    return AuditSettings(
        block=standard.block if (block := node.get("block")) is None else read_rules(block),
        warn=standard.warn if (warn := node.get("warn")) is None else read_rules(warn),
        trust_project=False if (trust := node.get("trust-project")) is None else _read_trust(trust),
        allow=read_exceptions(node.get("allow"), is_own=True),
        scanners={} if scanners is None else {name: _read_scanner(name, each) for name, each in scanners.items()},
    )


def read_project_audit(node: JsonNode | None) -> AuditSettings:
    """Read `audit` of a manifest: rules that block beside those of the user, and exceptions."""
    if node is None:
        return AuditSettings(block=())
    node.check_keys("block", "allow")
    block = () if (rules := node.get("block")) is None else read_rules(rules)
    return AuditSettings(block=block, allow=read_exceptions(node.get("allow")))


def read_rules(node: JsonNode) -> tuple[str, ...]:
    """Return a list of rules, severities and `*`."""
    return tuple(_read_rule(each) for each in node.elements())


def read_exceptions(node: JsonNode | None, *, is_own: bool = False) -> tuple[AuditException, ...]:
    """Read `[[audit.allow]]`: all but `until` is required, since later readers need the reason for an exception.

    The user's `own` ones may have `*` as the digest, for a skill that they write themselves.
    """
    return () if node is None else tuple(_read_exception(each, is_own=is_own) for each in node.elements())


def _read_trust(node: JsonNode) -> bool | tuple[str, ...]:
    if isinstance(node.value, bool):
        return node.value
    if not isinstance(node.value, list):
        node.raise_expected("true, false, or a list of folders")
    folders = tuple(each.path() for each in node.elements())
    for each in node.elements():
        if not each.path().startswith(("/", "~/")):
            each.raise_expected("a folder that begins with / or ~/")
    return folders


def _read_rule(node: JsonNode) -> str:
    text = node.text()
    if text != ALL_RULES and not RULE.fullmatch(text):
        node.raise_expected(f"a rule, `{ALL_RULES}`, or one of {', '.join(SEVERITIES)}")
    return text


def _read_exception(node: JsonNode, *, is_own: bool) -> AuditException:
    node.check_keys("skill", "rule", "digest", "reason", "until")
    digest = node.require("digest")
    reason, until, rule = node.require("reason"), node.get("until"), node.require("rule")
    if not reason.text().strip():
        reason.raise_expected("a reason")
    if not RULE.fullmatch(rule.text()):
        rule.raise_expected("a rule")
    if until is not None and not DATE.fullmatch(until.text()):
        until.raise_expected("a date like 2027-03-01")
    return AuditException(
        skill=node.require("skill").skill_name(),
        rule=rule.text(),
        digest=digest.text() if is_own and digest.value == ANY_CONTENT else digest.digest(),
        reason=reason.text(),
        until="" if until is None else until.text(),
        where=node.where,
    )


def _read_scanner(name: str, node: JsonNode) -> AuditScanner:
    node.check_keys("command", "timeout")
    if not is_skill_name(name):
        node.raise_expected("a scanner whose name has lower-case letters, digits and single hyphens")
    command, timeout = node.require("command"), node.get("timeout")
    if not any(PATH in word for word in command.texts()):
        command.raise_expected('a list of words, one of them with {path}, like ["scanner", "{path}"]')
    return AuditScanner(name=name, command=command.texts(), timeout=60 if timeout is None else _read_timeout(timeout))


def _read_timeout(node: JsonNode) -> int:
    match = TIMEOUT.fullmatch(node.text())
    seconds = int(match[1]) * (60 if match[2].startswith("m") else 1) if match else 0
    return seconds if 0 < seconds <= MAX_TIMEOUT else node.raise_expected("a duration like `60 seconds`, up to 1 hour")
