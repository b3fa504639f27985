"""A sandbox whose skillpm ships another directory of public skills: the package as it is, except for that data."""

import sys
from collections.abc import Mapping
from pathlib import Path

import skillpm

from .sandbox import Sandbox

PACKAGE = Path(skillpm.__file__).parent


def ship_directory(sandbox: Sandbox, commits: Mapping[str, str], skills: str) -> None:
    """Let the commands of a sandbox use a directory with these repositories and commits, and this `skills.txt`."""
    copy = sandbox.root / "shipped"
    package = copy / "skillpm"
    package.mkdir(parents=True, exist_ok=True)
    if not (package / "__init__.py").exists():
        for entry in PACKAGE.iterdir():
            if entry.name not in {"directory", "__pycache__"}:
                (package / entry.name).symlink_to(entry)
        for name in ("bundled", "registry-schema"):
            (copy / name).symlink_to(PACKAGE.parent / name)
    (package / "directory").mkdir(exist_ok=True)
    lines = "".join(f"{repository} {commit}\n" for repository, commit in commits.items())
    (package / "directory" / "repositories.txt").write_text(lines, encoding="utf-8")
    (package / "directory" / "skills.txt").write_text(skills, encoding="utf-8")
    run = f"""import runpy, sys
sys.dont_write_bytecode = True
sys.path.insert(0, {str(copy)!r})
runpy.run_module("skillpm", run_name="__main__")"""
    sandbox.command = (sys.executable, "-c", run)  # type: ignore[misc]  # this one sandbox runs another package
