"""Thousands of hand-made skills are read by several processes, and one of them may die."""

import json
import subprocess
import sys
from pathlib import Path

from kit import make_skill

# A worker that is killed as soon as it begins, as the system does when memory runs out.
DYING = """
import json, os, sys
from skillpm.registry import unmanaged_skills as handmade

parent, read, died = os.getpid(), handmade._read, []

def dying(part):
    if os.getpid() != parent:
        os._exit(9)
    died.append(len(part))
    return read(part)

dying.__module__, dying.__qualname__ = handmade.__name__, "_read"
handmade._read, handmade._processors, handmade.MANY = dying, lambda: 2, 10
found = handmade.read_by_hand({name: f"{sys.argv[1]}/{name}" for name in sorted(os.listdir(sys.argv[1]))})
print(json.dumps([died, sorted(name for name, reading in found.items() if reading.entry)]))
"""


def test_what_a_killed_worker_had_to_read_is_read_all_the_same(tmp_path: Path) -> None:
    names = [f"skill-{number:02}" for number in range(20)]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_bytes(make_skill(name)["SKILL.md"])

    done = subprocess.run(
        [sys.executable, "-c", DYING, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )

    assert json.loads(done.stdout) == [[10, 10], names]
    assert done.stderr == ""
