"""A `.zip` as entries. What the directory at its end says must be what stands before each member.

Two readers of one zip may see two different archives where names, sizes or places disagree; uv refuses the same
(`uv-extract`, tests `malo_reject_*`).
"""

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable

from skillpm.core.file_tree import Limits, SourceEntry
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
ZIP64_MARKER = 0xFFFFFFFF  # the size stands in the extra field
MAX_DESCRIPTOR_SIZE = 24  # 4.3.9, data descriptor, with its mark and long sizes
MAX_MEMBERS_PER_FILE = 4


def read_zip(data: bytes, limits: Limits, make_error: MakeError) -> list[SourceEntry]:
    """Give every file and link; folders say nothing that their files do not."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS_PER_FILE * limits.files:
                raise make_error(f"it has more than {limits.files} files (SKILLPM_MAX_FILES)")
            _check_end_record(archive, data, make_error)
            _check_offsets(data, members, archive.start_dir, make_error)
            return _read_entries(archive, members, limits, make_error)
    except RefusedError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error) as error:
        raise make_error(f"it is not a complete .zip: {sanitize(str(error), 100)}") from None
    # An encrypted member, a method that nobody knows, a name that is none: none of them is a BadZipFile.
    except (RuntimeError, NotImplementedError, ValueError, OSError, EOFError, OverflowError, LookupError) as error:
        raise make_error(f"it cannot be read as a .zip: {sanitize(str(error), 100)}") from None


def _check_end_record(archive: zipfile.ZipFile, data: bytes, make_error: MakeError) -> None:
    """Refuse an end that is not the end: what follows it, or is missing, may make another archive of it."""
    end = data[len(data) - END_RECORD_SIZE - len(archive.comment) :]
    if end[:4] != b"PK\x05\x06" or int.from_bytes(end[20:22], "little") != len(archive.comment):
        raise make_error("it is not a complete .zip, or something follows its end")


def _check_offsets(data: bytes, members: list[zipfile.ZipInfo], directory_offset: int, make_error: MakeError) -> None:
    """Refuse members that overlap, leave room for others, or call themselves otherwise than the directory does."""
    end = room = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        name = sanitize(member.orig_filename)
        if member.flag_bits & FLAG_ENCRYPTED:
            raise make_error(f"`{name}` is encrypted")
        if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise make_error(f"`{name}` is packed by a method that is not read ({member.compress_type})")
        if not end <= member.header_offset <= end + room:
            raise make_error(f"`{name}` does not begin where the member before it ends")
        header = LOCAL_HEADER.unpack_from(data, member.header_offset)
        mark, flags, method, packed, size, name_length, extra_length = (header[n] for n in (0, 2, 3, 7, 8, 9, 10))
        start = member.header_offset + LOCAL_HEADER.size
        written = data[start : start + name_length]
        sizes = {(member.compress_size, member.file_size)} | ({(0, 0)} if flags & FLAG_DATA_DESCRIPTOR else set())
        is_large = ZIP64_MARKER in {packed, size}
        if (
            mark != b"PK\x03\x04"
            or written != member.orig_filename.encode("utf-8" if member.flag_bits & FLAG_UTF8 else "cp437")
            or method != member.compress_type
            or (flags ^ member.flag_bits) & (FLAG_ENCRYPTED | FLAG_UTF8)
            or ((packed, size) not in sizes and not is_large)
        ):
            raise make_error(f"`{name}` is another one in its own header than in the directory")
        end = start + name_length + extra_length + member.compress_size
        room = MAX_DESCRIPTOR_SIZE if flags & FLAG_DATA_DESCRIPTOR else 0
    if not end <= directory_offset <= end + room:
        raise make_error("its directory does not begin where its members end")


def _read_entries(
    archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], limits: Limits, make_error: MakeError
) -> list[SourceEntry]:
    entries: list[SourceEntry] = []
    room = limits.skill
    for member in members:
        name = member.orig_filename
        if not (name.isascii() or member.flag_bits & FLAG_UTF8) or "\0" in name or _has_unicode_path(member.extra):
            raise make_error(f"the name `{sanitize(name)}` is not plain UTF-8")
        mode = member.external_attr >> 16 if member.create_system == CREATED_ON_UNIX else 0
        kind = stat.S_IFMT(mode)
        if name.endswith("/") and kind in {0, stat.S_IFDIR} and not member.file_size:
            continue
        if name.endswith("/") or kind not in {0, stat.S_IFREG, stat.S_IFLNK}:
            raise make_error(f"`{sanitize(name)}` is no file, folder or link")
        if len(entries) >= limits.files:
            raise make_error(f"it has more than {limits.files} files (SKILLPM_MAX_FILES)")
        content = _read_content(archive, member, room, make_error)
        room -= len(content)
        link = kind == stat.S_IFLNK
        entries.append(
            SourceEntry(
                path=name, kind="link" if link else "file", data=content, executable=bool(mode & 0o100) and not link
            )
        )
    return entries


def _read_content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, remaining: int, make_error: MakeError) -> bytes:
    """Unpack one member, counting what really comes; its sum is checked at the end."""
    content = bytearray()
    with archive.open(member) as file:
        while chunk := file.read(CHUNK_SIZE):
            content += chunk
            if len(content) > remaining:
                raise make_error("it holds more bytes than a skill may have (SKILLPM_MAX_SKILL)")
            if len(content) > RATIO_MIN_SIZE and len(content) > MAX_RATIO * member.compress_size:
                raise make_error(f"`{sanitize(member.orig_filename)}` unpacks to more than {MAX_RATIO} times its size")
    if len(content) != member.file_size:
        raise make_error(f"`{sanitize(member.orig_filename)}` is not as long as the directory says")
    return bytes(content)


def _has_unicode_path(extra: bytes) -> bool:
    """Tell whether a member brings a second name (Info-ZIP's Unicode path), which another reader would take."""
    while len(extra) >= 4:  # noqa: PLR2004  (tag and length)
        tag, length = struct.unpack_from("<HH", extra)
        if tag == UNICODE_PATH_TAG:
            return True
        extra = extra[4 + length :]
    return False
