"""Skills that an author who has read the rules of the audit would write, and what the rules find in them.

    python tests/kit/evasions.py             print a table for each family of rules
    python tests/kit/evasions.py --write     write what is found to `tests/audit/evasions/found.json`

Each file of `tests/audit/evasions` is a family; each table in it is a skill: the rule that it evades, and its files. A
file is a text, a list of texts that are joined (so that no scanner of this repository takes it for a real key), bytes
in hexadecimal, or a line that is repeated.
"""

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from skillpm.audit.auditor import audit_tree
from skillpm.audit.model import SEVERITIES
from skillpm.audit.rules import RULES
from skillpm.core.file_tree import FileTree, SourceEntry

FOLDER = Path(__file__).parent.parent / "audit" / "evasions"
FOUND = FOLDER / "found.json"
FRONTMATTER = "---\nname: weather\ndescription: Shows the weather.\n---\n"
MISSED = "missed"


class Evasion(NamedTuple):
    """A skill that does what a rule is to find, written so that it may not be found."""

    family: str
    name: str
    rule: str
    files: Mapping[str, bytes]

    @property
    def found(self) -> str:
        """The gravest finding as `severity rule`, the evaded rule first; `missed` without one."""
        entries = [SourceEntry(path=path, data=data).as_file(path) for path, data in sorted(self.files.items())]
        findings = audit_tree(FileTree(files=tuple(entries)))
        best = min(findings, key=lambda each: (SEVERITIES.index(each.severity), each.rule != self.rule), default=None)
        return MISSED if best is None else f"{best.severity} {best.rule}"


def is_caught(evasion: Evasion, found: str) -> bool:
    """Return whether a user is told: by a warning or a refusal, or by a rule that never says more than `low`."""
    severity, _, rule = found.partition(" ")
    return severity in {"high", "medium"} or (rule == evasion.rule and RULES[rule].severity == "low")


def read_evasions() -> Iterator[Evasion]:
    """Yield all skills, by family."""
    for path in sorted(FOLDER.glob("*.toml")):
        for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
            files = {path: _read_file(path, content) for path, content in entry["files"].items()}
            files.setdefault("SKILL.md", f"{FRONTMATTER}Run `scripts/run.sh`.\n".encode())
            yield Evasion(path.stem, name, entry["rule"], files)


def _read_file(path: str, content: Any) -> bytes:
    match content:
        case {"hex": data}:
            return bytes.fromhex(data)
        case {"line": line, "times": times}:
            text = "".join([content["head"], f"{line}\n" * times, content["tail"]])
        case list():
            text = "".join(content)
        case _:
            text = str(content)
    return (text if path != "SKILL.md" or text.startswith("---\n") else FRONTMATTER + text).encode()


def read_found() -> dict[str, dict[str, str]]:
    """Return what was found when the table was written: by family and name."""
    found: dict[str, dict[str, str]] = json.loads(FOUND.read_text(encoding="utf-8"))
    return found


def render_table(found: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table: how many skills of each family are refused, warned of, noted and missed."""
    yield "| Family | Evasions | Refused | Warned of | Noted | Missed |"
    yield "|---|---:|---:|---:|---:|---:|"
    total: Counter[str] = Counter()
    for family, rows in found.items():
        counts = Counter(text.partition(" ")[0] for text in rows.values())
        total += counts
        yield _row(family, counts)
    yield _row("all", total)


def _row(family: str, counts: Mapping[str, int]) -> str:
    numbers = [sum(counts.values()), *(counts[kind] for kind in (*SEVERITIES, MISSED))]
    return f"| {family} | {' | '.join(map(str, numbers))} |"


def main() -> None:
    """Print, or write, what the rules find now."""
    found: dict[str, dict[str, str]] = {}
    for evasion in read_evasions():
        found.setdefault(evasion.family, {})[evasion.name] = evasion.found
    if "--write" in sys.argv:
        FOUND.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    sys.stdout.writelines(f"{line}\n" for line in render_table(found))


if __name__ == "__main__":
    main()
