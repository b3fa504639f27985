"""Instructions of short commands, in millions, beside bare Python and an import of the standard library.

    .venv/bin/python bench/instructions.py [--only NAME …]

Counted by callgrind, so a loaded machine gives the same figures, to about one percent; another build of Python costs up
to a fifth less, and the floors as much less. Each command runs before it is counted, as after the first use; what a
command fetches and writes is removed in between. Ends with 1 if a command exceeds its goal, a multiple of one of the
floors, by more than 3 percent.
"""

import argparse
import inspect
import os
import pydoc_data.topics
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kit import Repository, Sandbox, make_skill, prefix_paths

SKILLS = 30
TOLERANCE = 1.03
MAX_COUNTS = 3
# Each with a world of its own.
PROCESSES = 2
HINT = """\
Profile the command (`python -m cProfile -s tottime -m skillpm …`; imports: `python -X importtime -m skillpm …`) beside
the commit before, and remove what was added. If it is worth its price, raise the goal in bench/instructions.py, and say
in the commit why."""
# Real code: modules of Python, and what its documentation says of them, in `write_real_skills`.
MODULES = (
    "argparse", "ast", "base64", "bdb", "calendar", "cmd", "codeop", "configparser", "copy", "csv", "dis", "doctest",
    "fileinput", "fractions", "ftplib", "getopt", "gzip", "imaplib", "inspect", "ipaddress", "mailbox", "netrc",
    "optparse", "pdb", "pickle", "plistlib", "shelve", "smtplib", "tarfile", "zipfile",
)  # fmt: skip


class World:
    """Projects with installed skills, and how to remove what a command is to bring back."""

    def __init__(self, base: Path) -> None:
        self.sandbox = Sandbox(base / "world")
        self.plain = Repository.create(base / "plain")
        for number in range(SKILLS):
            files = make_skill(f"skill-{number:03}", body="body\n" * 200)
            files |= {f"references/{page}.md": (f"page {page} of {number}\n" * 300).encode() for page in range(4)}
            self.plain.write(prefix_paths(f"skills/skill-{number:03}", files))
        self.plain.commit("all")
        self.real = Repository.create(base / "real")
        write_real_skills(self.real)
        for folder in (".", "local", "first", "real"):
            self.sandbox.write(f"{folder}/skills.json", '{"skills": {}}\n')
        self.sandbox.run("install", self.plain.file_url, "--all", "--yes", check=True)
        self.sandbox.run("install", self.real.file_url, "--all", "--yes", "--project", "real", check=True)
        # No answer is prepared for skills from local folders and for live links.
        for name, options in (("copied", ()), ("linked", ("--link",))):
            self.sandbox.write_files(prefix_paths(f"local/mine/{name}", make_skill(name, body="body\n" * 200)))
            self.sandbox.run("install", f"./mine/{name}", *options, "--project", ".", cwd="local", check=True)

    def keep(self) -> None:
        """Remove nothing."""

    def uninstall(self) -> None:
        """Remove what is installed; the cache has it."""
        shutil.rmtree(self.sandbox.work / "real/.agent-skills", ignore_errors=True)

    def forget(self) -> None:
        """Remove what is installed, and the cache."""
        self.uninstall()
        shutil.rmtree(self.sandbox.cache)

    def start_again(self) -> None:
        """Remove the cache, and a project with one skill."""
        shutil.rmtree(self.sandbox.work / "first")
        self.sandbox.write("first/skills.json", '{"skills": {}}\n')
        shutil.rmtree(self.sandbox.cache)


def write_real_skills(repository: Repository) -> None:
    """Commit skills with code and documentation as people write it: modules of Python and chapters of its manual."""
    topics = sorted(pydoc_data.topics.topics.items())
    for number, module in enumerate(MODULES):
        name = f"about-{module}"
        pages = {f"references/{topic}.md": text.encode() for topic, text in topics[number::SKILLS]}
        files = make_skill(name, f"Explains {module}.", body=inspect.getdoc(import_module(module)) or "Read the code.")
        code = inspect.getsource(import_module(module)).encode()
        repository.write(prefix_paths(f"skills/{name}", {**files, **pages, f"scripts/{module}.py": code}))
    repository.commit("all")


class Scenario(NamedTuple):
    """One command that is counted."""

    name: str
    # Of Python. `PLAIN` stands for the address of the repository with skills of five files.
    arguments: tuple[str, ...]
    floor: tuple[str, ...]
    # How many times the floor it takes.
    goal: float
    prepare: Callable[[World], None] = World.keep


