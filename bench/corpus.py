"""What the reader makes of real SKILL.md files: every one of some git repositories, from their object database.

    .venv/bin/python bench/corpus.py REPOSITORY... [--show CODE]

Prints, by repository: files, those with frontmatter, those that load, those that PyYAML reads as they stand, those of
them that give the same values, and the findings by kind.
"""

import argparse
import collections
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.frontmatter import decode_text, read_frontmatter
from skillpm.skillmd.skill import read_skill

LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every scalar as text, nothing else changed
ALWAYS = ("files", "frontmatter", "load", "PyYAML reads", "same values")
BLOCK = re.compile(r"\A\s*---[ \t]*\n(.*?\n)?---[ \t]*$", re.DOTALL | re.MULTILINE)


def blobs(repository: str) -> Iterator[tuple[str, bytes]]:
    """Give path and bytes of every SKILL.md in a repository's newest commit; links are left out."""
    listing = subprocess.run(["git", "-C", repository, "ls-tree", "-r", "-z", "HEAD"], check=True, capture_output=True)
    rows = []
    for row in listing.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        meta, path = row.split("\t", 1)
        mode, _, oid = meta.split()
        if Path(path).name.lower() == "skill.md" and mode != "120000":
            rows.append((path, oid))
    wanted = "".join(f"{oid}\n" for _, oid in rows).encode()
    words = ["git", "-C", repository, "cat-file", "--batch"]
    output = subprocess.run(words, input=wanted, check=True, capture_output=True).stdout
    at = 0
    for path, _ in rows:
        end = output.index(b"\n", at)
        size = int(output[at:end].split()[2])
        yield path, output[end + 1 : end + 1 + size]
        at = end + 2 + size


def plain_values(text: str) -> Any:
    """Give what PyYAML reads, every scalar as text; None where it cannot."""
    block = BLOCK.match(text)
    if block is None:
        return None
    try:
        values = yaml.load(block[1] or "", Loader=LOADER)  # noqa: S506  (a base loader makes nothing but text)
    except yaml.YAMLError:
        return None
    return values if isinstance(values, dict) else None


def as_text(value: Any) -> Any:
    """Give our values as PyYAML's base loader gives them: an empty scalar is empty text."""
    if isinstance(value, dict):
        return {key: as_text(part) for key, part in value.items()}
    if isinstance(value, list):
        return [as_text(part) for part in value]
    return "" if value is None or value in {"~", "null", "Null", "NULL"} else value


def main() -> None:
    """Read them all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+")
    parser.add_argument("--show", default="", help="print the paths of files with this finding")
    wanted = parser.parse_args()
    rows: dict[str, collections.Counter[str]] = {}
    seconds = 0.0
    for repository in wanted.repositories:
        name = "/".join(part for part in Path(repository).resolve().parts[-2:] if part != "repo")
        counts = rows[name] = collections.Counter()
        for path, data in blobs(repository):
            counts["files"] += 1
            start = time.perf_counter()
            try:
                codes = [finding.code for finding in read_skill(data).findings]
                counts["load"] += 1
            except NotLoadable as error:
                codes = [error.finding.code]
            except Exception:  # noqa: BLE001  (what must never happen is what is counted)
                codes = ["TRACEBACK"]
            seconds += time.perf_counter() - start
            counts["frontmatter"] += "no-frontmatter" not in codes
            counts.update(set(codes))
            if wanted.show in codes:
                print(f"{wanted.show}: {name}: {path}", file=sys.stderr)
            counts.update(compared(data, name, path))
    total = sum(rows.values(), collections.Counter())
    print_rows(rows | {"all": total})
    share = 100 * total["load"] / max(1, total["frontmatter"])
    print(f"of those with frontmatter {share:.3f} % load; {1e6 * seconds / max(1, total['files']):.0f} µs a file")


def print_rows(rows: dict[str, collections.Counter[str]]) -> None:
    """Print the table: one line for each repository, one column for each kind of finding."""
    kinds = sorted({kind for counts in rows.values() for kind in counts} - {*ALWAYS})
    columns = [*ALWAYS, *kinds]
    print("| repository | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    for name, counts in rows.items():
        print(f"| {name} | " + " | ".join(str(counts[column] or "") for column in columns) + " |")


def compared(data: bytes, repository: str, path: str) -> dict[str, int]:
    """Compare our values with PyYAML's, where it reads the block as it stands."""
    try:
        text = decode_text(data)
        front = read_frontmatter(text)
    except NotLoadable:
        return {}
    plain = plain_values(text)
    if plain is None or front.dialect == "toml":
        return {}
    same = as_text(front.values) == as_text(plain)
    if not same:
        print(f"other values: {repository}: {path}", file=sys.stderr)
    return {"PyYAML reads": 1, "same values": int(same)}


if __name__ == "__main__":
    main()
