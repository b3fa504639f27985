"""What safety costs: an install of thirty skills with and without fsync, and a sync with nothing to do.

    .venv/bin/python bench/flushing.py [-n 7] [--folder DIR]

`--folder` says on which disk (a temporary folder of it is used); a file system in memory tells nothing. Both kinds of
runs alternate, and their medians are compared. Exits 1 when flushing costs more than half as much again, or a sync with
nothing to do changes or flushes anything.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kit import Repository, Sandbox, make_skill, prefix_paths

COUNT = 30
MOST = 1.5
CHANGING = (
    "fsync,fdatasync,syncfs,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,symlink,symlinkat,link,"
)
CHANGING += "linkat,chmod,fchmod,truncate,ftruncate"


def world(base: Path) -> Sandbox:
    """Make a project that asks for thirty skills of ten files from one repository; the caches are warm."""
    repository = Repository.create(base / "upstream")
    for number in range(COUNT):
        files = make_skill(f"skill-{number:02}", body="body\n" * 200)
        files |= {f"references/{page}.md": (f"page {page} of {number}\n" * 300).encode() for page in range(9)}
        repository.write(prefix_paths(f"skills/skill-{number:02}", files))
    repository.commit("all")
    sandbox = Sandbox(base / "world")
    sandbox.use_fork_server = False
    sandbox.git_config("[safe]\n\tdirectory = *\n")
    wanted = {
        f"skill-{number:02}": {"git": repository.file_url, "path": f"skills/skill-{number:02}"}
        for number in range(COUNT)
    }
    sandbox.write("skills.json", json.dumps({"skills": wanted}))
    sandbox.run("sync", check=True)
    return sandbox


def installed(sandbox: Sandbox, fsync: str) -> float:
    """Install all thirty anew; give the seconds."""
    shutil.rmtree(sandbox.work / ".agent-skills")
    os.sync()  # what others wrote is not waited for
    begun = time.perf_counter()
    sandbox.run("sync", env={"SKILLPM_FSYNC": fsync}, check=True)
    return time.perf_counter() - begun


def changes_of_nothing(sandbox: Sandbox) -> list[str]:
    """Give what a sync with nothing to do changes or flushes, and whatever it opens for writing."""
    sandbox.run("sync", check=True)  # prepares its answer in the cache
    log = sandbox.root / "calls"
    subprocess.run(
        ["strace", "-f", "-o", str(log), "-e", f"trace={CHANGING},open,openat,creat", *sandbox.command, "sync"],
        cwd=sandbox.work, env=sandbox.environment({"PYTHONDONTWRITEBYTECODE": "1"}), check=True, capture_output=True,
    )  # fmt: skip
    opening = re.compile(r"open(at)?\(")
    calls = [line.partition(" ")[2].strip() for line in log.read_text().splitlines() if "(" in line]
    return [call for call in calls if not opening.match(call) or re.search(r"O_WRONLY|O_RDWR|O_CREAT", call)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=7, help="runs of each kind")
    parser.add_argument("--folder", type=os.path.abspath, help="a folder on the disk to measure")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skillpm-bench-", dir=options.folder) as base:
        sandbox = world(Path(base))
        times: dict[str, list[float]] = {"1": [], "0": []}
        for _ in range(options.n):
            for fsync, taken in times.items():
                taken.append(installed(sandbox, fsync))
        on, off = (statistics.median(taken) for taken in times.values())
        nothing = changes_of_nothing(sandbox)
    print(f"install of {COUNT} skills, {10 * COUNT} files, caches warm, median of {options.n}:")
    print(f"  flushed {on:.3f} s, not flushed {off:.3f} s: {on / off:.2f} times (at most {MOST})")
    print(f"sync with nothing to do: {len(nothing)} calls that change or flush (at most 0)")
    print("".join(f"  {call}\n" for call in nothing), end="")
    return 0 if on / off <= MOST and not nothing else 1


if __name__ == "__main__":
    sys.exit(main())
