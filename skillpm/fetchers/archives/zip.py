"""Read a `.zip` into entries. The central directory at its end must agree with the local header of each member.

If names, sizes or offsets differ, two readers see two different archives: one that was reviewed, and one that is
installed. uv rejects the same (`uv-extract`, tests `malo_reject_*`).
"""

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable

from skillpm.core.file_tree import SourceEntry
from skillpm.core.limits import MAX_ZIP_MEMBER_RECORD, Limits
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError

MakeError = Callable[[str], RefusedError]

CHUNK_SIZE = 1 << 20
MAX_RATIO = 200
RATIO_MIN_SIZE = 10_000_000
CREATED_ON_UNIX = 3
FLAG_ENCRYPTED, FLAG_DATA_DESCRIPTOR, FLAG_UTF8 = 0x1, 0x8, 0x800
LOCAL_HEADER = struct.Struct("<4s5HI2I2H")  # APPNOTE.TXT 4.3.7, local file header
END_RECORD_SIZE = 22  # APPNOTE.TXT 4.3.16, end of central directory record, without its comment
UNICODE_PATH_TAG = 0x7075
ZIP64_MARKER = 0xFFFFFFFF  # the size is in the extra field
MAX_DESCRIPTOR_SIZE = 24  # 4.3.9, data descriptor, with its signature and 64-bit sizes
CENTRAL_HEADER_SIGNATURE = b"PK\x01\x02"  # 4.3.12
MAX_MEMBERS_PER_FILE = 4


def read_zip(data: bytes, limits: Limits, make_error: MakeError) -> list[SourceEntry]:
    """Return all files and links; folders are implied by the paths of their files."""
    try:
        with zipfile.ZipFile(_BoundedReader(data, limits, make_error)) as archive:
            members = archive.infolist()
            _check_end_record(archive, data, make_error)
            _check_offsets(data, members, archive.start_dir, make_error)
            return _read_entries(archive, members, limits, make_error)
    except RefusedError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error) as error:
        raise make_error(f"not a complete .zip: {sanitize(str(error), 100)}") from None
    # For encrypted members, unknown compression methods or invalid names, `zipfile` raises other exceptions.
    except (RuntimeError, NotImplementedError, ValueError, OSError, EOFError, OverflowError, LookupError) as error:
        raise make_error(f"cannot read it as a .zip: {sanitize(str(error), 100)}") from None


class _BoundedReader(io.BytesIO):
    """An archive's bytes for `zipfile`, which creates half a kilobyte of objects for each member of the directory.

    The directory is checked when it is read, whatever the end record says about its size and its number of members.
    """

    def __init__(self, data: bytes, limits: Limits, make_error: MakeError) -> None:
        super().__init__(data)
        self.max_members = MAX_MEMBERS_PER_FILE * limits.files
        self.error = make_error(f"it has more than {limits.files} files (SKILLPM_MAX_FILES)")

    def read(self, size: int | None = -1, /) -> bytes:
        """Read; raise `RefusedError` for more than a directory of the allowed number of members can have."""
        if size is not None and size > self.max_members * MAX_ZIP_MEMBER_RECORD:
            raise self.error
        data = super().read(size)
        if data.count(CENTRAL_HEADER_SIGNATURE) > self.max_members:
            raise self.error
        return data


def _check_end_record(archive: zipfile.ZipFile, data: bytes, make_error: MakeError) -> None:
    """Reject data after the end record: another reader could find a second end record, and another archive, in it."""
    end = data[len(data) - END_RECORD_SIZE - len(archive.comment) :]
    if end[:4] != b"PK\x05\x06" or int.from_bytes(end[20:22], "little") != len(archive.comment):
        raise make_error("not a complete .zip, or data follows its end")


