"""A `.tar.gz` as entries. Complete only when the gzip trailer agrees and two zero blocks were really reached.

`tarfile` stops in silence at a damaged header, and its own extraction has let links write outside of their folder
(CVE-2025-4517): here it only reads headers, from memory, and says where it stopped.
"""

import gzip
import io
import tarfile
import zlib
from collections.abc import Callable

from skillpm.core.file_tree import Entry, Limits
from skillpm.core.text import show
from skillpm.errors import RefusedError

Refuse = Callable[[str], RefusedError]

BLOCK = 512
CHUNK = 1 << 20
# What a member may cost beside its content: its header, a long name or two, the rest of a block.
AROUND_MEMBER = 8 * BLOCK
RATIO = 200
RATIO_FROM = 10_000_000
MEMBERS_PER_FILE = 4  # folders and attributes count too


def read_tar(data: bytes, limits: Limits, refuse: Refuse) -> list[Entry]:
    """Give every file and link; folders say nothing that their files do not."""
    raw = _unpacked(data, limits, refuse)
    try:
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:", errorlevel=2) as archive:
            entries = _entries(archive, limits, refuse)
            stopped_at = archive.offset
    except RefusedError:
        raise
    except (tarfile.TarError, ValueError, OSError, EOFError, OverflowError, RecursionError) as error:
        raise refuse(f"it is not a complete .tar.gz: {show(str(error), 100) or 'it cannot be read'}") from None
    end = raw[stopped_at : stopped_at + 2 * BLOCK]
    if len(end) < 2 * BLOCK or any(end):
        raise refuse("it is not a complete .tar.gz: its end mark is missing")
    return entries


def _unpacked(data: bytes, limits: Limits, refuse: Refuse) -> bytes:
    """Unpack to memory, counting what really comes; the trailer's sum and length are checked at the end."""
    most = limits.skill + limits.files * AROUND_MEMBER
    raw = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while chunk := file.read(CHUNK):
                raw += chunk
                if len(raw) > most:
                    raise refuse(f"it holds more than {limits.skill} bytes (SKILLPM_MAX_SKILL)")
                if len(raw) > RATIO_FROM and len(raw) > RATIO * len(data):
                    raise refuse(f"it unpacks to more than {RATIO} times its size, as no skill does")
    except (OSError, EOFError, zlib.error) as error:
        raise refuse(f"it is not a complete .tar.gz: {show(str(error), 100)}") from None
    return bytes(raw)


def _entries(archive: tarfile.TarFile, limits: Limits, refuse: Refuse) -> list[Entry]:
    entries: dict[str, Entry] = {}
    doubled: list[Entry] = []
    members = 0
    while (member := archive.next()) is not None:
        members += 1
        if members > MEMBERS_PER_FILE * limits.files:
            raise refuse(f"it has more than {limits.files} files (SKILLPM_MAX_FILES)")
        # What `archive` keeps of each member it has read is of no use to us, and a hundred thousand are many.
        archive.members = []  # type: ignore[attr-defined]
        if member.isdir():
            continue
        entry = _entry(archive, member, entries, refuse)
        if entries.setdefault(entry.path, entry) is not entry:
            doubled.append(entry)
        if len(entries) > limits.files:
            raise refuse(f"it has more than {limits.files} files (SKILLPM_MAX_FILES)")
    return [*entries.values(), *doubled]  # the gate tells what is there twice


def _entry(archive: tarfile.TarFile, member: tarfile.TarInfo, before: dict[str, Entry], refuse: Refuse) -> Entry:
    path = member.name.removeprefix("./")
    if member.issym():
        return Entry(path=path, kind="link", data=member.linkname.encode("utf-8", "surrogateescape"))
    if member.islnk():
        target = before.get(member.linkname.removeprefix("./"))
        if target is None or target.kind != "file":
            raise refuse(f"the hard link `{show(path)}` leads to no file before it")
        return target.but(path=path)
    if member.type not in {tarfile.REGTYPE, tarfile.AREGTYPE} or member.sparse is not None:
        raise refuse(f"`{show(path)}` is no file, folder or link")
    file = archive.extractfile(member)
    data = b"" if file is None else file.read()
    if len(data) != member.size:
        raise refuse(f"it is not a complete .tar.gz: it ends within `{show(path)}`")
    return Entry(path=path, data=data, executable=bool(member.mode & 0o100))
