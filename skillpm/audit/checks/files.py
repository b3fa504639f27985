"""Files that cannot be reviewed as text: programs, archives, pickles, and files with misleading names."""

from collections.abc import Iterator

from skillpm.audit.finding import AuditFinding, Severity
from skillpm.audit.rule import Example, Rule
from skillpm.audit.source_file import MAX_ALL_TEXTS, MAX_PLACES, MAX_TEXT_SIZE, SourceFile
from skillpm.core.names import SKILL_FILES
from skillpm.core.patterns import lazy_pattern

MAGIC = (
    (b"\x7fELF", "a Linux program"),
    (b"MZ", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a macOS program"),
    (b"\xce\xfa\xed\xfe", "a macOS program"),
    (b"\xca\xfe\xba\xbe", "a Java class or a macOS program"),
    (b"\xfe\xed\xfa\xcf", "a macOS program"),
    (b"\xfe\xed\xfa\xce", "a macOS program"),
    (b"\xca\xfe\xba\xbf", "a macOS program"),
    (b"\0asm", "a WebAssembly program"),
    (b"\x1bLua", "bytecode of Lua"),
    (b"dex\n0", "an Android program"),
    (b"BC\xc0\xde", "bitcode of LLVM"),
    (b"FasdUAS", "a compiled AppleScript"),
    (b"L\0\0\0\x01\x14\x02\0", "a shortcut of Windows"),
    (b"!<arch>\n", "a library"),
    (b"\xcb\r\r\n\0\0\0\0", "bytecode of Python"),
    (b"\xa7\r\r\n\0\0\0\0", "bytecode of Python"),
    (b"\x6f\r\r\n\0\0\0\0", "bytecode of Python"),
)
ARCHIVES = (
    (b"PK\x03\x04", "a zip"),
    (b"\x1f\x8b", "a gzip"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z"),
    (b"Rar!", "a rar"),
    (b"\xfd7zXZ", "an xz"),
    (b"BZh", "a bzip2"),
    (b"\x28\xb5\x2f\xfd", "a zstd"),
    (b"\x04\x22\x4d\x18", "an lz4"),
    (b"MSCF\0", "a cab"),
)
INNOCENT = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".svg", ".pdf", ".txt", ".md", ".json", ".csv", ".ttf"),
    *(".woff", ".woff2", ".mp3", ".mp4", ".wav", ".yaml", ".yml", ".toml", ".html", ".css", ".xml"),
)
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".ttf", ".woff", ".woff2", ".mp3", ".mp4", ".wav")
# Formats that are zip files.
DOCUMENTS = (
    ".docx",
    ".xlsx",
    ".pptx",
    ".odt",
    ".ods",
    ".odp",
    ".epub",
    ".potx",
    ".xlsm",
    ".vsdx",
    ".drawio",
    ".sketch",
    ".kmz",
    ".dotx",
    ".npz",
)
BYTECODE = (".pyc", ".pyo", ".class", ".jar", ".whl", ".egg")
PICKLES = (".pkl", ".pickle", ".joblib", ".dill")
PROGRAMS = (".exe", ".dll", ".so", ".dylib", ".msi", ".scr", ".apk", ".deb", ".rpm", ".dmg", ".pkg", ".app", ".node")
# Protocol 0: the opcode `c` with a module and a name, each in a line.
TEXT_PICKLE = lazy_pattern(rb"\(?c[a-z_][\w.]{0,60}\n\w{1,60}\n[(q]")
YAML_OBJECT = lazy_pattern(r"!!python/(?:object|name|module)[:/]")
PICKLE_MAGIC = (b"\x80\x02", b"\x80\x03", b"\x80\x04\x95", b"\x80\x05\x95")
SCRIPT_STARTS = (b"#!/", b"#! /", b"<?php", b"<script", b"MSCF")
MIN_PROGRAM_SIZE = 64
ENCRYPTED_FLAG = 1

# A name that ends like a document and is a script.
TWO_EXTENSIONS = lazy_pattern(
    r"(?i)\.(?:pdf|docx?|xlsx?|pptx?|png|jpe?g|gif)\.(?:sh|py|js|vbs|bat|cmd|ps1|exe|scr|command)$"
)
# What a drawing or a document runs when it is opened.
ACTIVE_DRAWING = lazy_pattern(rb"(?i)<svg\b[^>]{0,500}\son(?:load|error|click)\s*=")
ACTIVE_DOCUMENT = lazy_pattern(rb"/OpenAction\b[^\0]{0,200}?/(?:JavaScript|Launch)\b")
# What hosts load as instructions, besides a SKILL.md.
INSTRUCTION_FILES = lazy_pattern(
    r"(?i)(?:^|/)(?:(?:claude|agents|gemini)\.md|\.cursorrules|\.cursor/rules/[^/]+\.mdc|\.claude/(?:commands|agents)/[^/]+\.md"
    r"|\.github/copilot-instructions\.md)$"
)

