"""The agent of the guide is a working program of less than 60 lines."""

import re
import subprocess
import sys
from pathlib import Path

from kit import Sandbox

GUIDE = Path(__file__).parents[2] / "docs/guides/python.md"


def test_the_agent_of_the_guide_finds_loads_reads_and_obeys_permissions(tmp_path: Path) -> None:
    text = GUIDE.read_text()
    agent = next(code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "def run" in code)
    printed = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    sandbox = Sandbox(tmp_path)
    sandbox.write("skills.json", '{"skills": {}}')
    sandbox.run("install", "code-review", "git-release", check=True)
    script = sandbox.write("agent.py", agent)

    result = subprocess.run(
        [sys.executable, script],
        cwd=sandbox.work,
        env=sandbox.environment(),
        capture_output=True,
        text=True,
        check=True,
    )

    assert [result.stdout] == printed
    assert len(agent.splitlines()) < 60
