"""Archives: all valid ones give the same skill, and all others are refused completely."""

import gzip
import os
import stat
import struct
import subprocess
import tarfile
from pathlib import Path

import pytest
from fetchers.packing import member, sparse_member, tar, tgz, zip_bomb, zip_with_false_size, zipped
from hypothesis import given
from hypothesis import strategies as some
from kit import make_skill

from skillpm.core.file_tree import FileTree
from skillpm.core.limits import Limits
from skillpm.core.tree_checks import check_tree
from skillpm.errors import RefusedError
from skillpm.fetchers.archives.archive_reader import read_archive

FILES = make_skill("pdf") | {"scripts/run.sh": "#!/bin/sh\n", "references/a.md": "A.\n"}
ROOMY = Limits()
TIGHT = Limits(file=1_000, skill=2_000, files=5)


def taken(data: bytes, came_from: str = "x.tar.gz", limits: Limits = ROOMY) -> FileTree:
    """Read and check an archive, as every fetcher does."""
    return check_tree(read_archive(data, came_from, limits), name="pdf", limits=limits)


def content(tree: FileTree) -> dict[str, tuple[bytes, bool]]:
    return {file.path: (file.data, file.executable) for file in tree.files}


def by_tar(folder: Path, *words: str) -> bytes:
    return subprocess.run(["tar", "-cz", "-C", str(folder), *words], check=True, capture_output=True).stdout


def by_git(folder: Path, kind: str) -> bytes:
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "all"], check=True)
    archive = [*git, "archive", f"--format={kind}", "--prefix=pdf-1.0/", "HEAD"]
    return subprocess.run(archive, check=True, capture_output=True).stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, data in FILES.items():
        file = tmp_path / "pdf" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
    (tmp_path / "pdf/scripts/run.sh").chmod(0o755)
    os.symlink("run.sh", tmp_path / "pdf/scripts/again.sh")
    return tmp_path / "pdf"


@pytest.mark.parametrize("packed", ["tar", "tar of a folder", "git tar.gz", "git zip"])
def test_every_valid_archive_gives_the_same_skill(folder: Path, packed: str) -> None:
    if packed.startswith("git"):
        data = by_git(folder, packed.split()[1])
    else:
        data = by_tar(folder, ".") if packed == "tar" else by_tar(folder.parent, "pdf")

    assert content(taken(data)) == {
        "SKILL.md": (FILES["SKILL.md"], False),
        "references/a.md": (b"A.\n", False),
        "scripts/again.sh": (b"#!/bin/sh\n", True),
        "scripts/run.sh": (b"#!/bin/sh\n", True),
    }


def test_a_zip_from_windows_has_no_modes() -> None:
    data = zipped(FILES, mode=lambda _: 0)
    assert content(taken(data, "x.zip"))["scripts/run.sh"] == (b"#!/bin/sh\n", False)


def test_a_single_file_is_a_skill() -> None:
    tree = taken(make_skill("pdf")["SKILL.md"], "https://host.example/pdf/SKILL.md?raw=1")
    assert content(tree) == {"SKILL.md": (FILES["SKILL.md"], False)}


def test_a_hard_link_becomes_a_copy_of_an_earlier_file() -> None:
    data = tgz(FILES, member("copy.md", tarfile.LNKTYPE, "references/a.md"))
    assert content(taken(data))["copy.md"] == (b"A.\n", False)


def with_local_flags(archive: bytes, flags: int) -> bytes:
    """Return a zip with other flags in the local header of its first member (APPNOTE.TXT 4.3.7)."""
    return archive[:6] + struct.pack("<H", flags) + archive[8:]


