"""A home and a project for the tests of the seeds, and the services of their hosts."""

from pathlib import Path
from typing import Any

from kit import Files
from kit.registry import EMPTY_PATH, write_files

from skillpm import Discovery, SkillService, discover
from skillpm.agent_hosts.host_registry import HostRegistry
from skillpm.settings import read_settings


class SeedWorkspace:
    """A home with a project, which has a git root."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = self.home / "project"
        (self.project / ".git").mkdir(parents=True)

    def write_files(self, files: Files) -> None:
        """Write files; paths are relative to the home."""
        write_files(self.home, files)

    def discover(self, host: str, **environ: str) -> Discovery:
        """Return what a host sees from the project."""
        settings = read_settings({"HOME": str(self.home), "PATH": "", **environ})
        return discover(host, settings=settings.replace(working_directory=str(self.project)))

    def create_service(self, host: str, **options: Any) -> SkillService:
        """Return a service that serves what a host sees."""
        return SkillService(HostRegistry(lambda: self.discover(host)), style=host, environ=EMPTY_PATH, **options)
