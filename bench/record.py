"""Run a script of this folder, and keep what it prints in `bench/results`, with its command, the date and the machine.

    .venv/bin/python bench/record.py scaling [arguments of bench/scaling.py]

The documentation names figures of these results only: `tests/pages/test_figures.py` compares them.
"""

import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).parent


def describe_machine() -> str:
    """Return the cores, the operating system, and the versions of what commands start."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    system = f"{platform.system()} {platform.machine()}"
    return f"{os.cpu_count()} cores, {system}, Python {platform.python_version()}, git {git}"


def today() -> str:
    """Return the date."""
    return datetime.now(UTC).date().isoformat()


def main() -> int:
    """Run the script, print what it prints, and write it down unless the script fails."""
    name, *arguments = sys.argv[1:]
    lines = [f"$ python bench/{name}.py {' '.join(Path(word).name if '/' in word else word for word in arguments)}"]
    lines += [f"{today()}, {describe_machine()}", ""]
    command = [sys.executable, "-u", str(FOLDER / f"{name}.py"), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as script:
        for line in script.stdout or ():
            print(line, end="", flush=True)
            lines.append(re.sub(r"(/[^/\s]+){2,}/", "…/", line.rstrip()))  # no path of this machine
    if script.returncode == 0:
        results = FOLDER / "results" / f"{name}.txt"
        results.parent.mkdir(exist_ok=True)
        results.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return script.returncode


if __name__ == "__main__":
    sys.exit(main())
