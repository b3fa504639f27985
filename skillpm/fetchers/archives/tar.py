"""Read a `.tar.gz` into entries. It is complete only if the gzip trailer matches and two zero blocks end the archive.

`tarfile` stops silently at a damaged header, and its extraction has allowed links to write outside the target folder
(CVE-2025-4517). Here it only parses headers, in memory, and its position at the end shows where it stopped.
"""

import gzip
import io
import tarfile
import zlib
from collections.abc import Callable

from skillpm.core.file_tree import SourceEntry
from skillpm.core.limits import Limits
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError

MakeError = Callable[[str], RefusedError]

BLOCK_SIZE = 512
CHUNK_SIZE = 1 << 20
# Overhead of a member besides its content: its header, up to two long names, the padding of the last block.
MEMBER_OVERHEAD = 8 * BLOCK_SIZE
MAX_RATIO = 200
RATIO_MIN_SIZE = 10_000_000
MAX_MEMBERS_PER_FILE = 4  # folders and extended headers are members, too


def read_tar(data: bytes, limits: Limits, make_error: MakeError) -> list[SourceEntry]:
    """Return all files and links; folders are implied by the paths of their files."""
    raw = _decompress(data, limits, make_error)
    try:
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:", errorlevel=2) as archive:
            entries = _read_entries(archive, limits, make_error)
            stopped_at = archive.offset
    except RefusedError:
        raise
    except (tarfile.TarError, ValueError, OSError, EOFError, OverflowError, RecursionError) as error:
        raise make_error(f"not a complete .tar.gz: {sanitize(str(error), 100) or 'it cannot be read'}") from None
    # POSIX ustar: two blocks of zeros end an archive. `tarfile` accepts one without, and so one that was cut.
    end = raw[stopped_at : stopped_at + 2 * BLOCK_SIZE]
    if len(end) < 2 * BLOCK_SIZE or any(end):
        raise make_error("not a complete .tar.gz: the end-of-archive marker is missing")
    return entries


def _decompress(data: bytes, limits: Limits, make_error: MakeError) -> bytes:
    """Decompress into memory, counting the actual bytes: the size in the trailer may be wrong.

    `GzipFile` verifies the checksum and length of the trailer when it reaches the end.
    """
    max_size = limits.skill + limits.files * MEMBER_OVERHEAD
    raw = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while chunk := file.read(CHUNK_SIZE):
                raw += chunk
                if len(raw) > max_size:
                    raise make_error(f"it unpacks to more than {limits.skill} bytes (SKILLPM_MAX_SKILL)")
                if len(raw) > RATIO_MIN_SIZE and len(raw) > MAX_RATIO * len(data):
                    raise make_error(f"it unpacks to more than {MAX_RATIO} times its size")
    except (OSError, EOFError, zlib.error) as error:
        raise make_error(f"not a complete .tar.gz: {sanitize(str(error), 100)}") from None
    return bytes(raw)


def _read_entries(archive: tarfile.TarFile, limits: Limits, make_error: MakeError) -> list[SourceEntry]:
    entries: dict[str, SourceEntry] = {}
    duplicates: list[SourceEntry] = []
    members = 0
    while (member := archive.next()) is not None:
        members += 1
        if members > MAX_MEMBERS_PER_FILE * limits.files:
            raise make_error(f"it has more than {limits.files} files (SKILLPM_MAX_FILES)")
        # `tarfile` keeps every member it has read, 100,000 of them in the worst case; we need none again.
        archive.members = []  # type: ignore[attr-defined]
        if member.isdir():
            continue
        entry = _read_entry(archive, member, entries, make_error)
        if entries.setdefault(entry.path, entry) is not entry:
            duplicates.append(entry)
        if len(entries) > limits.files:
            raise make_error(f"it has more than {limits.files} files (SKILLPM_MAX_FILES)")
    return [*entries.values(), *duplicates]  # `check_tree` rejects duplicates, with a message


def _read_entry(
    archive: tarfile.TarFile, member: tarfile.TarInfo, earlier_entries: dict[str, SourceEntry], make_error: MakeError
) -> SourceEntry:
    path = member.name.removeprefix("./")
    if member.issym():
        return SourceEntry(path=path, kind="link", data=member.linkname.encode("utf-8", "surrogateescape"))
    if member.islnk():
        target = earlier_entries.get(member.linkname.removeprefix("./"))
        if target is None or target.kind != "file":
            raise make_error(f"the hard link `{sanitize(path)}` does not point to an earlier file")
        return target.replace(path=path)
    # Devices, pipes and sparse files: the size in a sparse header can be any number, without data behind it.
    if member.type not in {tarfile.REGTYPE, tarfile.AREGTYPE} or member.sparse is not None:
        raise make_error(f"`{sanitize(path)}` is not a file, folder or link")
    file = archive.extractfile(member)
    data = b"" if file is None else file.read()
    if len(data) != member.size:
        raise make_error(f"not a complete .tar.gz: it ends inside `{sanitize(path)}`")
    return SourceEntry(path=path, data=data, executable=bool(member.mode & 0o100))
