"""Thousands of unmanaged skills are read by several processes, and one of them may die."""

import json
import subprocess
import sys
from pathlib import Path

from kit import make_skill

# A worker that is killed right at its start, like by the out-of-memory killer.
DYING = """
import json, os, sys
from skillpm.registry import unmanaged_skills

parent, read, died = os.getpid(), unmanaged_skills._read_skills, []

def dying(part):
    if os.getpid() != parent:
        os._exit(9)
    died.append(len(part))
    return read(part)

dying.__module__, dying.__qualname__ = unmanaged_skills.__name__, "_read_skills"
unmanaged_skills._read_skills, unmanaged_skills._cpu_count, unmanaged_skills.PARALLEL_THRESHOLD = dying, lambda: 2, 10
folders = {name: f"{sys.argv[1]}/{name}" for name in sorted(os.listdir(sys.argv[1]))}
found = unmanaged_skills.read_unmanaged_skills(folders)
print(json.dumps([died, sorted(name for name, reading in found.items() if reading.entry)]))
"""


def test_share_of_a_killed_worker_is_read_by_the_parent(tmp_path: Path) -> None:
    names = [f"skill-{number:02}" for number in range(20)]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_bytes(make_skill(name)["SKILL.md"])

    done = subprocess.run(
        [sys.executable, "-c", DYING, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )

    assert json.loads(done.stdout) == [[10, 10], names]
    assert done.stderr == ""
