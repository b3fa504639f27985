"""Skills on disk and a service for them, for the tests of serving."""

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
    """Create a service for the skills of a folder; PATH is empty unless `environ` is given."""
    return SkillService(Registry.load(folder), environ=EMPTY_PATH if environ is None else environ, **options)
