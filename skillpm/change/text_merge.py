"""Merge three versions of a text by lines, with `git merge-file`."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from skillpm.fetchers.git.program.errors import GitFailed
from skillpm.fetchers.git.program.process import GitProcesses, build_base_environment
from skillpm.files import (
    discard_file,
    read_regular_file,
    remove_stale_temporaries,
    translate_os_errors,
    write_new_file,
)
from skillpm.settings import Settings

# The files that git compares, and what each is called in conflict marks.
LABELS = {"yours": "yours", "base": "installed", "theirs": "new"}


class FileMerger:
    """Runs `git merge-file` on temporary files in a cache folder, where those of killed processes are removed."""

    def __init__(self, settings: Settings, folder: str) -> None:
        self._processes = GitProcesses()
        self._environment = build_base_environment(settings.environ, {}, os.devnull)
        self._folder = folder

    def merge(self, base: bytes, yours: bytes, theirs: bytes) -> tuple[bytes, bool] | None:
        """Return the merged text, and whether it has conflict marks; None for binary data."""
        with self._write_files({"yours": yours, "base": base, "theirs": theirs}) as paths:
            labels = [word for label in LABELS.values() for word in ("-L", label)]
            options = ["-c", "merge.conflictStyle=merge", "merge-file", "--quiet", *labels]
            has_conflicts = False
            try:
                self._processes.run([*options, *paths], self._environment, self._folder)
            except GitFailed as failed:
                if failed.stderr:  # of binary data it says so; of conflicts it says nothing
                    return None
                has_conflicts = True
            return read_regular_file(paths[0]), has_conflicts

    @contextmanager
    def _write_files(self, contents: dict[str, bytes]) -> Iterator[list[str]]:
        """Write the files for as long as the body runs; yield their paths in the order of `LABELS`."""
        suffix = f"{os.getpid()}-{threading.get_ident()}.new"
        paths = [os.path.join(self._folder, f"merge-{name}.{suffix}") for name in LABELS]
        with translate_os_errors("write the files to merge", self._folder):
            os.makedirs(self._folder, exist_ok=True)
            try:
                for name, path in zip(LABELS, paths, strict=True):
                    remove_stale_temporaries(os.path.join(self._folder, f"merge-{name}"))
                    discard_file(path)
                    write_new_file(path, contents[name], 0o600)
                yield paths
            finally:
                for path in paths:
                    discard_file(path)
