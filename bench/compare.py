"""Compare one command of several checkouts, in turns: medians of wall time, CPU time and peak memory, and their ratios.

    .venv/bin/python bench/compare.py ../before/.venv/bin/skillpm .venv/bin/skillpm \\
        --folder /tmp/project --before 'rm -rf .agent-skills' -- sync --frozen

The first program is the one that the others are compared with; any program may take its place, as `ls -lR`, quoted.
Each has a HOME of its own, which is kept from run to run. One run of each is not counted.
"""

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    """What one run took; memory is that of the command or of one of its children, whichever is larger."""

    wall_ms: float
    cpu_ms: float
    peak_megabytes: float


def run_once(words: list[str], folder: str, home: Path) -> Run:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    began = time.perf_counter()
    process = subprocess.Popen(
        words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{shlex.join(words)}: exit {process.returncode}\n{said.decode(errors='replace')}")
    return Run(wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_maxrss / 1024)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", help="what runs the command, each quoted if it has arguments")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--folder", default=".")
    parser.add_argument("--before", default="", help="shell command before each run, not counted")
    own, words = sys.argv[1:], []
    if "--" in own:
        own, words = own[: own.index("--")], own[own.index("--") + 1 :]
    options = parser.parse_args(own)
    runs: list[list[Run]] = [[] for _ in options.programs]
    with tempfile.TemporaryDirectory(prefix="skillpm-bench-") as homes:
        for number in range(options.pairs + 1):
            for place in range(len(runs)):
                which = (place + number) % len(runs)  # another one first each time
                home = Path(homes) / str(which)
                home.mkdir(exist_ok=True)
                if options.before:
                    environment = {**os.environ, "HOME": str(home)}
                    subprocess.run(["sh", "-c", options.before], cwd=options.folder, env=environment, check=True)
                program, *more = shlex.split(options.programs[which])
                program = os.path.abspath(program) if "/" in program else program  # of this folder, not of the other
                taken = run_once([program, *more, *words], options.folder, home)
                runs[which] += [taken] if number else []
    medians = [Run(*map(statistics.median, zip(*each, strict=True))) for each in runs]
    print(f"{'wall ms':>9} {'ratio':>6} {'cpu ms':>9} {'ratio':>6} {'MB':>6}   medians of {options.pairs}")
    for program, it in zip(options.programs, medians, strict=True):
        first = medians[0]
        wall, cpu = it.wall_ms / first.wall_ms, it.cpu_ms / first.cpu_ms
        print(f"{it.wall_ms:9.1f} {wall:6.2f} {it.cpu_ms:9.1f} {cpu:6.2f} {it.peak_megabytes:6.1f}   {program}")


if __name__ == "__main__":
    main()
