"""Merge three versions of a text by lines, with `git merge-file`."""

import os
from tempfile import TemporaryDirectory

from skillpm.fetchers.git.errors import GitFailed
from skillpm.fetchers.git.process import GitProcesses, build_base_environment
from skillpm.files import read_regular_file, write_new_file
from skillpm.settings import Settings

# What each side is called in conflict marks.
LABELS = ("yours", "installed", "new")


class FileMerger:
    """Runs `git merge-file` in a folder that is deleted at the end."""

    def __init__(self, settings: Settings) -> None:
        self._processes = GitProcesses()
        self._environment = build_base_environment(settings.environ, {}, os.devnull)

    def merge(self, base: bytes, yours: bytes, theirs: bytes) -> tuple[bytes, bool] | None:
        """Return the merged text, and whether it has conflict marks; None for binary data."""
        with TemporaryDirectory(prefix="skillpm-merge-") as folder:
            for name, data in (("yours", yours), ("base", base), ("theirs", theirs)):
                write_new_file(os.path.join(folder, name), data, 0o600)
            labels = [word for label in LABELS for word in ("-L", label)]
            options = ["-c", "merge.conflictStyle=merge", "merge-file", "--quiet", *labels]
            try:
                self._processes.run([*options, "yours", "base", "theirs"], self._environment, folder)
            except GitFailed as failed:
                if failed.stderr:  # of binary data it says so; of conflicts it says nothing
                    return None
                return read_regular_file(os.path.join(folder, "yours")), True
            return read_regular_file(os.path.join(folder, "yours")), False
