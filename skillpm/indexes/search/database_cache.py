"""Databases of catalogues in the cache: for each a small head, and a file that is named by what is in it.

The head says what the database was made of and its SHA-256; every byte is checked before SQLite looks at it, so a
damaged or foreign one is made anew. A database is never changed: a new one gets a name of its own, then the head is
replaced. So readers need no lock, and who reads while another writes has the old or the new.
"""

import json
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from sqlite3 import Error as DatabaseError
from typing import Any

from skillpm.cachedir import record_use
from skillpm.core.values import Value
from skillpm.files import BINARY, NOFOLLOW, NONBLOCK, discard_file, write_document, write_new_file
from skillpm.indexes.client.http_cache import Validators
from skillpm.indexes.search.database import open_database
from skillpm.indexes.search.full_text import SearchDatabase

FORMAT_VERSION = 1  # of head and database; those of another are made anew
CHUNK_SIZE = 1 << 20
MAX_HEADER_SIZE = 1 << 16


class CacheHeader(Value):
    """What a database was made of: the catalogue's address, its stamp and SHA-256, and when it was last asked for."""

    address: str
    validators: Validators
    content: str
    fetched_at: float
    database: str = ""
    skills: int = 0


class DatabaseCache:
    """The databases of one cache; `key` is what an index is told apart by."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def read_header(self, key: str) -> CacheHeader | None:
        """Give the head of an index; what is damaged, foreign or of another index counts as none."""
        try:
            with open(_open_own_file(f"{self.path_prefix(key)}.json"), "rb") as file:
                said = json.loads(file.read(MAX_HEADER_SIZE))
            if said["format"] != FORMAT_VERSION or said["key"] != key:
                return None
            return CacheHeader(
                address=_require_text(said["address"]),
                validators=Validators(etag=_require_text(said["etag"]), last_modified=_require_text(said["modified"])),
                content=_require_text(said["content"]),
                fetched_at=float(said["heard"]),
                database=_require_text(said["database"]),
                skills=int(said["skills"]),
            )
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None

    def open(self, key: str, header: CacheHeader) -> SearchDatabase | None:
        """Open the database of a head; None where it is not there, or a byte of it is not as it was."""
        path = self._database_path(key, header.database)
        try:
            if _file_sha256(path) != header.database:
                return None
            record_use(path)
            record_use(f"{self.path_prefix(key)}.json")
            return open_database(path)
        except (OSError, DatabaseError):
            return None

    def replace_database(self, key: str, header: CacheHeader, build: Callable[[str], SearchDatabase]) -> SearchDatabase:
        """Make a database and put it in place of the old one. To be called under the lock of `key`.

        Raises what `build` raises, `OSError`.
        """
        os.makedirs(self.folder, exist_ok=True)
        temporary = f"{self.path_prefix(key)}.{os.getpid()}.tmp"
        discard_file(temporary)
        write_new_file(temporary, b"", 0o600)
        try:
            built = build(temporary)
            skills = built.count()
            built.close()
            found = _file_sha256(temporary)
            os.replace(temporary, self._database_path(key, found))
        except BaseException:
            discard_file(temporary)
            raise
        self.write_header(key, header.replace(database=found, skills=skills))
        self._remove_old_files(key, found)
        return open_database(self._database_path(key, found))

    def write_header(self, key: str, header: CacheHeader) -> None:
        """Write a head. Raises `OSError`."""
        said = {
            "format": FORMAT_VERSION,
            "key": key,
            "address": header.address,
            "etag": header.validators.etag,
            "modified": header.validators.last_modified,
            "content": header.content,
            "heard": header.fetched_at,
            "database": header.database,
            "skills": header.skills,
        }
        write_document(f"{self.path_prefix(key)}.json", json.dumps(said).encode(), fsync=False, mode=0o600)

    def path_prefix(self, key: str) -> str:
        """Give what the paths of an index begin with."""
        return os.path.join(self.folder, sha256(key.encode()).hexdigest()[:32])

    def _database_path(self, key: str, digest: str) -> str:
        return f"{self.path_prefix(key)}-{digest[:16]}.sqlite"

    def _remove_old_files(self, key: str, digest: str) -> None:
        """Remove what was there before, and what a killed process left."""
        start, current = os.path.basename(self.path_prefix(key)), os.path.basename(self._database_path(key, digest))
        for name in os.listdir(self.folder):
            if name.startswith(start) and name.endswith((".sqlite", ".tmp")) and name != current:
                with suppress(OSError):  # somebody reads it, on a system that keeps such files
                    discard_file(os.path.join(self.folder, name))


def _open_own_file(path: str) -> int:
    """Open a regular file of the user's own. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDONLY | NOFOLLOW | NONBLOCK | BINARY)
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode) or (hasattr(os, "geteuid") and state.st_uid not in {0, os.geteuid()}):
        os.close(descriptor)
        raise OSError(0, "it is no file of yours", path)
    return descriptor


def _file_sha256(path: str) -> str:
    found = sha256()
    with open(_open_own_file(path), "rb", buffering=0) as file:
        while chunk := file.read(CHUNK_SIZE):
            found.update(chunk)
    return found.hexdigest()


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
