"""Reproducible `.tar.gz` archives of skills: the same content gives the same bytes, on any machine and on any day."""

import io
import struct
import tarfile
import zlib

from skillpm.core.file_tree import FileTree

# RFC 1952, 2.3: no file name, no time, maximum compression, unknown operating system. `gzip.compress` writes the
# operating system, and not the same one in all Python versions.
GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


def pack_archive(tree: FileTree) -> bytes:
    """Return the archive of a skill: no enclosing folder, sorted entries, times and owners zero."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in tree.files:
            member = tarfile.TarInfo(file.path)
            member.size, member.mode = len(file.data), 0o755 if file.executable else 0o644
            archive.addfile(member, io.BytesIO(file.data))
    return _compress(raw.getvalue())


def _compress(data: bytes) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL)
    body = compressor.compress(data) + compressor.flush()
    return GZIP_HEADER + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
