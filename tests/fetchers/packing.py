"""Archives as honest tools and attackers create them, in memory."""

import gzip
import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from hashlib import sha1

from kit import Files
from kit.skills import to_bytes


def tar(files: Files, *more: tarfile.TarInfo, executable: Iterable[str] = ()) -> bytes:
    """Create an uncompressed tar of files, then of members without content (links, devices)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            data = to_bytes(content)
            member.size, member.mode = len(data), 0o755 if path in executable else 0o644
            archive.addfile(member, io.BytesIO(data))
        for member in more:
            archive.addfile(member)
    return buffer.getvalue()


def tgz(files: Files, *more: tarfile.TarInfo, executable: Iterable[str] = ()) -> bytes:
    """Create a compressed tar of files."""
    return gzip.compress(tar(files, *more, executable=executable), mtime=0)


def member(path: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    """Create a special member of a tar: `tarfile.SYMTYPE`, `LNKTYPE`, `FIFOTYPE`, ..."""
    found = tarfile.TarInfo(path)
    found.type, found.linkname = kind, target
    return found


def sparse_member(path: str, size: int) -> tarfile.TarInfo:
    """Create a member without data whose extended header (GNU tar, "sparse 0.1") says that it has so many zeros."""
    found = tarfile.TarInfo(path)
    found.pax_headers = {"GNU.sparse.map": f"0,0,{size},0", "GNU.sparse.size": f"{size}"}
    return found


def zipped(files: Files, *, mode: Callable[[str], int] = lambda _: stat.S_IFREG | 0o644, extra: bytes = b"") -> bytes:
    """Create a Unix zip; `mode` is the type and permissions of each file, `extra` the extra field of all."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            info = zipfile.ZipInfo(path)
            info.create_system, info.external_attr = 3, mode(path) << 16
            info.compress_type, info.extra = zipfile.ZIP_DEFLATED, extra
            archive.writestr(info, to_bytes(content))
    return buffer.getvalue()


def zip_bomb(size: int) -> bytes:
    """Create a zip of one file of zeros, with its true size."""
    return zipped({"SKILL.md": bytes(size)})


def zip_with_false_size(size: int) -> bytes:
    """Create a zip of one file that unpacks to `size` bytes, but whose headers say ten."""
    content = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = content.compress(bytes(size)) + content.flush()
    name = b"SKILL.md"
    crc = zlib.crc32(bytes(size))
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 0, crc, len(packed), 10, len(name), 0) + name + packed
    sizes = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 8, 0, 0, crc, len(packed), 10, len(name), 0, 0, 0, 0, 0, 0)
    directory = sizes + name
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(directory), len(local), 0)
    return local + directory + end


def pack_entry(kind: int, content: bytes, *, size: int | None = None, packed: bytes | None = None) -> bytes:
    """Return an object of git as a pack has it; `size` is a false size, `packed` what is there instead of content."""
    left = len(content) if size is None else size
    head, left = [kind << 4 | left & 15], left >> 4
    while left:
        head[-1] |= 128
        head.append(left & 127)
        left >>= 7
    return bytes(head) + (zlib.compress(content) if packed is None else packed)


def git_pack(entries: Iterable[bytes], *, count: int | None = None) -> bytes:
    """Return a pack of git with these objects; `count` is how many it says that it has, if that is false."""
    items = [*entries]
    data = struct.pack(">4sII", b"PACK", 2, len(items) if count is None else count) + b"".join(items)
    return data + sha1(data, usedforsecurity=False).digest()
