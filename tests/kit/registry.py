"""Skills on a disk for the tests of serving, and the service over them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kit import Files
from kit.skills import to_bytes
from skillpm import Registry, SkillService

EMPTY_PATH = {"PATH": ""}


def write_files(folder: Path, files: Files) -> None:
    """Write files below a folder."""
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(to_bytes(content))


def create_service(folder: Path, *, environ: Mapping[str, str] | None = None, **options: Any) -> SkillService:
    """Serve the skills of a folder; no program is on PATH unless it is said."""
    return SkillService(Registry.load(folder), environ=EMPTY_PATH if environ is None else environ, **options)
