"""How long skillpm takes, beside what nothing could beat: medians of whole processes on generated repositories.

    .venv/bin/python bench/run.py [-n 7] [--skills 30] [--only noop,list]

Everything happens in a temporary folder, over `file://`, without any network. Compare only numbers of one run.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kit import Repository, Sandbox, make_skill, prefix_paths

SKILLPM = [sys.executable, "-m", "skillpm"]
Step = tuple[Callable[[], None], Sequence[str]]


def upstreams(base: Path, count: int) -> list[Repository]:
    """Make four repositories that hold so many skills of ten files, and as many files that nobody wants."""
    repositories = []
    for number in range(4):
        repository = Repository.create(base / f"repo{number}")
        for index in range(number, count, 4):
            files = make_skill(f"skill-{index:03}", body="body\n" * 200)
            files |= {f"references/{page}.md": (f"page {page} of {index}\n" * 300).encode() for page in range(9)}
            repository.write(prefix_paths(f"skills/skill-{index:03}", files))
            repository.write({f"other/{index}-{page}.txt": f"{index} {page}\n" * 2000 for page in range(10)})
        repository.commit("all")
        repositories.append(repository)
    return repositories


def scenarios(sandbox: Sandbox, repositories: Sequence[Repository], count: int) -> dict[str, Step]:
    """Give what is measured: what to do before each run, and the command."""
    skills = {
        f"skill-{index:03}": {"git": repositories[index % 4].file_url, "path": f"skills/skill-{index:03}"}
        for index in range(count)
    }
    installed = sandbox.work / ".agent-skills"

    def fresh(*, cache: bool, lock: bool) -> None:
        shutil.rmtree(installed, ignore_errors=True)
        if not cache:
            shutil.rmtree(sandbox.cache)
            sandbox.cache.mkdir()
        if not lock:
            (sandbox.work / "skills.lock").unlink(missing_ok=True)
        sandbox.write("skills.json", json.dumps({"skills": skills}))

    def nothing() -> None:
        if not installed.exists():
            fresh(cache=True, lock=True)
            sandbox.run("sync", check=True)

    clones = "; ".join(
        f"git clone -q --depth 1 {repository.file_url} $TMP/{number}" for number, repository in enumerate(repositories)
    )
    return {
        "python": (lambda: None, [sys.executable, "-c", "pass"]),
        "import click": (lambda: None, [sys.executable, "-c", "import click"]),
        "--version": (lambda: None, [*SKILLPM, "--version"]),
        "--help": (lambda: None, [*SKILLPM, "--help"]),
        "clone of all": (lambda: None, ["sh", "-c", f"TMP=$(mktemp -d); {clones}; rm -rf $TMP"]),
        "first install": (lambda: fresh(cache=False, lock=False), [*SKILLPM, "sync"]),
        "from the lockfile": (lambda: fresh(cache=False, lock=True), [*SKILLPM, "sync", "--frozen"]),
        "cache warm": (lambda: fresh(cache=True, lock=True), [*SKILLPM, "sync"]),
        "nothing to do": (nothing, [*SKILLPM, "sync"]),
        "list": (nothing, [*SKILLPM, "list"]),
        "verify": (nothing, [*SKILLPM, "verify"]),
    }


def measure(sandbox: Sandbox, step: Step, runs: int) -> list[float]:
    """Run a step so many times, and once before that nobody counts; give the seconds of each."""
    before, words = step
    taken = []
    for _ in range(runs + 1):
        before()
        start = time.perf_counter()
        subprocess.run(words, cwd=sandbox.work, env=sandbox.environment(), check=True, capture_output=True)
        taken.append(time.perf_counter() - start)
    return taken[1:]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=7, help="runs of each")
    parser.add_argument("--skills", type=int, default=30)
    parser.add_argument("--only", default="", help="names of scenarios, with commas")
    wanted = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        sandbox = Sandbox(base / "sandbox")
        sandbox.git_config("[safe]\n\tdirectory = *\n")
        steps = scenarios(sandbox, upstreams(base, wanted.skills), wanted.skills)
        chosen = [name for name in steps if not wanted.only or name in wanted.only.split(",")]
        print(f"{'':20} {'median':>8} {'min':>8} {'max':>8}  ms, {wanted.skills} skills of 10 files, {wanted.n} runs")
        for name in chosen:
            taken = [1000 * second for second in measure(sandbox, steps[name], wanted.n)]
            print(f"{name:20} {statistics.median(taken):8.1f} {min(taken):8.1f} {max(taken):8.1f}")


if __name__ == "__main__":
    main()