def _check_offsets(data: bytes, members: list[zipfile.ZipInfo], directory_offset: int, make_error: MakeError) -> None:
    """Reject members that overlap, leave gaps, or whose local headers differ from the central directory.

    Overlapping members are how zip bombs multiply; gaps can hide members that only a streaming reader sees.
    """
    end = gap = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        name = sanitize(member.orig_filename)
        if member.flag_bits & FLAG_ENCRYPTED:
            raise make_error(f"`{name}` is encrypted")
        if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise make_error(f"`{name}` has an unsupported compression method ({member.compress_type})")
        if not end <= member.header_offset <= end + gap:
            raise make_error(f"`{name}` does not start where the previous member ends")
        header = LOCAL_HEADER.unpack_from(data, member.header_offset)
        signature, flags, method, compressed_size, size, name_length, extra_length = (
            header[n] for n in (0, 2, 3, 7, 8, 9, 10)
        )
        start = member.header_offset + LOCAL_HEADER.size
        local_name = data[start : start + name_length]
        # With a data descriptor (4.4.4, bit 3) the sizes follow the data, and are 0 here; with ZIP64 they are extra.
        sizes = {(member.compress_size, member.file_size)} | ({(0, 0)} if flags & FLAG_DATA_DESCRIPTOR else set())
        is_zip64 = ZIP64_MARKER in {compressed_size, size}
        if (
            signature != b"PK\x03\x04"
            or local_name != member.orig_filename.encode("utf-8" if member.flag_bits & FLAG_UTF8 else "cp437")
            or method != member.compress_type
            or (flags ^ member.flag_bits) & (FLAG_ENCRYPTED | FLAG_UTF8)
            or ((compressed_size, size) not in sizes and not is_zip64)
        ):
            raise make_error(f"`{name}`: its local header does not match the central directory")
        end = start + name_length + extra_length + member.compress_size
        gap = MAX_DESCRIPTOR_SIZE if flags & FLAG_DATA_DESCRIPTOR else 0
    if not end <= directory_offset <= end + gap:
        raise make_error("the central directory does not start where the members end")


def _read_entries(
    archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], limits: Limits, make_error: MakeError
) -> list[SourceEntry]:
    entries: list[SourceEntry] = []
    remaining = limits.skill
    for member in members:
        name = member.orig_filename
        # Other names are in cp437 or a local encoding, which each reader guesses differently.
        if not (name.isascii() or member.flag_bits & FLAG_UTF8) or "\0" in name or _has_unicode_path(member.extra):
            raise make_error(f"the name `{sanitize(name)}` is not plain UTF-8")
        mode = member.external_attr >> 16 if member.create_system == CREATED_ON_UNIX else 0
        kind = stat.S_IFMT(mode)
        if name.endswith("/") and kind in {0, stat.S_IFDIR} and not member.file_size:
            continue
        if name.endswith("/") or kind not in {0, stat.S_IFREG, stat.S_IFLNK}:
            raise make_error(f"`{sanitize(name)}` is not a file, folder or link")
        if len(entries) >= limits.files:
            raise make_error(f"it has more than {limits.files} files (SKILLPM_MAX_FILES)")
        content = _read_content(archive, member, remaining, make_error)
        remaining -= len(content)
        is_link = kind == stat.S_IFLNK
        entries.append(
            SourceEntry(
                path=name,
                kind="link" if is_link else "file",
                data=content,
                executable=bool(mode & 0o100) and not is_link,
            )
        )
    return entries


def _read_content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, remaining: int, make_error: MakeError) -> bytes:
    """Decompress one member, counting the actual bytes; `zipfile` verifies its checksum at the end."""
    content = bytearray()
    with archive.open(member) as file:
        while chunk := file.read(CHUNK_SIZE):
            content += chunk
            if len(content) > remaining:
                raise make_error("it unpacks to more bytes than a skill may have (SKILLPM_MAX_SKILL)")
            if len(content) > RATIO_MIN_SIZE and len(content) > MAX_RATIO * member.compress_size:
                raise make_error(f"`{sanitize(member.orig_filename)}` unpacks to more than {MAX_RATIO} times its size")
    if len(content) != member.file_size:
        raise make_error(f"`{sanitize(member.orig_filename)}` does not have the size in the central directory")
    return bytes(content)


def _has_unicode_path(extra: bytes) -> bool:
    """Return whether a member has a second name (Info-ZIP Unicode Path, 4.6.9), which other readers may prefer."""
    while len(extra) >= 4:  # noqa: PLR2004  (tag and length)
        tag, length = struct.unpack_from("<HH", extra)
        if tag == UNICODE_PATH_TAG:
            return True
        extra = extra[4 + length :]
    return False
