"""Reproducible `.tar.gz` archives of skills: the same content gives the same bytes, on any machine and on any day."""

import io
import tarfile
from gzip import GzipFile

from skillpm.core.file_tree import FileTree


def pack_archive(tree: FileTree) -> bytes:
    """Return the archive of a skill: no enclosing folder, sorted entries, times and owners zero."""
    raw, compressed = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in tree.files:
            member = tarfile.TarInfo(file.path)
            member.size, member.mode = len(file.data), 0o755 if file.executable else 0o644
            archive.addfile(member, io.BytesIO(file.data))
    # Not `gzip.compress`: it writes the operating system into the header, and not the same in all Python versions.
    with GzipFile(filename="", mode="wb", compresslevel=9, fileobj=compressed, mtime=0) as output:
        output.write(raw.getvalue())
    return compressed.getvalue()
