"""A skill as a `.tar.gz` that is the same bytes on every machine and on every day."""

import io
import struct
import tarfile
import zlib

from skillpm.core.file_tree import FileTree

# No name, no time, "maximum compression", system unknown (RFC 1952, 2.3): nothing of the machine or the day.
GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


def pack_archive(tree: FileTree) -> bytes:
    """Give a skill's archive: SKILL.md at its top, entries sorted, zero times and owners."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in tree.files:
            member = tarfile.TarInfo(file.path)
            member.size, member.mode = len(file.data), 0o755 if file.executable else 0o644
            archive.addfile(member, io.BytesIO(file.data))
    return _compress(raw.getvalue())


def _compress(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL)
    body = packer.compress(data) + packer.flush()
    return GZIP_HEADER + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
