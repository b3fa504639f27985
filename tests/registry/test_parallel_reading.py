"""Thousands of unmanaged skills are read by several processes, and one of them may die."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from kit import make_skill

# Each child runs a statement before it reads; the parent prints how many skills it read itself, and all results.
READ = """
import json, os, sys
from skillpm.registry import unmanaged_skills

parent, read, own = os.getpid(), unmanaged_skills._read_skill_files, []

def read_share(folders):
    if os.getpid() != parent:
        {statement}
    own.append(len(folders))
    return read(folders)

unmanaged_skills._read_skill_files, unmanaged_skills.PARALLEL_THRESHOLD = read_share, 10
os.sched_getaffinity = lambda _: {{0, 1}}
folders = {{name: f"{{sys.argv[1]}}/{{name}}" for name in sorted(os.listdir(sys.argv[1]))}}
results = unmanaged_skills.read_unmanaged_skills(folders)
print(json.dumps([own, sorted(results.items()) == sorted(read(list(folders.items())).items())]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems read with one process")
@pytest.mark.parametrize(
    ("statement", "own"),
    [
        ("pass", [10]),
        ("os.kill(os.getpid(), 9)", [10, 10]),  # as by the out-of-memory killer
        ("raise KeyboardInterrupt", [10, 10]),
    ],
)
def test_the_share_of_a_process_that_dies_is_read_by_its_parent(tmp_path: Path, statement: str, own: list[int]) -> None:
    for number in range(20):
        folder = tmp_path / f"skill-{number:02}"
        folder.mkdir()
        (folder / "SKILL.md").write_bytes(
            b"no frontmatter" if number == 3 else make_skill(folder.name, requires=["git"])["SKILL.md"]
        )

    command = [sys.executable, "-c", READ.format(statement=statement), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)

    assert (json.loads(done.stdout), done.stderr) == ([own, True], "")
