"""Instructions of short commands, in millions, beside bare Python and `import click`.

    .venv/bin/python bench/instructions.py [--skills 30]

Counted by callgrind, so a loaded machine gives the same figures, to about one percent. Each command runs once before it
is counted, as after the first use. Exits 1 if a command exceeds its goal, a multiple of one of the two floors.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kit import Repository, Sandbox, make_skill, prefix_paths

PYTHON = ("-c", "")
CLICK = ("-c", "import click")
# What is counted: the name, the arguments of Python, the floor, and how many times the floor it may take.
SCENARIOS: Sequence[tuple[str, tuple[str, ...], tuple[str, ...], float]] = (
    ("bare Python", PYTHON, PYTHON, 1.0),
    ("import click", CLICK, CLICK, 1.0),
    ("--version", ("-m", "skillpm", "--version"), PYTHON, 2.0),
    ("--help", ("-m", "skillpm", "--help"), CLICK, 1.2),
    ("list", ("-m", "skillpm", "list"), CLICK, 1.2),
    ("sync, nothing to do", ("-m", "skillpm", "sync"), CLICK, 1.2),
    ("list, after a change", ("-m", "skillpm", "list", "-v"), CLICK, 2.0),
    ("sync, after a change", ("-m", "skillpm", "sync", "-v"), CLICK, 2.5),
    ("load", ("-m", "skillpm", "load", "skill-000"), CLICK, 3.0),
    ("sync, local sources", ("-m", "skillpm", "sync", "--project", "local"), CLICK, 3.1),
)


def install(base: Path, count: int) -> Sandbox:
    """Create a project with installed skills of five files."""
    repository = Repository.create(base / "upstream")
    for number in range(count):
        files = make_skill(f"skill-{number:03}", body="body\n" * 200)
        files |= {f"references/{page}.md": (f"page {page} of {number}\n" * 300).encode() for page in range(4)}
        repository.write(prefix_paths(f"skills/skill-{number:03}", files))
    repository.commit("all")
    sandbox = Sandbox(base / "world")
    for path in ("skills.json", "local/skills.json"):
        sandbox.write(path, '{"skills": {}}\n')
    sandbox.run("install", repository.file_url, "--all", "--yes", check=True)
    # No answer is prepared for skills from local folders and for live links.
    for name, options in (("copied", ()), ("linked", ("--link",))):
        sandbox.write_files(prefix_paths(f"local/mine/{name}", make_skill(name, body="body\n" * 200)))
        sandbox.run("install", f"./mine/{name}", *options, "--project", ".", cwd="local", check=True)
    return sandbox


def count_instructions(arguments: Sequence[str], folder: Path, variables: Mapping[str, str]) -> float:
    """Return the instructions of a Python process, in millions; its child processes do not count."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=True)
    match = re.search(r"Collected : (\d+)", done.stderr)
    assert match is not None, done.stderr
    return int(match[1]) / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skills", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skillpm-bench-") as folder:
        sandbox = install(Path(folder), options.skills)
        variables = sandbox.environment({})
        counts: dict[tuple[str, ...], float] = {}
        is_slow = False
        print(f"{'':24}{'M instructions':>15}{'times the floor':>17}{'goal':>6}")
        for name, arguments, floor, goal in SCENARIOS:
            for _ in range(2):
                subprocess.run(
                    [sys.executable, *arguments], cwd=sandbox.work, env=variables, capture_output=True, check=True
                )
            counts[arguments] = count_instructions(arguments, sandbox.work, variables)
            ratio = counts[arguments] / counts[floor]
            is_slow |= ratio > goal
            print(f"{name:24}{counts[arguments]:15.1f}{ratio:17.2f}{goal:6.1f}")
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main())