RULES = (
    Rule(
        id="native-program",
        severity="medium",
        title="A compiled program",
        reason="Neither a reviewer nor the rules can read it. The same applies to bytecode and packages.",
        remedy="Ship the source, or name the package that contains the program.",
        bad=Example(text="\x7fELF\x02\x01\x01" + "\0" * 64, path="bin/tool"),
        good=Example(text="#!/bin/sh\nexec tool\n", path="bin/tool"),
    ),
    Rule(
        id="disguised-file",
        severity="high",
        title="A program or archive that is named like a document or image",
        reason="The name keeps reviewers from opening the file.",
        remedy="Give the file its real extension.",
        bad=Example(text="#!/bin/sh\ncurl https://acme.example/data\n", path="assets/logo.png"),
        good=Example(text="GIF89a" + "\0" * 20, path="assets/logo.gif"),
    ),
    Rule(
        id="pickle",
        severity="medium",
        title="A pickle",
        reason="Loading it runs the code that it contains.",
        remedy="Use a format for data: JSON, CSV, safetensors.",
        bad=Example(text="\0\0\0\0", path="assets/model.pkl"),
        good=Example(text="{}", path="assets/model.json"),
    ),
    Rule(
        id="archive",
        severity="medium",
        title="An archive, whose content is not audited",
        reason=(
            "Reviewers do not see what it contains. With a password, scanners cannot read it, either; without one, it "
            "is low."
        ),
        remedy="Ship the files themselves.",
        bad=Example(text="PK\x03\x04\x14\0\x01\0" + "\0" * 40, path="assets/data.zip"),
        good=Example(text="PK\x03\x04\x14\0\0\0" + "\0" * 40, path="assets/report.docx"),
    ),
    Rule(
        id="not-audited",
        severity="medium",
        title="Text that is too long or too repetitive for the rules",
        reason=f"The rules read {MAX_TEXT_SIZE:,} bytes of each file, {MAX_ALL_TEXTS:,} bytes of a skill, and "
        f"{MAX_PLACES:,} occurrences of each word that they search for in a file.",
        remedy="Split the file, or review the rest yourself.",
        bad=Example(text="# a line of a very long script\n" * 40_000, path="scripts/run.py"),
        good=Example(text="# a short script\n", path="scripts/run.py"),
    ),
    Rule(
        id="nested-skill",
        severity="low",
        title="Another skill, or other instructions, inside",
        reason="Some hosts find a SKILL.md at any depth, and list it in addition to the skill that you chose. Hosts "
        "also load files like CLAUDE.md, AGENTS.md and rules of editors from the folders in which they work.",
        remedy="Publish it as a separate skill, and declare it as a dependency.",
        bad=Example(text="---\nname: inner\ndescription: Another one.\n---\n", path="extras/inner/SKILL.md"),
        good=Example(text="---\nname: outer\ndescription: The only one.\n---\n", path="SKILL.md"),
    ),
)


