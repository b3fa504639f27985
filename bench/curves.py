"""How the time of commands grows: with skills, with the files of a repository, and with the number of repositories.

    .venv/bin/python bench/curves.py [-n 5] [--skills 10 100 1000 10000] [--files 100 10000] [--repositories 1 4 16]

Medians of the processor's time of whole processes, and the milliseconds for each further skill, file or repository:
the slope between the first and the last point. Indexes of 1,000 and 100,000 skills: `bench/scaling.py`.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kit import GitServer, Repository, Sandbox, make_skill, prefix_paths


def nothing() -> None:
    pass


def processor_ms(sandbox: Sandbox, words: Sequence[str], runs: int, before: Callable[[], None] = nothing) -> float:
    """Return the median of a command's processor time, its children included; the first run does not count."""
    taken = []
    for _ in range(runs + 1):
        before()
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "skillpm", *words]
        done = subprocess.run(
            command, cwd=sandbox.work, env=sandbox.environment(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout[-500:]}{done.stderr}")
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(1000 * (end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime))
    return statistics.median(taken[1:])


def print_curve(title: str, sizes: Sequence[int], values: Sequence[float]) -> None:
    """Print one value for each size, and the slope."""
    slope = (values[-1] - values[0]) / (sizes[-1] - sizes[0])
    print(f"{title:28}{''.join(f'{value:10.0f}' for value in values)}{slope:12.4f}", flush=True)


def forget(sandbox: Sandbox, *, cache: bool) -> None:
    """Remove what is installed and, if asked, what is cached."""
    shutil.rmtree(sandbox.work / ".agent-skills", ignore_errors=True)
    if cache:
        shutil.rmtree(sandbox.cache)
        sandbox.cache.mkdir()


def create_project(base: Path, server: GitServer, skills: int, *, repositories: int = 1, others: int = 0) -> Sandbox:
    """Create a project that requires so many skills of two files, from repositories with so many other files each."""
    sandbox = Sandbox(base)
    sources = {}
    for number in range(repositories):
        repository = Repository.create(base / f"repo{number}")
        for index in range(number, skills, repositories):
            name = f"skill-{index:05}"
            files = make_skill(name, body="body\n" * 200) | {"notes.md": f"notes of {name}\n".encode() * 100}
            repository.write(prefix_paths(f"skills/{name}", files))
            sources[name] = {"git": server.url(f"{base.name}/{number}"), "path": f"skills/{name}"}
        repository.write({f"other/{each // 100}/{each}.txt": f"{number} {each}\n" * 100 for each in range(others)})
        repository.commit("all")
        server.serve(f"{base.name}/{number}", repository)
    sandbox.write("skills.json", json.dumps({"skills": sources}))
    return sandbox


def curves_of_skills(base: Path, server: GitServer, sizes: Sequence[int], runs: int) -> None:
    """Measure what depends on the number of installed skills."""
    commands = {
        "sync, nothing to do": ["sync"],
        "list": ["list"],
        "verify": ["verify"],
        "prompt": ["prompt"],
        "search": ["search", "skill-00007"],
    }
    values: dict[str, list[float]] = {}
    for size in sizes:
        sandbox = create_project(base / f"skills-{size}", server, size)

        def add(title: str, value: float) -> None:
            values.setdefault(title, []).append(value)

        add("first install", processor_ms(sandbox, ["sync"], 1, lambda it=sandbox: forget(it, cache=True)))  # type: ignore[misc]
        add("from the cache", processor_ms(sandbox, ["sync"], 1, lambda it=sandbox: forget(it, cache=False)))  # type: ignore[misc]
        for title, words in commands.items():
            add(title, processor_ms(sandbox, words, runs))
        shutil.rmtree(sandbox.root)
    for title, curve in values.items():
        print_curve(title, sizes, curve)


def main() -> None:
    """Measure and print all curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=5, help="runs of each")
    parser.add_argument("--skills", type=int, nargs="*", default=[10, 100, 1_000, 10_000])
    parser.add_argument("--files", type=int, nargs="*", default=[100, 10_000])
    parser.add_argument("--repositories", type=int, nargs="*", default=[1, 4, 16])
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="skillpm-bench-") as folder, GitServer() as server:
        base = Path(folder)
        if options.skills:
            print(f"{'ms by skills':28}{''.join(f'{size:10,}' for size in options.skills)}{'each':>12}")
            curves_of_skills(base, server, options.skills, options.n)
        if options.files:
            print(f"{'ms by files of a repository':28}{''.join(f'{size:10,}' for size in options.files)}{'each':>12}")
            projects = [create_project(base / f"files-{size}", server, 10, others=size) for size in options.files]
            measure_installs(server, projects, options.files, options.n)
        if options.repositories:
            print(f"{'ms by repositories':28}{''.join(f'{size:10,}' for size in options.repositories)}{'each':>12}")
            projects = [
                create_project(base / f"repositories-{size}", server, 32, repositories=size)
                for size in options.repositories
            ]
            measure_installs(server, projects, options.repositories, options.n)


def measure_installs(server: GitServer, projects: Sequence[Sandbox], sizes: Sequence[int], runs: int) -> None:
    """Measure what depends on repositories, with the requests and bytes of each."""
    for title, words in {"first install": ["sync"], "from the lockfile": ["sync", "--frozen"]}.items():
        values, requests, received = [], [], []
        for sandbox in projects:

            def start(it: Sandbox = sandbox) -> None:
                forget(it, cache=True)
                server.clear_requests()

            values.append(processor_ms(sandbox, words, runs, start))
            requests.append(len(server.requests))
            received.append(server.bytes_out / 1000)
        print_curve(title, sizes, values)
        print_curve("  requests", sizes, requests)
        print_curve("  kB", sizes, received)


if __name__ == "__main__":
    main()
