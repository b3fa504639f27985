"""The agent loop of the guide is a working program."""

import re
import subprocess
import sys
from pathlib import Path

from kit import Sandbox, make_skill, prefix_paths

GUIDE = Path(__file__).parents[2] / "docs/guides/python.md"


def test_agent_loop_of_the_guide_finds_and_loads_a_skill(tmp_path: Path) -> None:
    loop = next(code for code in re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL) if "def run" in code)
    sandbox = Sandbox(tmp_path)
    sandbox.write("skills.json", '{"skills": {}}')
    sandbox.write_files(prefix_paths(".agent-skills/code-review", make_skill("code-review", "Reviews code.")))
    script = sandbox.write("loop.py", loop)

    result = subprocess.run(
        [sys.executable, script],
        cwd=sandbox.work,
        env=sandbox.environment(),
        capture_output=True,
        text=True,
        check=True,
    )

    assert (result.stdout, result.stderr) == ('<skill_content name="code-review">\n', "")
