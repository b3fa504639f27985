"""Whatever a skill contains, nothing raises, and what was not read is reported."""

import random

import pytest
from kit.skills import Files, to_bytes

from skillpm.audit.auditor import MAX_FINDINGS, audit_tree
from skillpm.audit.checks.source_file import MAX_ALL_TEXTS, MAX_TEXT_SIZE
from skillpm.audit.model import AuditFinding
from skillpm.audit.rules import RULES
from skillpm.core.file_tree import FileTree, SourceEntry

HEAD = b"---\nname: a\ndescription: b\n---\n"


def audit(files: Files) -> tuple[AuditFinding, ...]:
    entries = {"SKILL.md": HEAD} | {path: to_bytes(data) for path, data in files.items()}
    return audit_tree(
        FileTree(files=tuple(SourceEntry(path=path, data=entries[path]).as_file(path) for path in sorted(entries)))
    )


def test_what_is_too_long_is_reported_and_the_skill_file_is_read_first() -> None:
    text = "a line of ten\n" * (MAX_TEXT_SIZE // 14)
    found = audit({f"a{number:02}.md": text for number in range(MAX_ALL_TEXTS // MAX_TEXT_SIZE + 2)})

    assert [(each.rule, each.severity) for each in found] == 2 * [("not-audited", "medium")]
    assert found[-1].message == f"only the first 0 of {len(text):,} bytes were audited"


def test_many_findings_of_a_rule_are_counted() -> None:
    found = audit({"notes.md": "rm -rf ~/\n" * 1_000})

    assert len(found) == MAX_FINDINGS + 1
    assert "and 900 more findings of this rule" in {each.message for each in found}


@pytest.mark.parametrize("seed", range(40))
def test_nothing_raises(seed: int) -> None:
    """Pieces of all examples, in a random order, with random bytes between, under the names of all kinds."""
    chance = random.Random(seed)
    examples = [example for rule in RULES.values() for example in (rule.bad, rule.good)]
    files: dict[str, str | bytes] = {}
    for path in {example.path for example in examples} | {"hooks/hooks.json", ".mcp.json", "a.ps1", "a.html", "run"}:
        parts = [to_bytes(chance.choice(examples).text[:2_000]) for _ in range(8)]
        cut = [part[chance.randrange(len(part)) :] + chance.randbytes(chance.randrange(6)) for part in parts]
        files[path] = b"".join(cut)

    assert all(each.rule in RULES and each.line > 0 for each in audit(files))
