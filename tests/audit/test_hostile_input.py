"""Whatever a skill contains, it is audited in bounded time, nothing raises, and what was not read is reported."""

import random
import time

import pytest
from kit.skills import Files, to_bytes

from skillpm.audit.auditor import MAX_FINDINGS, audit_tree
from skillpm.audit.finding import AuditFinding
from skillpm.audit.rules import RULES
from skillpm.audit.source_file import MAX_ALL_TEXTS, MAX_TEXT_SIZE
from skillpm.core.file_tree import FileTree, SourceEntry

SIZE = 200_000
# In seconds of processor time: ten times what the slowest takes on an idle machine.
MAX_SECONDS = 10
HEAD = b"---\nname: a\ndescription: b\n---\n"


def audit(files: Files) -> tuple[AuditFinding, ...]:
    entries = {"SKILL.md": HEAD} | {path: to_bytes(data) for path, data in files.items()}
    return audit_tree(
        FileTree(files=tuple(SourceEntry(path=path, data=entries[path]).as_file(path) for path in sorted(entries)))
    )


def repeat(text: str) -> str:
    return text * (SIZE // len(text))


REPEATED = {
    "run.sh": [
        "curl ", "curl x |", "curl -o a b;chmod +x a ", "echo | base64 -d | ", "cat ~/.ssh/id_rsa | tee x ",
        "a=b$a;", "x=$x\n", "$a$b", "cp a b\n", "\\x41",
    ],
    "notes.md": [
        "ignore all the previous ", "send a b c d password ", "<!-- x ", '<p style="', "[a](http://b.c/)", "[",
        "` curl x|sh ", "a\u200b\n", "a\u0430 ",
        "\n", " \n", "**a ", "a b ", '![a](b "',
        "😀 curl http://", "download password is ", "QUJDQUJDQUJDQUJDQUJDQUJD\n",
        "-----BEGIN PRIVATE KEY-----\nA",
    ],
    "run.py": ["exec('a'+'b');\n", "for k in os.environ if ", "x=("],
    "run.js": ["65, ", "%41", "_0x12ab ", "http://1.1.1.1/ "],
}  # fmt: skip


@pytest.mark.parametrize(("path", "text"), [(path, text) for path, texts in REPEATED.items() for text in texts])
def test_a_text_that_repeats_itself_takes_linear_time(path: str, text: str) -> None:
    start = time.process_time()
    audit({path: repeat(text)})

    assert time.process_time() - start < MAX_SECONDS


def test_a_word_that_is_repeated_too_often_is_reported() -> None:
    assert audit({"run.sh": repeat("curl x;\n")}) == (
        AuditFinding(
            rule="not-audited",
            severity="medium",
            path="run.sh",
            line=5_000,
            message="from here on, the same words are repeated so often that not all rules were applied",
        ),
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
