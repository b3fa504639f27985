"""A home and a project for the tests of the seeds, and the service that a host of theirs would be."""

from pathlib import Path
from typing import Any

from kit import Files
from kit.registry import EMPTY_PATH, write_files

from skillpm import Discovery, SkillService, discover
from skillpm.agent_hosts.host_registry import HostRegistry
from skillpm.settings import read_settings


class SeedWorkspace:
    """A home, and in it a project with a git root."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = self.home / "project"
        (self.project / ".git").mkdir(parents=True)

    def write_files(self, files: Files) -> None:
        """Write files, named from the home."""
        write_files(self.home, files)

    def discover(self, host: str, **environ: str) -> Discovery:
        """Give what a host sees for somebody who stands in the project."""
        settings = read_settings({"HOME": str(self.home), "PATH": "", **environ})
        return discover(host, settings=settings.replace(working_directory=str(self.project)))

    def create_service(self, host: str, **options: Any) -> SkillService:
        """Give the service that a host would be."""
        return SkillService(HostRegistry(lambda: self.discover(host).skills), style=host, environ=EMPTY_PATH, **options)
