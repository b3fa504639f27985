"""How long it takes to build the registry of ten thousand skills, beside bare loops over the same files.

    .venv/bin/python bench/registry.py [-n 5] [--skills 10000]

Cold: nothing is known; beside it a loop that reads the same files and runs `yaml.load(…, CSafeLoader)` on their
frontmatter. Warm: nothing has changed; beside it `os.scandir`, one `os.stat` for each skill and reading the old
registry. One: one file has changed. Medians of whole processes; compare only numbers of one run.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kit import Sandbox

# As long as the median of 19,895 real ones: frontmatter of 400 bytes, a file of 5 kB.
TEXT = (
    """---
name: {name}
description: Reviews what {name} does with invoices, tables and forms of every kind. Use when somebody asks for a
  second look at them, or when a document has to be taken apart, mended and put together again.
license: MIT
allowed-tools: Read, Grep, Bash(git:*)
metadata:
  author: Somebody
  version: "1.{number}"
tags: [documents, review, tables]
---
# {name}

"""
    + "Look at every page, and say of each what it is for, what is wrong with it and who should know.\n" * 50
)
COLD = """
import os, yaml
for entry in os.scandir(".agent-skills"):
    if entry.is_dir() and not entry.name.startswith("."):
        with open(f".agent-skills/{entry.name}/SKILL.md", encoding="utf-8") as file:
            yaml.load(file.read().split("---\\n", 2)[1], yaml.CSafeLoader)
"""
WARM = """
import json, os
for entry in os.scandir(".agent-skills"):
    if entry.is_dir() and not entry.name.startswith("."):
        os.stat(f".agent-skills/{entry.name}/SKILL.md")
with open(".agent-skills/skills.json", encoding="utf-8") as file:
    json.load(file)
"""


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=5, help="runs; the median counts")
    parser.add_argument("--skills", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sandbox = Sandbox(Path(folder))
        sandbox.write("skills.json", '{"skills": {}}')
        for number in range(options.skills):
            name = f"skill-{number:05}"
            sandbox.write(f".agent-skills/{name}/SKILL.md", TEXT.format(name=name, number=number))
        build = [sys.executable, "-m", "skillpm", "registry", "build", "-q"]
        installed = sandbox.work / ".agent-skills"

        def forget() -> None:
            (installed / "skills.json").unlink(missing_ok=True)
            shutil.rmtree(installed / ".skillpm", ignore_errors=True)

        def change() -> None:
            with (installed / "skill-00007/SKILL.md").open("a") as file:
                file.write("More.\n")

        def nothing() -> None:
            pass

        steps: dict[str, tuple[Callable[[], None], Sequence[str]]] = {
            "cold: bare loop": (nothing, [sys.executable, "-c", COLD]),
            "cold: registry build": (forget, build),
            "warm: bare loop": (nothing, [sys.executable, "-c", WARM]),
            "warm: registry build": (nothing, build),
            "one changed: registry build": (change, build),
        }
        for title, (before, command) in steps.items():
            times = [_timed(sandbox, before, command) for _ in range(options.n + 1)][1:]
            print(f"{title:30} {statistics.median(times):7.3f} s  (least {min(times):.3f}, most {max(times):.3f})")


def _timed(sandbox: Sandbox, before: Callable[[], None], command: Sequence[str]) -> float:
    before()
    start = time.perf_counter()
    subprocess.run(command, cwd=sandbox.work, env=sandbox.environment({}), check=True, capture_output=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
