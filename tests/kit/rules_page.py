"""The page `docs/audit-rules.md`: below its head, it is made from the data of the rules.

python tests/kit/rules_page.py    writes it
"""

from pathlib import Path

from skillpm.audit.rule import Example, Rule
from skillpm.audit.rules import FAMILIES

PAGE = Path(__file__).parents[2] / "docs" / "audit-rules.md"
MAX_LINES = 8
# By the end of a path.
LANGUAGES = {".md": "markdown", ".sh": "bash", ".py": "python", ".json": "json", ".yaml": "yaml"}


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
    lines = example.text.splitlines()
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