# A tar up to its end.
MEMBERS = tar(FILES)[: len(tar(FILES).rstrip(b"\0")) // 512 * 512 + 512]
LINK, HARD, FIFO, DEVICE = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE
REFUSED = {
    "a web page": (b"<!DOCTYPE html><html>", "expected a .tar.gz, a .zip or a SKILL.md, got a web page (a login?)"),
    "anything else": (b"GIF89a", "expected a .tar.gz, a .zip or a SKILL.md, got an unknown format"),
    "nothing": (b"", "expected a .tar.gz, a .zip or a SKILL.md, got an unknown format"),
    "no skill": (tgz({"README.md": "x"}), "it has no SKILL.md"),
    "many skills": (
        tgz({"a/SKILL.md": "x", "b/SKILL.md": "y"}),
        "SKILL.md is not at the top level, but in a, b; an archive contains one skill",
    ),
    "a climb": (tgz(FILES | {"../evil": "x"}), "the path '../evil' has an empty, `.` or `..` part"),
    "an absolute path": (tgz(FILES | {"/etc/evil": "x"}), "the path '/etc/evil' is absolute or empty"),
    "twice": (tgz(FILES, member("SKILL.md", LINK, "references/a.md")), "duplicate path 'SKILL.md'"),
    "twins": (tgz(FILES | {"skill.MD": "x"}), "'SKILL.md' and 'skill.MD' are the same on some systems"),
    "a link out": (
        tgz(FILES, member("out", LINK, "../../etc/passwd")),
        "link 'out' -> '../../etc/passwd' points outside the skill",
    ),
    "a hard link out": (
        tgz(FILES, member("out", HARD, "/etc/passwd")),
        "the hard link `out` does not point to an earlier file",
    ),
    "a hard link to a link": (
        tgz(FILES, member("a", LINK, "SKILL.md"), member("b", HARD, "a")),
        "the hard link `b` does not point to an earlier file",
    ),
    "a pipe": (tgz(FILES, member("pipe", FIFO)), "`pipe` is not a file, folder or link"),
    "a device": (tgz(FILES, member("zero", DEVICE)), "`zero` is not a file, folder or link"),
    "a sparse file": (tgz(FILES, sparse_member("zeros", 1_000_000)), "`zeros` is not a file, folder or link"),
    "a git folder": (tgz(FILES | {".git/config": "x"}), "the path '.git/config' is a .git folder or file"),
    "a pipe in a zip": (
        zipped(FILES | {"pipe": ""}, mode=lambda path: (stat.S_IFIFO if path == "pipe" else stat.S_IFREG) | 0o644),
        "`pipe` is not a file, folder or link",
    ),
    "a link out of a zip": (
        zipped(FILES | {"out": "/etc"}, mode=lambda path: (stat.S_IFLNK if path == "out" else stat.S_IFREG) | 0o777),
        "link 'out' -> '/etc' points outside the skill",
    ),
    "a climb in a zip": (zipped(FILES | {"../evil": "x"}), "the path '../evil' has an empty, `.` or `..` part"),
    "a second name in a zip": (
        zipped(FILES, extra=struct.pack("<HHBI7s", 0x7075, 12, 1, 0, b"EVIL.md")),
        "the name `SKILL.md` is not plain UTF-8",
    ),
    "a second name in a zip behind another extra field": (
        zipped(FILES, extra=struct.pack("<HH2sHHBI7s", 0x9999, 2, b"xx", 0x7075, 12, 1, 0, b"EVIL.md")),
        "the name `SKILL.md` is not plain UTF-8",
    ),
    "something behind a zip": (zipped(FILES) + b"x", "not a complete .zip, or data follows its end"),
    "something before a zip": (
        b"PK\x03\x04" + zipped(FILES),
        "`SKILL.md` does not start where the previous member ends",
    ),
    "something behind a tar": (
        gzip.compress(tar(FILES)) + b"more",
        "not a complete .tar.gz: Not a gzipped file (b'mo')",
    ),
    "half a tar": (gzip.compress(tar(FILES)[:600]), "not a complete .tar.gz: unexpected end of data"),
    "a tar without its end": (
        gzip.compress(tar(FILES).rstrip(b"\0") + bytes(512 - len(tar(FILES).rstrip(b"\0")) % 512)),
        "not a complete .tar.gz: the end-of-archive marker is missing",
    ),
    "a tar with a damaged header": (
        gzip.compress(MEMBERS + b"x" * 512 + tar({"more": "x"})),
        "not a complete .tar.gz: the end-of-archive marker is missing",
    ),
    "a tar with a member behind one block of zeros": (
        gzip.compress(MEMBERS + bytes(512) + tar({"more": "x"})),
        "not a complete .tar.gz: the end-of-archive marker is missing",
    ),
    "a zip with a name in another encoding in its local header": (
        with_local_flags(zipped(FILES), 0x800),
        "`SKILL.md`: its local header does not match the central directory",
    ),
    "a zip that is encrypted in its local header alone": (
        with_local_flags(zipped(FILES), 0x1),
        "`SKILL.md`: its local header does not match the central directory",
    ),
}


@pytest.mark.parametrize(("data", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_an_invalid_archive_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(RefusedError) as caught:
        taken(data, "x.bin")
    assert caught.value.message in {f"x.bin: {why}", f"skill pdf: {why}"}


TOO_MUCH = {
    "a tar bomb": (tgz(FILES | {"zeros": bytes(60_000)}), "it unpacks to more than 2000 bytes (SKILLPM_MAX_SKILL)"),
    "many files": (tgz(FILES | {f"{n}": "" for n in range(9)}), "it has more than 5 files (SKILLPM_MAX_FILES)"),
    "a zip bomb": (zip_bomb(60_000), "it unpacks to more bytes than a skill may have (SKILLPM_MAX_SKILL)"),
    "many bytes in the files of a zip together": (
        zipped(make_skill("pdf") | {f"{n}": bytes(900) for n in range(3)}),
        "it unpacks to more bytes than a skill may have (SKILLPM_MAX_SKILL)",
    ),
    "many files in a zip": (
        zipped(FILES | {f"{n}": "" for n in range(9)}),
        "it has more than 5 files (SKILLPM_MAX_FILES)",
    ),
    "many folders in a zip": (
        zipped(FILES | {f"{n}/": "" for n in range(20)}),
        "it has more than 5 files (SKILLPM_MAX_FILES)",
    ),
    "a zip with a false size": (zip_with_false_size(60_000), "not a complete .zip: Bad CRC-32 for file 'SKILL.md'"),
}


@pytest.mark.parametrize(("data", "why"), TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_limits_apply_to_the_actual_bytes(data: bytes, why: str) -> None:
    with pytest.raises(RefusedError) as caught:
        taken(data, "x.bin", TIGHT)
    assert caught.value.message == f"x.bin: {why}"


@pytest.mark.parametrize("data", [tgz(FILES | {"zeros": bytes(12_000_000)}), zip_bomb(12_000_000)], ids=["tar", "zip"])
def test_unpacking_to_two_hundred_times_the_size_is_a_bomb(data: bytes) -> None:
    with pytest.raises(RefusedError, match="unpacks to more than 200 times its size"):
        taken(data)


@pytest.mark.parametrize("data", [tgz(FILES), zipped(FILES)], ids=["tar", "zip"])
def test_a_truncated_archive_is_refused(data: bytes) -> None:
    for length in range(len(data)):
        with pytest.raises(RefusedError):
            taken(data[:length])


@pytest.mark.parametrize("data", [tgz(FILES), zipped(FILES)], ids=["tar", "zip"])
@given(at=some.integers(min_value=0), byte=some.integers(0, 255))
def test_a_changed_byte_is_detected_or_harmless(data: bytes, at: int, byte: int) -> None:
    """The checksums of both formats cover the content, but not times, owners and modes.

    So a file may turn into a link whose target is its content (and points nowhere), but never into other content.
    """
    at %= len(data)
    changed = data[:at] + bytes([byte]) + data[at + 1 :]
    try:
        tree = taken(changed)
    except RefusedError:
        return
    assert {file.path: file.data for file in tree.files} == {file.path: file.data for file in taken(data).files}
