"""Keys and tokens that were published by mistake, by the forms that their issuers give them."""

import math
from collections import Counter
from collections.abc import Iterator
from re import Pattern
from typing import NamedTuple

from skillpm.audit.finding import AuditFinding
from skillpm.audit.rule import Example, Rule
from skillpm.audit.source_file import SourceFile
from skillpm.core.patterns import lazy_pattern

# Of the random part, in bits a character: `xxxx` and `1234567890` have less.
MIN_ENTROPY = 3.0
PLACEHOLDER = lazy_pattern(
    r"(?i)example|sample|dummy|fake|placeholder|your|xxxx|0000|1234|abcd|test|changeme|redacted|secret|password|SflKxw|\.\.\."
)


class SecretForm(NamedTuple):
    """The form of a secret: what it is, texts of which each has one, and the pattern; group 1 is the random part."""

    name: str
    words: tuple[str, ...]
    pattern: Pattern[str]


FORMS = (
    SecretForm("an AWS access key", ("akia", "asia"), lazy_pattern(r"\b(?:AKIA|ASIA)([A-Z2-7]{16})\b")),
    SecretForm(
        "a GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), lazy_pattern(r"\bgh[pousr]_([A-Za-z0-9]{36})\b")
    ),
    SecretForm("a GitHub token", ("github_pat_",), lazy_pattern(r"\bgithub_pat_(\w{82})\b")),
    SecretForm("a GitLab token", ("glpat-",), lazy_pattern(r"\bglpat-([\w-]{20,60})\b")),
    SecretForm("a Slack token", ("xox",), lazy_pattern(r"\bxox[abeprs]-([\w-]{20,120})")),
    SecretForm(
        "a Slack webhook",
        ("hooks.slack.com",),
        lazy_pattern(r"hooks\.slack\.com/services/(T\w{8,12}/B\w{8,12}/\w{24})"),
    ),
    SecretForm(
        "a Discord webhook",
        ("/api/webhooks",),
        lazy_pattern(r"discord(?:app)?\.com/api/webhooks/(\d{17,20}/[\w-]{60,80})"),
    ),
    SecretForm("a Telegram bot token", (":aa",), lazy_pattern(r"\b\d{8,10}:(AA[\w-]{33})\b")),
    SecretForm(
        "an OpenAI key",
        ("sk-",),
        lazy_pattern(r"\bsk-(?:proj-|svcacct-)?([\w-]{20,140}T3BlbkFJ[\w-]{20,140}|[A-Za-z0-9]{48})\b"),
    ),
    SecretForm("an Anthropic key", ("sk-ant-",), lazy_pattern(r"\bsk-ant-(?:api|sid|admin)\d\d-([\w-]{80,120})")),
    SecretForm("an OpenRouter key", ("sk-or-",), lazy_pattern(r"\bsk-or-v1-([0-9a-f]{64})\b")),
    SecretForm("a Google key", ("aiza",), lazy_pattern(r"\bAIza([\w-]{35})\b")),
    SecretForm("a Stripe key", ("k_live_",), lazy_pattern(r"\b[sr]k_live_([A-Za-z0-9]{20,100})\b")),
    SecretForm("a SendGrid key", ("sg.",), lazy_pattern(r"\bSG\.([\w-]{22}\.[\w-]{43})\b")),
    SecretForm("an npm token", ("npm_",), lazy_pattern(r"\bnpm_([A-Za-z0-9]{36})\b")),
    SecretForm("a PyPI token", ("pypi-",), lazy_pattern(r"\bpypi-(AgEIcHlwaS[\w-]{50,200})")),
    SecretForm("a DigitalOcean token", ("dop_v1_",), lazy_pattern(r"\bdop_v1_([0-9a-f]{64})\b")),
    SecretForm("a Databricks token", ("dapi",), lazy_pattern(r"\bdapi([0-9a-f]{32})\b")),
    SecretForm(
        "an AWS secret key",
        ("aws_secret_access_key",),
        lazy_pattern(r"(?i)\baws_secret_access_key[\"']?\s{0,3}[=:]\s{0,3}[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
    ),
    SecretForm(
        "a password in a URL",
        ("://",),
        lazy_pattern(
            r"(?<!\w)[a-z][a-z0-9+]{2,20}://[\w.-]{1,60}:(?=[^\s@]{0,80}\d)(?=[^\s@]{0,80}[A-Z])([^\s@/:\"'<>{}$]{12,80})@\w"
        ),
    ),
    SecretForm(
        "a web token", ("eyj",), lazy_pattern(r"\beyJ[\w-]{10,500}\.eyJ[\w-]{10,2000}\.([\w-]{40,700})(?![\w-])")
    ),
    SecretForm("a Hugging Face token", ("hf_",), lazy_pattern(r"\bhf_([A-Za-z]{34})\b")),
    SecretForm(
        "a private key",
        ("private key-----",),
        lazy_pattern(
            r"-----BEGIN (?:\w{1,20} ){0,2}PRIVATE KEY-----(?:\s|\\n){1,4}(?:[A-Za-z0-9+/=:,\s-]{0,200}?)"
            r"([A-Za-z0-9+/]{40,80})(?:\s|\\n)"
        ),
    ),
)

RULES = (
    Rule(
        id="secret",
        severity="medium",
        title="A key or token",
        reason="It was published with the skill: anyone who reads it can use it, and its owner is unknown.",
        remedy="Revoke it, and read it from an environment variable. It remains in the history of the repository.",
        bad=Example(text='token = "ghp_' + 'q7Rw2LmZk9TbVx4NcYs8HdJf3GpUe6AoWi1D"\n', path="scripts/run.py"),
        good=Example(text='token = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"\n', path="scripts/run.py"),
    ),
)


def check_secrets(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield a finding for each key or token; the message does not repeat it."""
    for form in FORMS:
        for match in file.search(form.words, form.pattern, more_lines=3):
            secret = match[1]
            if PLACEHOLDER.search(secret) is None and entropy(secret) >= MIN_ENTROPY:
                yield file.finding(
                    "secret", "medium", file.line_of(match), f"{form.name}, which begins with `{match[0][:8]}`"
                )


def entropy(text: str) -> float:
    """Return the bits of information in each character, by how often each occurs (Shannon 1948)."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
