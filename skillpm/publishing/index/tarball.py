"""Reproducible `.tar.gz` archives of skills: the same content gives the same bytes, on any machine and on any day."""

import io
import posixpath
import tarfile
from gzip import GzipFile

from skillpm.core.file_tree import FileTree


def pack_archive(tree: FileTree) -> bytes:
    """Return the archive of a skill: sorted entries, times and owners zero."""
    return compress(pack_tar(tree, ""))


def pack_tar(tree: FileTree, folder: str) -> bytes:
    """Return the archive without compression, its entries in this folder, if any."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in tree.files:
            member = tarfile.TarInfo(posixpath.join(folder, file.path))
            member.size, member.mode = len(file.data), 0o755 if file.executable else 0o644
            archive.addfile(member, io.BytesIO(file.data))
    return raw.getvalue()


def compress(data: bytes) -> bytes:
    """Return data as gzip, without a time or a name."""
    # Not `gzip.compress`: it writes the operating system into the header, and not the same in all Python versions.
    compressed = io.BytesIO()
    with GzipFile(filename="", mode="wb", compresslevel=9, fileobj=compressed, mtime=0) as output:
        output.write(data)
    return compressed.getvalue()
