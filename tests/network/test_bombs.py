"""Archive bombs from an index: ended at the limit in bounded memory, and nothing is changed.

`SKILLPM_SIZES=full` creates them as large as an attacker would: gigabytes, and a million entries.
"""

import gzip
import io
import json
import os
import struct
import tarfile
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from kit import make_skill
from network.world import Network, snapshot_project, use_index

pytestmark = pytest.mark.slow

IS_FULL = os.environ.get("SKILLPM_SIZES") == "full"
MEGABYTES = 3000 if IS_FULL else 150
ENTRIES = 1_000_000 if IS_FULL else 20_000
DIRECTORY_ENTRIES = 1_800_000 if IS_FULL else 900_000
ZEROS = bytes(1_000_000)
TEXT = make_skill("pdf")["SKILL.md"]
_LOCAL_HEADER = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 0, 0, 0, 0, 1, 0) + b"x"
_CENTRAL_HEADER = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"x"


def large_file() -> bytes:
    """Create a tar of one file of zeros."""
    return _packed([_head("zeros.bin", MEGABYTES * len(ZEROS)), *[ZEROS] * MEGABYTES])


def large_files() -> bytes:
    """Create a tar of files that are each within the limit."""
    return _packed(
        [part for n in range(MEGABYTES // 20 + 1) for part in (_head(f"{n}.bin", 20_000_000), *[ZEROS] * 20)]
    )


def many_entries() -> bytes:
    """Create a tar of empty files."""
    return _packed(
        [b"".join(_head(f"{n}.txt", 0) for n in range(start, start + 1000)) for start in range(0, ENTRIES, 1000)]
    )


def deep_folders() -> bytes:
    """Create a tar of a file in deeply nested folders."""
    return _packed([_head("d/" * 40 + "x", 0)])


def zeros_behind_the_end() -> bytes:
    """Create a gzip that continues after the end of its tar."""
    return _packed([bytes(1024), *[ZEROS] * MEGABYTES])


def large_zip() -> bytes:
    """Create a zip of one file of zeros."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("SKILL.md", TEXT)
        with file.open("zeros.bin", "w", force_zip64=True) as member:
            for _ in range(MEGABYTES):
                member.write(ZEROS)
    return out.getvalue()


def many_in_a_zip() -> bytes:
    """Create a zip of empty files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("SKILL.md", TEXT)
        for number in range(ENTRIES // 10 if IS_FULL else ENTRIES):
            file.writestr(f"{number}", b"")
    return out.getvalue()


def directory_in_a_zip() -> bytes:
    """Create a zip whose directory lists one empty file over and over, with a false number of members."""
    directory = _CENTRAL_HEADER * DIRECTORY_ENTRIES
    return _LOCAL_HEADER + directory + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(directory), 31, 0)


def directory_in_a_zip64() -> bytes:
    """Create a zip with the same directory, in the format for larger archives."""
    directory, count = _CENTRAL_HEADER * DIRECTORY_ENTRIES, DIRECTORY_ENTRIES
    return b"".join(
        [
            _LOCAL_HEADER,
            directory,
            struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(directory), 31),
            struct.pack("<4sIQI", b"PK\6\7", 0, 31 + len(directory), 1),
            struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0),
        ]
    )


def long_names_in_a_zip() -> bytes:
    """Create a zip whose directory has few members with as much data as possible."""
    header = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 65_000, 0, 0, 0, 0, 0, 0)
    directory = (header + b"x" * 65_000) * 1400
    return _LOCAL_HEADER + directory + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(directory), 31, 0)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return Network(tmp_path_factory.mktemp("network"))


ARCHIVE = "SERVER/acme/archives/pdf-1.0.0.tar.gz"
TOO_LARGE = f"{ARCHIVE}: it unpacks to more than 100000000 bytes (SKILLPM_MAX_SKILL)"
TOO_MANY = f"{ARCHIVE}: it has more than 5000 files (SKILLPM_MAX_FILES)"
BOMBS = {
    large_file: TOO_LARGE,
    large_files: TOO_LARGE,
    many_entries: TOO_LARGE if IS_FULL else TOO_MANY,  # the headers of a million entries exceed the limit, too
    deep_folders: f"skill pdf: the path '{'d/' * 40}x' is nested deeper than 32 folders",
    zeros_behind_the_end: TOO_LARGE,
    large_zip: f"{ARCHIVE}: "
    + (
        "it unpacks to more bytes than a skill may have (SKILLPM_MAX_SKILL)"
        if IS_FULL
        else "`zeros.bin` unpacks to more than 200 times its size"
    ),
    many_in_a_zip: TOO_MANY,
    directory_in_a_zip: TOO_MANY,
    directory_in_a_zip64: TOO_MANY,
    long_names_in_a_zip: TOO_MANY,
}


@pytest.mark.parametrize(("bomb", "error"), BOMBS.items(), ids=[bomb.__name__ for bomb in BOMBS])
def test_a_bomb_from_an_index_ends_at_the_limit(
    network: Network, tmp_path: Path, bomb: Callable[[], bytes], error: str
) -> None:
    archive = bomb()
    versions = json.loads(network.files["/acme/skills/pdf.json"])
    versions["versions"][0]["sha256"] = sha256(archive).hexdigest()
    project = network.copy(tmp_path / "project")
    with network.serve() as server:
        server.publish("/acme/skills/pdf.json", json.dumps(versions).encode())
        server.publish("/acme/archives/pdf-1.0.0.tar.gz", archive)
        use_index(project, server)
        before = snapshot_project(project)
        result, cost = project.run_measured("install", "pdf")
        message = result.error_output.replace(server.address, "SERVER")

    assert (result.code, result.stdout, message.splitlines()[0]) == (1, "", f"error: {error}")
    assert (snapshot_project(project) == before, cost.peak_megabytes < 300) == (True, True), cost


def _head(path: str, size: int) -> bytes:
    info = tarfile.TarInfo(path)
    info.size = size
    return info.tobuf(tarfile.USTAR_FORMAT)


def _packed(parts: list[bytes]) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as file:
        file.write(_head("SKILL.md", len(TEXT)) + TEXT.ljust(512 * -(-len(TEXT) // 512), b"\0"))
        for part in parts:
            file.write(part)
        file.write(bytes(1024))
    return out.getvalue()
