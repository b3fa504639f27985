"""A file that grew beyond any limit is reported as modified, and never held in memory."""

import os
import subprocess
import sys

from commands.scene import CommandSandbox

MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=False)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1000)
"""


def test_a_grown_file_is_hashed_in_pieces(project: CommandSandbox) -> None:
    project.run("install", "code-review", check=True)
    os.truncate(project.work / ".agent-skills/code-review/SKILL.md", 1_000_000_000)

    command = [sys.executable, "-c", MEASURE, *project.command, "verify"]
    measured = subprocess.run(
        command, cwd=project.work, env=project.environment(), capture_output=True, text=True, check=True
    )

    *_, megabytes = measured.stdout.splitlines()
    assert "0 of 1 skill matches the lockfile" in measured.stdout + measured.stderr
    assert int(megabytes) < 100
