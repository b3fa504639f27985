"""The Python examples of the guides, as a strict type checker sees them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.slow  # 8 s of a type checker
def test_the_examples_are_typed(tmp_path: Path) -> None:
    for guide in sorted((ROOT / "docs/guides").glob("*.md")):
        for number, block in enumerate(BLOCK.findall(guide.read_text(encoding="utf-8"))):
            (tmp_path / f"{guide.stem.replace('-', '_')}_{number}.py").write_text(block, encoding="utf-8")
    files = sorted(path.name for path in tmp_path.glob("*.py"))

    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", *files]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert len(files) >= 5
    assert result.stdout == f"Success: no issues found in {len(files)} source files\n"
