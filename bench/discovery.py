"""How long `discover` takes for many skills, beside a bare loop over the same files. Medians, in one process.

.venv/bin/python bench/discovery.py [--skills 10000] [-n 5]
"""

import argparse
import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import yaml

from skillpm import HeadCache, discover
from skillpm.settings import read_settings


def build(root: Path, count: int) -> list[str]:
    """Write so many skills, as people write them."""
    paths = []
    for number in range(count):
        folder = root / f"skill-{number:05}"
        folder.mkdir(parents=True)
        front = f"name: skill-{number:05}\ndescription: Use when number {number} has to be done, and done well.\n"
        more = 'license: MIT\nmetadata:\n  author: somebody\n  version: "1.0"\n'
        body = "words and more words for a model to read\n" * (20 + number * 7919 % 180)
        (folder / "SKILL.md").write_text(f"---\n{front}{more}---\n# Skill\n\n{body}", encoding="utf-8")
        paths.append(f"{folder}/SKILL.md")
    return paths


def bare(root: Path) -> None:
    """Read every file, and its frontmatter with PyYAML: what nothing in Python could leave out."""
    with os.scandir(root) as entries:
        folders = [entry.path for entry in entries]
    for folder in folders:
        with open(f"{folder}/SKILL.md", encoding="utf-8") as file:
            text = file.read()
        yaml.load(text[4 : text.index("\n---\n", 4)], Loader=yaml.CSafeLoader)


def looked(root: Path) -> None:
    """Only walk and stat."""
    with os.scandir(root) as entries:
        for entry in entries:
            os.stat(f"{entry.path}/SKILL.md")


def measure(title: str, times: int, function: Callable[[], object]) -> None:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    print(f"{title:48} {statistics.median(taken):7.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("-n", type=int, default=5)
    options = parser.parse_args()
    gc.disable()
    with tempfile.TemporaryDirectory() as home:
        root = Path(home, ".agents", "skills")
        paths = build(root, options.skills)
        (elsewhere := Path(home, "elsewhere")).mkdir()
        settings = read_settings({"HOME": home}).replace(working_directory=str(elsewhere))
        measure("a bare loop: scandir, read, CSafeLoader", options.n, lambda: bare(root))
        measure("a bare scandir and stat", options.n, lambda: looked(root))
        for agent, layout in (("cline", "dir"), ("agentskills", "tree")):
            cache = HeadCache(rest=0)
            measure(f"discover, layout {layout}", options.n, partial(discover, agent, settings=settings))
            discover(agent, settings=settings, cache=cache)
            measure(
                f"discover, layout {layout}, nothing changed",
                options.n,
                partial(discover, agent, settings=settings, cache=cache),
            )
        measure("the same files in one thread", options.n, lambda: [HeadCache().read(path) for path in paths])
        with ThreadPoolExecutor(4) as threads:
            measure(
                "the same files in four threads",
                options.n,
                lambda: list(threads.map(lambda path: HeadCache().read(path), paths, chunksize=100)),
            )


if __name__ == "__main__":
    main()
