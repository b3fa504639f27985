"""Audit corpora of skills: findings by rule and severity, and milliseconds a skill.

    python bench/audit.py FOLDER...                   a table for each folder of skills
    python bench/audit.py --show high FOLDER...       each finding of a severity, or graver
    python bench/audit.py --json OUT FOLDER...        all findings, one JSON object a skill
    python bench/audit.py --cisco REPORT FOLDER       beside a JSON report of cisco-ai-skill-scanner for this folder

A folder is a checkout of a repository: each folder in it that has a SKILL.md is a skill.
"""

import argparse
import json
import os
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from skillpm.audit.auditor import audit_tree
from skillpm.audit.model import SEVERITIES, AuditFinding, is_at_least
from skillpm.core.file_tree import FileTree
from skillpm.core.limits import Limits
from skillpm.core.names import SKILL_FILES
from skillpm.fetchers.packages.local import scan_entries

MISSING = ("none of them",)


class Audited(NamedTuple):
    path: str
    seconds: float
    size: int
    findings: tuple[AuditFinding, ...]


def find_skills(root: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        if not set(SKILL_FILES).isdisjoint(names):
            folders.clear()
            yield folder


def read(folder: str) -> FileTree:
    entries = [entry for entry in scan_entries(folder, Limits(), "bench") if entry.kind == "file"]
    return FileTree(files=tuple(sorted((entry.as_file(entry.path) for entry in entries), key=lambda file: file.path)))


def audit(root: str) -> Iterator[Audited]:
    for folder in find_skills(root):
        tree = read(folder)
        start = time.process_time()
        findings = audit_tree(tree)
        seconds = time.process_time() - start
        yield Audited(os.path.relpath(folder, root), seconds, sum(len(file.data) for file in tree.files), findings)


def print_table(root: str, audited: list[Audited]) -> None:
    total = len(audited)
    print(f"\n{root}: {total} skills, {sum(item.size for item in audited) / 1e6:.1f} MB")
    times = sorted(item.seconds * 1_000 for item in audited)
    print(
        f"  ms a skill: median {statistics.median(times):.1f}, 99 % {times[int(0.99 * total)]:.0f}, max {times[-1]:.0f}"
    )
    for severity in SEVERITIES:
        having = sum(any(is_at_least(found.severity, severity) for found in item.findings) for item in audited)
        print(f"  at {severity} or graver: {having} skills, {100 * having / total:.2f} %")
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    for item in audited:
        for key in {(found.rule, found.severity) for found in item.findings}:
            rules[key[0]][key[1]] += 1
    for rule, counts in sorted(rules.items()):
        print(f"    {rule:24}" + "".join(f"{severity} {counts[severity]:<6}" for severity in SEVERITIES))


def print_beside(audited: list[Audited], report: str) -> None:
    """Print the rules of both scanners for each skill."""
    with open(report, encoding="utf-8") as file:
        results = json.load(file)["results"]
    theirs = {os.path.basename(result["skill_path"]): result["findings"] for result in results}
    for item in audited:
        name = os.path.basename(item.path)
        ours = sorted({f"{found.rule}:{found.severity}" for found in item.findings})
        other = sorted({f"{found['rule_id']}:{found['severity'].lower()}" for found in theirs.get(name, ())})
        print(f"\n{item.path}\n  skillpm: {', '.join(ours or MISSING)}\n  cisco:   {', '.join(other or MISSING)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--show", choices=SEVERITIES)
    parser.add_argument("--rule")
    parser.add_argument("--json", metavar="OUT")
    parser.add_argument("--cisco", metavar="REPORT")
    arguments = parser.parse_args()
    audit_tree(FileTree(files=()))
    rows = []
    for root in arguments.folders:
        audited = list(audit(root))
        print_table(root, audited)
        if arguments.cisco:
            print_beside(audited, arguments.cisco)
        for item in audited:
            rows.append({"root": root, "skill": item.path, "ms": item.seconds * 1_000})
            rows[-1]["findings"] = [found.__dict__ for found in item.findings]
            for found in item.findings:
                is_shown = arguments.show and is_at_least(found.severity, arguments.show)
                if is_shown and arguments.rule in {None, found.rule}:
                    print(f"{item.path}/{found.path}:{found.line}: {found.severity} {found.rule} {found.message}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
