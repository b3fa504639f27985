"""Serving out of a registry of many skills: load, find, search, match, prompt, from Python.

    python bench/serving.py [10000]

Prints milliseconds, the best of several runs, and the memory of the process. `json.load` of the same file is there to
compare with.
"""

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from skillpm import Registry, SkillService
from skillpm.documents.registry import RegistryEntry, write_registry

WORDS = ["deploy", "review", "test", "write", "read", "browse", "draft", "release", "convert", "measure", "plan"]


def make(folder: Path, count: int) -> None:
    """Write a skills directory: each skill with a description of 200 letters and three triggers."""
    entries = []
    for number in range(count):
        name = f"{WORDS[number % len(WORDS)]}-{number:05}"
        text = (
            f"Use when asked to {WORDS[number % len(WORDS)]} things of kind {number}. " + "It does so with care. " * 7
        )
        triggers = [f"{WORDS[number % len(WORDS)]} {number}", f"kind {number}", f"thing-{number}"]
        (folder / name).mkdir()
        (folder / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {text}\n---\n# {name}\n\nDo it.\n")
        entries.append(
            RegistryEntry(
                name=name,
                category="general",
                description=text.strip(),
                triggers=triggers,
                filePath=f"{name}/SKILL.md",
                tokens=10,
            )
        )
    (folder / "skills.json").write_text(write_registry(entries))


def best(what: str, function: Callable[[], object], times: int = 7) -> None:
    """Print how long a call takes at best."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    print(f"{what:32} {min(taken) * 1000:9.3f} ms")


def main() -> None:
    """Measure."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(folder, count)
        best("json.load", lambda: json.loads((folder / "skills.json").read_bytes()))
        best("Registry.load", lambda: Registry.load(folder))
        registry = Registry.load(folder)
        service = SkillService(registry, environ={"PATH": ""})
        middle = registry.names[count // 2]
        best("Registry.get", lambda: registry.get(middle), 1000)
        best("find", lambda: service.find(middle), 1000)
        best("find, in capitals", lambda: service.find(middle.upper()))
        best("search, first", lambda: service.search("release care 77"), 1)
        best("search", lambda: service.search("release care 77"))
        best("match, first", lambda: service.match("please deploy 30 and kind 77"), 1)
        best("match", lambda: service.match("please deploy 30 and kind 77"))
        best("prompt", service.prompt)
        best("prompt, budget 20,000", lambda: service.prompt(budget=20_000), 3)
        best("load, first", lambda: service.load(middle), 1)
        best("load", lambda: service.load(middle))
        print(f"peak memory                      {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:9.1f} MiB")


if __name__ == "__main__":
    main()
