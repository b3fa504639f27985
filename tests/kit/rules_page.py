"""What is made from the rules of the audit: `docs/audit-rules.md` below its head, and `skillpm/audit/rule_set.py`.

python tests/kit/rules_page.py    writes both
"""

import re
from hashlib import sha256
from pathlib import Path
from textwrap import wrap

from skillpm.audit.model import Example, Rule
from skillpm.audit.rules import FAMILIES, RULES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "audit-rules.md"
RULE_SET = ROOT / "skillpm" / "audit" / "rule_set.py"
MAX_LINES = 8
# By the end of a path.
LANGUAGES = {".md": "markdown", ".sh": "bash", ".py": "python", ".json": "json", ".yaml": "yaml"}


def render_rule_set() -> str:
    """Return `rule_set.py` with the digest of the other modules of the audit, and the ids of the rules."""
    code = sha256()
    for path in sorted(RULE_SET.parent.rglob("*.py")):
        if path != RULE_SET:
            code.update(path.read_bytes())
    text = RULE_SET.read_text(encoding="utf-8")
    text = re.sub(r'(?m)^RULE_SET = ".*"$', f'RULE_SET = "{code.hexdigest()[:12]}"', text)
    ids = "\n".join(f"    {line}" for line in wrap(" ".join(sorted(RULES)), 110, break_on_hyphens=False))
    return re.sub(
        r"(?s)RULE_IDS = frozenset\(.*?\.split", f'RULE_IDS = frozenset(\n    """\n{ids}\n    """.split', text
    )


def render_page() -> str:
    """Return the page: what stands above its first section as it is, then the rules."""
    parts = [PAGE.read_text(encoding="utf-8").partition("\n## ")[0]]
    for family, rules in FAMILIES.items():
        parts.append(f"## {family}\n")
        parts.extend(_render_rule(rule) for rule in rules)
    return "\n".join(parts)


def _render_rule(rule: Rule) -> str:
    return "\n".join(
        [
            f"### {rule.id}\n",
            f"**{rule.title}** ({rule.severity}). {rule.reason}\n",
            f"{rule.remedy}\n",
            f"Found, in `{rule.bad.path}`:\n",
            _render_example(rule.bad),
            f"Not found, in `{rule.good.path}`:\n",
            _render_example(rule.good),
        ]
    )


def _render_example(example: Example) -> str:
    lines = example.content.splitlines()
    if len(lines) > MAX_LINES:
        lines = [*lines[:2], f"… {len(lines) - 2:,} lines more"]
    text = "\n".join("".join(map(_escape, line)) for line in lines)
    language = next((name for ending, name in LANGUAGES.items() if example.path.endswith(ending)), "text")
    return f"````{language}\n{text}\n````\n"


def _escape(character: str) -> str:
    """Return a character as a reader can see it."""
    is_visible = character.isprintable() and not 0xE0000 <= ord(character) <= 0xE0FFF
    return character if is_visible else f"\\x{ord(character):02x}" if character < "\x80" else f"\\u{ord(character):x}"


if __name__ == "__main__":
    PAGE.write_text(render_page(), encoding="utf-8")
    RULE_SET.write_text(render_rule_set(), encoding="utf-8")