def check_file(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield a finding for a file that is not just text or a document."""
    name, data = file.file_path.lower(), file.data
    if "/" in name and file.file_path.rpartition("/")[2] in SKILL_FILES:
        yield file.finding("nested-skill", "low", 1, "another skill, which some hosts list as well")
    elif "/" in name and name.endswith("/skill.md"):
        yield file.finding("nested-skill", "low", 1, "another skill, for hosts that ignore the case of its name")
    if INSTRUCTION_FILES.search(file.file_path):
        yield file.finding("nested-skill", "low", 1, "instructions that hosts load by themselves")
    yield from _check_content(file, name)
    program = find_program(data)
    archive = next((label for magic, label in ARCHIVES if data.startswith(magic)), "")
    archive = archive or ("a tar" if data[257:262] == b"ustar" else "")
    if name.endswith(INNOCENT):
        label = (
            program
            or archive
            or (
                "a script"
                if data.startswith(SCRIPT_STARTS) and not name.endswith((".md", ".txt", ".html", ".svg", ".xml"))
                else ""
            )
        )
        if label and not (archive and name.endswith((".svg", ".json", ".csv"))):
            extension = name.rpartition(".")[2]
            yield file.finding(
                "disguised-file",
                "high",
                1,
                f"{label} file named .{extension}" if archive else f"{label} named .{extension}",
            )
    elif program or name.endswith((*BYTECODE, *PROGRAMS)):
        yield file.finding("native-program", "medium", 1, program or "a compiled program or package")
    elif name.endswith(PICKLES) or is_pickle(data):
        yield file.finding("pickle", "medium", 1, "a pickle, which runs code when it is loaded")
    elif archive and not name.endswith(DOCUMENTS):
        is_encrypted = data.startswith(b"PK") and len(data) > 6 and data[6] & ENCRYPTED_FLAG  # noqa: PLR2004
        message = f"{archive} archive" + (" with a password" if is_encrypted else "")
        yield file.finding("archive", "medium" if is_encrypted else "low", 1, message)


def check_length(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield the line from which a file was not read by all rules; applied after all others."""
    severity: Severity = "medium" if file.is_script or file.kind in {"markdown", "text"} else "low"
    if len(file.data) > file.limit and file.kind != "binary":
        message = f"only the first {file.limit:,} of {len(file.data):,} bytes were audited"
        yield file.finding("not-audited", severity, file.text.count("\n") + 1, message)
    if file.unread_from:
        message = "from here on, the same words are repeated so often that not all rules were applied"
        yield file.finding("not-audited", severity, file.unread_from, message)


def _check_content(file: SourceFile, name: str) -> Iterator[AuditFinding]:
    """Yield what a file contains behind a harmless beginning."""
    data = file.data
    if file.kind == "data" and "!!python/" in file.text:
        for match in YAML_OBJECT.finditer(file.text):
            message = "YAML that calls Python when it is loaded"
            yield file.finding("pickle", "medium", file.line_of(match), message)
    if TWO_EXTENSIONS.search(name):
        yield file.finding("disguised-file", "medium", 1, "a script whose name begins like that of a document")
    if (name.endswith(".svg") and ACTIVE_DRAWING.search(data)) or (
        data.startswith(b"%PDF") and ACTIVE_DOCUMENT.search(data)
    ):
        yield file.finding("disguised-file", "medium", 1, "runs code when it is opened")
    if name.endswith(INNOCENT) and TEXT_PICKLE.match(data):
        yield file.finding("pickle", "medium", 1, "a pickle, which runs code when it is loaded")
    elif data.startswith(b"PK") and b"/data.pkl" in data[:4_096] and not name.endswith(PICKLES):
        yield file.finding("pickle", "medium", 1, "a model with a pickle, which runs code when it is loaded")
    elif data.startswith(b"\x93NUMPY") and b"'|O'" in data[:256]:
        yield file.finding("pickle", "medium", 1, "an array with a pickle, which runs code when it is loaded")
    if name.endswith(PICTURES) and b"PK\3\4" in data and b"PK\5\6" in data[-65_557:]:
        yield file.finding("disguised-file", "high", 1, "a zip archive behind a picture")
    elif name.endswith(PICTURES) and is_script_text(data):
        yield file.finding("disguised-file", "medium", 1, f"a text named .{name.rpartition('.')[2]}")


def is_script_text(data: bytes) -> bool:
    """Return whether the content of a picture is lines of text, and not the pointer by which Git LFS replaces it."""
    is_text = data.isascii() and b"\0" not in data and b"\n" in data
    return is_text and not data.startswith((b"version https://git-lfs", b"#!", b"<?php"))


def is_pickle(data: bytes) -> bool:
    """Return whether bytes are a pickle, of any protocol, that imports something or has many objects."""
    is_framed = data[:1] == b"\x80" and data[1:2] in {b"\2", b"\3", b"\4", b"\5"} and data.endswith(b".")
    return is_framed or data.startswith(PICKLE_MAGIC) or TEXT_PICKLE.match(data) is not None


def find_program(data: bytes) -> str:
    """Return what kind of program these bytes are; empty for anything else."""
    if len(data) < MIN_PROGRAM_SIZE:
        return ""
    label = next((label for magic, label in MAGIC if data.startswith(magic)), "")
    # Many texts begin with `MZ`.
    return "" if label == "a Windows program" and b"\0" not in data[:MIN_PROGRAM_SIZE] else label
