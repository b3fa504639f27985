"""Files that cannot be reviewed as text: programs, archives, pickles, and files with misleading names."""

from collections.abc import Iterator

from skillpm.audit.checks.source_file import SourceFile
from skillpm.audit.model import AuditFinding, Severity
from skillpm.audit.rules.vocabulary import DOCUMENTS, INNOCENT, PICKLE_MAGIC, PICKLES, PICTURES, PROGRAM_FILES
from skillpm.core.patterns import lazy_pattern

MAC_PROGRAMS = (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa", b"\xca\xfe\xba\xbf")
PROGRAM_MAGIC = (
    (b"\x7fELF", "a Linux program"), (b"MZ", "a Windows program"), (b"\0asm", "a WebAssembly program"),
    (b"\xca\xfe\xba\xbe", "a Java class or a macOS program"), *((magic, "a macOS program") for magic in MAC_PROGRAMS),
    (b"\x1bLua", "bytecode of Lua"), (b"dex\n0", "an Android program"), (b"BC\xc0\xde", "bitcode of LLVM"),
    (b"FasdUAS", "a compiled AppleScript"), (b"!<arch>\n", "a library"), (b"L\0\0\0\x01\x14", "a shortcut of Windows"),
    *((magic + b"\r\r\n\0\0\0\0", "bytecode of Python") for magic in (b"\xcb", b"\xa7", b"\x6f")),
)  # fmt: skip
ARCHIVES = (
    (b"PK\x03\x04", "a zip"), (b"\x1f\x8b", "a gzip"), (b"7z\xbc\xaf\x27\x1c", "a 7z"), (b"Rar!", "a rar"),
    (b"\xfd7zXZ", "an xz"), (b"BZh", "a bzip2"), (b"\x28\xb5\x2f\xfd", "a zstd"), (b"\x04\x22\x4d\x18", "an lz4"),
    (b"MSCF\0", "a cab"),
)  # fmt: skip
SCRIPT_STARTS = (b"#!/", b"#! /", b"<?php", b"<script")
TEXTS = (".md", ".txt", ".html", ".svg", ".xml")
MIN_PROGRAM_SIZE = 64
# A name that ends like a document and is a script.
TWO_EXTENSIONS = lazy_pattern(
    r"\.(?:pdf|docx?|xlsx?|pptx?|png|jpe?g|gif)\.(?:sh|py|js|vbs|bat|cmd|ps1|exe|scr|command)$"
)
# What a drawing or a document runs when it is opened.
ACTIVE_DRAWING = lazy_pattern(rb"(?i)<svg\b[^>]{0,500}\son(?:load|error|click)\s*=")
ACTIVE_DOCUMENT = lazy_pattern(rb"/OpenAction\b[^\0]{0,200}?/(?:JavaScript|Launch)\b")


def check_file(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield what a file is, besides text or a document, and the line from which it was not read."""
    for rule, severity, message in _describe(file.file_path.lower(), file.data):
        yield file.finding(rule, severity, 1, message)
    if len(file.data) > file.limit and file.kind != "binary":
        severity = "medium" if file.kind in {"script", "doc"} else "low"
        message = f"only the first {file.limit:,} of {len(file.data):,} bytes were audited"
        yield file.finding("not-audited", severity, file.raw.count(b"\n") + 1, message)


def _describe(name: str, data: bytes) -> Iterator[tuple[str, Severity, str]]:
    """Yield what a file is, or contains behind a harmless beginning."""
    yield from _describe_opened(name, data)
    program = find_program(data)
    archive = next((label for magic, label in ARCHIVES if data.startswith(magic)), "")
    archive = archive or ("a tar" if data[257:262] == b"ustar" else "")
    if name.endswith(INNOCENT):
        if data.startswith(SCRIPT_STARTS) and not name.endswith(TEXTS):
            program = "a script"
        if program or (archive and not name.endswith((".svg", ".json", ".csv"))):
            extension = name.rpartition(".")[2]
            yield "disguised-file", "high", f"{program or f'{archive} file'} named .{extension}"
    elif program or name.endswith(PROGRAM_FILES):
        if data[2:4] == b"\r\n" and data[4:8] in (b"\1\0\0\0", b"\3\0\0\0"):  # PEP 552: by hash, not by time
            yield "native-program", "high", "bytecode of Python that runs whatever its source says"
        else:
            yield "native-program", "medium", program or "a compiled program or package"
    elif name.endswith(PICKLES) or data.startswith(PICKLE_MAGIC):
        yield "pickle", "medium", "a pickle, which runs code when it is loaded"
    elif archive and not name.endswith(DOCUMENTS):
        is_encrypted = data.startswith(b"PK") and int.from_bytes(data[6:7]) & 1  # the flags of its first file
        message = f"{archive} archive" + (" with a password" if is_encrypted else "")
        yield "archive", "medium" if is_encrypted else "low", message


def _describe_opened(name: str, data: bytes) -> Iterator[tuple[str, Severity, str]]:
    """Yield what a document or a picture does, or is, when it is opened."""
    if TWO_EXTENSIONS.search(name):
        yield "disguised-file", "medium", "a script whose name begins like that of a document"
    is_active_drawing = name.endswith(".svg") and ACTIVE_DRAWING.search(data)
    if is_active_drawing or (data.startswith(b"%PDF") and ACTIVE_DOCUMENT.search(data)):
        yield "disguised-file", "medium", "runs code when it is opened"
    if name.endswith(PICTURES):
        is_text = data.isascii() and b"\0" not in data and b"\n" in data
        if b"PK\3\4" in data and b"PK\5\6" in data[-65_557:]:
            yield "disguised-file", "high", "a zip archive behind a picture"
        elif is_text and not data.startswith((b"version https://git-lfs", *SCRIPT_STARTS)):
            yield "disguised-file", "medium", f"a text named .{name.rpartition('.')[2]}"


def find_program(data: bytes) -> str:
    """Return what kind of program these bytes are; empty for anything else."""
    if len(data) < MIN_PROGRAM_SIZE:
        return ""
    label = next((label for magic, label in PROGRAM_MAGIC if data.startswith(magic)), "")
    # Many texts begin with `MZ`.
    return "" if label == "a Windows program" and b"\0" not in data[:MIN_PROGRAM_SIZE] else label
