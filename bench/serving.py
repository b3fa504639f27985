"""Serving out of a registry of many skills: load, find, search, match, prompt, from Python.

    python bench/serving.py [10000]

Prints milliseconds of processor time, the best of several runs, what they shall be at most, and the memory of the
process. `json.load` of the same file is there to compare with: loading shall take at most three times as long. Ends
with 1 where something is slower than it shall be. Then what it takes to import what an agent's program imports, in
processes of their own.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from skillpm import Registry, SkillService
from skillpm.formats.registry import write_registry
from skillpm.installer.disk.stat_cache import to_file_stat, write_stat_cache
from skillpm.registry.entry import build_entry

WORDS = ["deploy", "review", "test", "write", "read", "browse", "draft", "release", "convert", "measure", "plan"]


def make(folder: Path, count: int) -> None:
    """Write a skills directory as a build leaves it: each skill with a description of 200 letters, three triggers."""
    entries, stamps = [], {}
    for number in range(count):
        name = f"{WORDS[number % len(WORDS)]}-{number:05}"
        text = (
            f"Use when asked to {WORDS[number % len(WORDS)]} things of kind {number}. " + "It does so with care. " * 7
        )
        triggers = [f"{WORDS[number % len(WORDS)]} {number}", f"kind {number}", f"thing-{number}"]
        (folder / name).mkdir()
        head = f"name: {name}\ndescription: {text}\ntriggers: [{', '.join(triggers)}]"
        file = folder / name / "SKILL.md"
        file.write_text(f"---\n{head}\n---\n# {name}\n\nDo it.\n")
        entries.append(build_entry(name, f"{name}/SKILL.md", file.read_bytes(), pin=None, digest=None))
        stamps[name] = {"SKILL.md": to_file_stat(file.stat())}
    (folder / "skills.json").write_text(write_registry(entries))
    stamps[""] = {"skills.json": to_file_stat((folder / "skills.json").stat())}
    time.sleep(0.1)  # what was written within a tick of the clock is not believed
    (folder / ".skillpm").mkdir()
    write_stat_cache(str(folder / ".skillpm/scan.json"), stamps)


IMPORT = """
import sys, time
before, start = set(sys.modules), time.process_time()
from skillpm import {names}
print(time.process_time() - start, len(set(sys.modules) - before), *sorted(set(sys.modules) & {heavy}))
"""
HEAVY = {"click", "httpx", "git", "rich", "tomllib", "asyncio", "pathspec", "packaging", "mcp"}
slow: list[str] = []


def best(what: str, function: Callable[[], object], times: int = 7, *, goal: float = 0.0) -> float:
    """Print how long a call takes at best, and give it in milliseconds."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        function()
        taken.append(time.process_time() - start)
    least = min(taken) * 1000
    report = f"   (at most {goal:.3f})" if goal else ""
    print(f"{what:32} {least:9.3f} ms{report}")
    if goal and least > goal:
        slow.append(what)
    return least


def imports(*names: str) -> None:
    """Print how long an import takes at best, how many modules it loads, and which of the heavy ones."""
    code = IMPORT.format(names=", ".join(names), heavy=HEAVY)
    output = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
        for _ in range(7)
    ]
    seconds, modules, *heavy = min(output, key=lambda words: float(words[0]))
    print(f"import {', '.join(names)}: {float(seconds) * 1000:.1f} ms, {modules} modules, heavy: {heavy or 'none'}")
    slow.extend(heavy)


def main() -> None:
    """Measure."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(folder, count)
        bare = best("json.load", lambda: json.loads((folder / "skills.json").read_bytes()), 15)
        best("Registry.load", lambda: Registry.load(folder), 15, goal=3 * bare)
        registry = Registry.load(folder)
        service = SkillService(registry, environ={"PATH": ""})
        middle = registry.names[count // 2]
        best("Registry.get", lambda: registry.get(middle), 1000)
        best("find", lambda: service.find(middle), 1000, goal=0.05)
        best("find, in capitals", lambda: service.find(middle.upper()))
        best("search, first", lambda: service.search("release care 77"), 1)
        best("search", lambda: service.search("release care 77"), goal=20)
        best("match, first", lambda: service.match("please deploy 30 and kind 77"), 1)
        best("match", lambda: service.match("please deploy 30 and kind 77"), goal=5)
        best("prompt, first", service.prompt, 1)
        best("prompt", service.prompt)
        best("prompt, budget 20,000", lambda: service.prompt(budget=20_000), 3)
        best("load, first", lambda: service.load(middle), 1)
        best("load", lambda: service.load(middle))
        print(f"peak memory                      {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:9.1f} MiB")
    imports("Registry")
    imports("Registry", "SkillService", "discover", "load_skill")
    if slow:
        sys.exit(f"not as it shall be: {', '.join(slow)}")


if __name__ == "__main__":
    main()
