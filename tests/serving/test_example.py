"""The agents of the guides are working programs of less than 60 lines."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from kit import Sandbox

GUIDES = Path(__file__).parents[2] / "docs/guides"


def run_agent(guide: str, sandbox: Sandbox, permissions: dict[str, str]) -> None:
    """Run the agent of a guide in a project, and compare what it prints with what the guide says."""
    text = (GUIDES / guide).read_text()
    agent = next(code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "def run" in code)
    printed = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    sandbox.write("skills.json", json.dumps({"skills": {}, "permissions": permissions}))
    sandbox.run("install", "code-review", "git-release", check=True)
    script = sandbox.write("agent.py", agent)
    path = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}

    result = subprocess.run(
        [sys.executable, script],
        cwd=sandbox.work,
        env=sandbox.environment(path),
        capture_output=True,
        text=True,
        check=True,
    )

    assert [result.stdout] == printed
    assert len(agent.splitlines()) < 60


def test_the_agent_over_python_finds_loads_reads_and_obeys_permissions(tmp_path: Path) -> None:
    run_agent("python.md", Sandbox(tmp_path), {"git-release": "deny"})


@pytest.mark.slow
def test_the_agent_over_mcp_finds_loads_reads_and_obeys_permissions(tmp_path: Path) -> None:
    run_agent("mcp.md", Sandbox(tmp_path), {"git-release": "deny"})
