"""The sentences of a page of the documentation, so that a table of tests can name each of them."""

import ast
import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE_RULE = re.compile(r"\|[-| ]+\|")


def read_sentences(page: str, sections: Iterable[str] = ()) -> list[str]:
    """Return the sentences of a page and the rows of its tables, without headings, heads of tables and code blocks.

    With `sections`, only those of the sections with these headings.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    if sections:
        parts = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
        text = "\n".join(parts[heading] for heading in sections)
    return find_sentences(text)


def find_sentences(text: str) -> list[str]:
    """Return the sentences of Markdown text."""
    text = re.sub(r"```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)
    found: list[str] = []
    for block in re.split(r"\n\s*\n|\n(?=\d+\. |- |\| |\|-)", text):
        line = " ".join(block.split())
        if TABLE_RULE.fullmatch(line):
            found.pop()  # the head of its table
        elif line.startswith("| "):
            found.append(line.strip("| "))
        elif line and not line.startswith("#"):
            found += re.split(r"(?<=\.)\s+(?=[A-Z`\[])", re.sub(r"^(\d+\.|-) ", "", line))
    return found


def find_unmatched(sentences: Iterable[str], starts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the sentences that begin with none of the starts, and the starts with which no sentence begins."""
    sentences, starts = list(sentences), tuple(starts)
    return (
        [sentence for sentence in sentences if not sentence.startswith(starts)],
        [start for start in starts if not any(sentence.startswith(start) for sentence in sentences)],
    )


def find_missing_tests(names: Iterable[str]) -> list[str]:
    """Return the names of tests, `file.py::test_beginning` below tests/ or a script of bench/, that do not exist."""
    return [name for name in names if not _exists(name)]


def _exists(named: str) -> bool:
    path, _, name = named.partition("::")
    file = ROOT / (path if path.startswith("bench/") else f"tests/{path}")
    functions = [node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)]
    return any(function.startswith(name or "main") for function in functions)
