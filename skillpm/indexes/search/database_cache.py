"""Cached databases of catalogs: for each a small header file, and a database whose file name contains its checksum.

The header holds the validators of the catalog and the SHA-256 of the database. SQLite only opens a database whose
checksum matches, since a crafted file can exploit it; a damaged one is rebuilt. A database is never changed: a new one
gets a new name, then the header is replaced. So readers need no lock, and see either the old or the new state.
"""

import json
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from sqlite3 import Error as DatabaseError
from typing import Any

from skillpm.cachedir import record_use, tag_cache_folder
from skillpm.core.values import Value
from skillpm.fetchers.http.document_cache import Validators
from skillpm.files import BINARY, NOFOLLOW, NONBLOCK, discard_file, write_document, write_new_file
from skillpm.indexes.search.database import open_database
from skillpm.indexes.search.full_text import SearchDatabase

FORMAT_VERSION = 2  # of header and database; those of another version are rebuilt
CHUNK_SIZE = 1 << 20
MAX_HEADER_SIZE = 1 << 16


class CacheHeader(Value):
    """The description of a cached database."""

    # Of the catalog, relative to its index.
    address: str
    validators: Validators
    # When the index was last requested, in seconds since 1970.
    fetched_at: float
    # SHA-256 of the database.
    database: str = ""
    # How many the database contains.
    skills: int = 0


class DatabaseCache:
    """The databases of one cache folder; `key` identifies an index."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def read_header(self, key: str) -> CacheHeader | None:
        """Return the header of an index; None if it is missing, damaged, or owned by another user."""
        try:
            with open(_open_own_file(f"{self.path_prefix(key)}.json"), "rb") as file:
                value = json.loads(file.read(MAX_HEADER_SIZE))
            # The file is named after a truncated hash of the key, so the key itself is compared, too.
            if value["format"] != FORMAT_VERSION or value["key"] != key:
                return None
            etag, last_modified = _require_text(value["etag"]), _require_text(value["modified"])
            return CacheHeader(
                address=_require_text(value["address"]),
                validators=Validators(etag=etag, last_modified=last_modified),
                fetched_at=float(value["heard"]),
                database=_require_text(value["database"]),
                skills=int(value["skills"]),
            )
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None

    def open(self, key: str, header: CacheHeader) -> SearchDatabase | None:
        """Open the database of a header; None if it is missing or its checksum differs."""
        path = self._database_path(key, header.database)
        try:
            # All bytes at every search: 10 ms for 20,000 skills.
            if _file_sha256(path) != header.database:
                return None
            record_use(path)
            record_use(f"{self.path_prefix(key)}.json")
            return open_database(path)
        except (OSError, DatabaseError):
            return None

    def replace_database(self, key: str, header: CacheHeader, build: Callable[[str], SearchDatabase]) -> SearchDatabase:
        """Build a database in a temporary file and replace the old one.

        Raises `OSError` and whatever `build` raises. If another process replaces it at the same time, one of the two
        may fail, or its header may name a database that the other has removed; then it is built again.
        """
        tag_cache_folder(os.path.dirname(self.folder))
        os.makedirs(self.folder, exist_ok=True)
        temporary = f"{self.path_prefix(key)}.{os.getpid()}.tmp"
        discard_file(temporary)
        write_new_file(temporary, b"", 0o600)
        try:
            database = build(temporary)
            skills = database.count()
            database.close()  # Windows does not rename an open file
            digest = _file_sha256(temporary)
            os.replace(temporary, self._database_path(key, digest))
        except BaseException:
            discard_file(temporary)
            raise
        self.write_header(key, header.replace(database=digest, skills=skills))
        self._remove_old_files(key, digest)
        return open_database(self._database_path(key, digest))

    def write_header(self, key: str, header: CacheHeader) -> None:
        """Write a header. Raises `OSError`."""
        value = {
            "format": FORMAT_VERSION,
            "key": key,
            "address": header.address,
            "etag": header.validators.etag,
            "modified": header.validators.last_modified,
            "heard": header.fetched_at,
            "database": header.database,
            "skills": header.skills,
        }
        write_document(f"{self.path_prefix(key)}.json", json.dumps(value).encode(), fsync=False, mode=0o600)

    def path_prefix(self, key: str) -> str:
        """Return the prefix of all cache paths of an index."""
        return os.path.join(self.folder, sha256(key.encode()).hexdigest()[:32])

    def _database_path(self, key: str, digest: str) -> str:
        return f"{self.path_prefix(key)}-{digest[:16]}.sqlite"

    def _remove_old_files(self, key: str, digest: str) -> None:
        """Remove earlier databases and the temporary files of killed processes."""
        prefix, current = os.path.basename(self.path_prefix(key)), os.path.basename(self._database_path(key, digest))
        for name in os.listdir(self.folder):
            if name.startswith(prefix) and name.endswith((".sqlite", ".tmp")) and name != current:
                with suppress(OSError):  # on Windows, a file that another process reads cannot be removed
                    discard_file(os.path.join(self.folder, name))


def _open_own_file(path: str) -> int:
    """Open a regular file that the user or root owns. Raises `OSError`.

    In a shared cache folder, another user could plant a link, a pipe that blocks forever, or a crafted database.
    """
    descriptor = os.open(path, os.O_RDONLY | NOFOLLOW | NONBLOCK | BINARY)
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode) or (hasattr(os, "geteuid") and state.st_uid not in {0, os.geteuid()}):
        os.close(descriptor)
        raise OSError(0, "not a regular file that you own", path)
    return descriptor


def _file_sha256(path: str) -> str:
    digest = sha256()
    with open(_open_own_file(path), "rb", buffering=0) as file:
        while chunk := file.read(CHUNK_SIZE):
            digest.update(chunk)
    return digest.hexdigest()


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
