"""A `.tar.gz` as entries. Complete only when the gzip trailer agrees and two zero blocks were really reached.

`tarfile` stops in silence at a damaged header, and its own extraction has let links write outside of their folder
(CVE-2025-4517): here it only reads headers, from memory, and says where it stopped.
"""

import gzip
import io
import tarfile
import zlib
from collections.abc import Callable

from skillpm.core.file_tree import Limits, SourceEntry
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError

MakeError = Callable[[str], RefusedError]

BLOCK_SIZE = 512
CHUNK_SIZE = 1 << 20
# What a member may cost beside its content: its header, a long name or two, the rest of a block.
MEMBER_OVERHEAD = 8 * BLOCK_SIZE
MAX_RATIO = 200
RATIO_MIN_SIZE = 10_000_000
MAX_MEMBERS_PER_FILE = 4  # folders and attributes count too


def read_tar(data: bytes, limits: Limits, make_error: MakeError) -> list[SourceEntry]:
    """Give every file and link; folders say nothing that their files do not."""
    raw = _decompress(data, limits, make_error)
    try:
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:", errorlevel=2) as archive:
            entries = _read_entries(archive, limits, make_error)
            stopped_at = archive.offset
    except RefusedError:
        raise
    except (tarfile.TarError, ValueError, OSError, EOFError, OverflowError, RecursionError) as error:
        raise make_error(f"it is not a complete .tar.gz: {sanitize(str(error), 100) or 'it cannot be read'}") from None
    end = raw[stopped_at : stopped_at + 2 * BLOCK_SIZE]
    if len(end) < 2 * BLOCK_SIZE or any(end):
        raise make_error("it is not a complete .tar.gz: its end mark is missing")
    return entries


def _decompress(data: bytes, limits: Limits, make_error: MakeError) -> bytes:
    """Unpack to memory, counting what really comes; the trailer's sum and length are checked at the end."""
    most = limits.skill + limits.files * MEMBER_OVERHEAD
    raw = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while chunk := file.read(CHUNK_SIZE):
                raw += chunk
                if len(raw) > most:
                    raise make_error(f"it holds more than {limits.skill} bytes (SKILLPM_MAX_SKILL)")
                if len(raw) > RATIO_MIN_SIZE and len(raw) > MAX_RATIO * len(data):
                    raise make_error(f"it unpacks to more than {MAX_RATIO} times its size, as no skill does")
    except (OSError, EOFError, zlib.error) as error:
        raise make_error(f"it is not a complete .tar.gz: {sanitize(str(error), 100)}") from None
    return bytes(raw)


def _read_entries(archive: tarfile.TarFile, limits: Limits, make_error: MakeError) -> list[SourceEntry]:
    entries: dict[str, SourceEntry] = {}
    doubled: list[SourceEntry] = []
    members = 0
    while (member := archive.next()) is not None:
        members += 1
        if members > MAX_MEMBERS_PER_FILE * limits.files:
            raise make_error(f"it has more than {limits.files} files (SKILLPM_MAX_FILES)")
        # What `archive` keeps of each member it has read is of no use to us, and a hundred thousand are many.
        archive.members = []  # type: ignore[attr-defined]
        if member.isdir():
            continue
        entry = _read_entry(archive, member, entries, make_error)
        if entries.setdefault(entry.path, entry) is not entry:
            doubled.append(entry)
        if len(entries) > limits.files:
            raise make_error(f"it has more than {limits.files} files (SKILLPM_MAX_FILES)")
    return [*entries.values(), *doubled]  # the gate tells what is there twice


def _read_entry(
    archive: tarfile.TarFile, member: tarfile.TarInfo, earlier_entries: dict[str, SourceEntry], make_error: MakeError
) -> SourceEntry:
    path = member.name.removeprefix("./")
    if member.issym():
        return SourceEntry(path=path, kind="link", data=member.linkname.encode("utf-8", "surrogateescape"))
    if member.islnk():
        target = earlier_entries.get(member.linkname.removeprefix("./"))
        if target is None or target.kind != "file":
            raise make_error(f"the hard link `{sanitize(path)}` leads to no file before it")
        return target.replace(path=path)
    if member.type not in {tarfile.REGTYPE, tarfile.AREGTYPE} or member.sparse is not None:
        raise make_error(f"`{sanitize(path)}` is no file, folder or link")
    file = archive.extractfile(member)
    data = b"" if file is None else file.read()
    if len(data) != member.size:
        raise make_error(f"it is not a complete .tar.gz: it ends within `{sanitize(path)}`")
    return SourceEntry(path=path, data=data, executable=bool(member.mode & 0o100))