PYTHON = ("-c", "")
# Modules are read and classes made, as in a command; 100 modules, which hardly change from one Python to the next.
LIBRARY = ("-c", "import unittest.mock")
# What a restore does with texts, which another build of Python makes less faster than imports.
READ_TEXTS = """
import hashlib, re, unittest.mock
from pydoc_data.topics import topics
text = "".join(topics.values()).encode()
for _ in range(4):
    text.lower().split(), re.findall(rb"\\b[a-z_]{3,}\\(", text), hashlib.sha256(text)
"""
TEXTS = ("-c", READ_TEXTS)
RESTORE = ("-m", "skillpm", "sync", "--frozen", "--project", "real")
FIRST = ("-m", "skillpm", "install", "PLAIN@skill-000", "--project", "first")
FLOORS = {"bare Python": PYTHON, "import unittest.mock": LIBRARY, "and search texts": TEXTS}
SCENARIOS = (
    Scenario("--version", ("-m", "skillpm", "--version"), PYTHON, 1.65),
    Scenario("--help", ("-m", "skillpm", "--help"), LIBRARY, 0.69),
    Scenario("list", ("-m", "skillpm", "list"), PYTHON, 1.75),
    Scenario("sync, nothing to do", ("-m", "skillpm", "sync"), PYTHON, 1.75),
    Scenario("list, after a change", ("-m", "skillpm", "list", "-v"), LIBRARY, 1.19),
    Scenario("sync, after a change", ("-m", "skillpm", "sync", "-v"), LIBRARY, 1.35),
    Scenario("load", ("-m", "skillpm", "load", "skill-000"), LIBRARY, 1.08),
    Scenario("sync, local sources", ("-m", "skillpm", "sync", "--project", "local"), LIBRARY, 1.22),
    Scenario("first install", FIRST, LIBRARY, 1.75, World.start_again),
    Scenario("restore of 30, cached", RESTORE, TEXTS, 0.78, World.uninstall),
    Scenario("restore of 30", RESTORE, TEXTS, 2.42, World.forget),
)


def count_instructions(arguments: Sequence[str], folder: Path, variables: Mapping[str, str]) -> float:
    """Return the instructions of a Python process, in millions; its child processes do not count."""
    options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--vgdb=no"]  # vgdb writes to `/tmp`
    command = ["valgrind", *options, sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=True)
    match = re.search(r"Collected : (\d+)", done.stderr)
    assert match is not None, done.stderr
    return int(match[1]) / 1e6


def count_scenario(scenario: Scenario, world: World, floor: float) -> float:
    """Return the instructions of a scenario, in millions; of three runs the least if the first exceeds its goal."""
    # Valgrind has temporary files, and no answer is prepared while something writes to a folder above the project.
    temporary = world.sandbox.root / "temporary"
    temporary.mkdir(exist_ok=True)
    variables, work = world.sandbox.environment({"TMPDIR": str(temporary)}), world.sandbox.work
    arguments = [word.replace("PLAIN", world.plain.file_url) for word in scenario.arguments]
    counts: list[float] = []
    while not counts or (len(counts) < MAX_COUNTS and min(counts) > scenario.goal * TOLERANCE * floor):
        for _ in range(2):
            scenario.prepare(world)
            subprocess.run([sys.executable, *arguments], cwd=work, env=variables, capture_output=True, check=True)
        scenario.prepare(world)
        counts.append(count_instructions(arguments, work, variables))
    return min(counts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="names of scenarios, besides the floors")
    options = parser.parse_args()
    chosen = [scenario for scenario in SCENARIOS if not options.only or scenario.name in options.only]
    exceeded: list[str] = []
    with tempfile.TemporaryDirectory(prefix="skillpm-bench-") as folder, ThreadPoolExecutor(PROCESSES) as pool:
        floors: dict[tuple[str, ...], float] = {
            words: count_instructions(words, Path(folder), os.environ) for words in FLOORS.values()
        }

        def count_share(share: int) -> list[float]:
            world = World(Path(folder) / str(share))
            return [count_scenario(scenario, world, floors[scenario.floor]) for scenario in chosen[share::PROCESSES]]

        shares = list(pool.map(count_share, range(PROCESSES)))
    print(f"{'':24}{'M instructions':>15}{'times the floor':>17}{'goal':>6}")
    for name, words in FLOORS.items():
        print(f"{name:24}{floors[words]:15.1f}")
    for number, scenario in enumerate(chosen):
        count = shares[number % PROCESSES][number // PROCESSES]
        ratio = count / floors[scenario.floor]
        print(f"{scenario.name:24}{count:15.1f}{ratio:17.2f}{scenario.goal:6.2f}")
        if ratio > scenario.goal * TOLERANCE:
            exceeded.append(f"`{scenario.name}` exceeds its goal by {ratio / scenario.goal - 1:.1%}")
    if exceeded:
        print("", *exceeded, HINT, sep="\n")
    return int(bool(exceeded))


if __name__ == "__main__":
    sys.exit(main())
