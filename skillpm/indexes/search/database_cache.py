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

from skillpm.cachedir import note_use
from skillpm.core.values import Value
from skillpm.files import BINARY, NOFOLLOW, NONBLOCK, discard_file, write_document, write_new
from skillpm.indexes.client.http_cache import Stamp
from skillpm.indexes.search.database import opened
from skillpm.indexes.search.full_text import Searchable

FORMAT = 1  # of head and database; those of another are made anew
CHUNK = 1 << 20
LARGEST_HEAD = 1 << 16


class Head(Value):
    """What a database was made of: the catalogue's address, its stamp and SHA-256, and when it was last asked for."""

    address: str
    stamp: Stamp
    content: str
    heard: float
    database: str = ""
    skills: int = 0


class Kept:
    """The databases of one cache; `key` is what an index is told apart by."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def head(self, key: str) -> Head | None:
        """Give the head of an index; what is damaged, foreign or of another index counts as none."""
        try:
            with open(_own(f"{self.at(key)}.json"), "rb") as file:
                said = json.loads(file.read(LARGEST_HEAD))
            if said["format"] != FORMAT or said["key"] != key:
                return None
            return Head(
                address=_text(said["address"]),
                stamp=Stamp(etag=_text(said["etag"]), modified=_text(said["modified"])),
                content=_text(said["content"]),
                heard=float(said["heard"]),
                database=_text(said["database"]),
                skills=int(said["skills"]),
            )
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None

    def open(self, key: str, head: Head) -> Searchable | None:
        """Open the database of a head; None where it is not there, or a byte of it is not as it was."""
        path = self._database(key, head.database)
        try:
            if _sum(path) != head.database:
                return None
            note_use(path)
            note_use(f"{self.at(key)}.json")
            return opened(path)
        except (OSError, DatabaseError):
            return None

    def keep(self, key: str, head: Head, build: Callable[[str], Searchable]) -> Searchable:
        """Make a database and put it in place of the old one. To be called under the lock of `key`.

        Raises what `build` raises, `OSError`.
        """
        os.makedirs(self.folder, exist_ok=True)
        temporary = f"{self.at(key)}.{os.getpid()}.tmp"
        discard_file(temporary)
        write_new(temporary, b"", 0o600)
        try:
            built = build(temporary)
            skills = built.count()
            built.close()
            found = _sum(temporary)
            os.replace(temporary, self._database(key, found))
        except BaseException:
            discard_file(temporary)
            raise
        self.note(key, head.but(database=found, skills=skills))
        self._sweep(key, found)
        return opened(self._database(key, found))

    def note(self, key: str, head: Head) -> None:
        """Write a head. Raises `OSError`."""
        said = {
            "format": FORMAT,
            "key": key,
            "address": head.address,
            "etag": head.stamp.etag,
            "modified": head.stamp.modified,
            "content": head.content,
            "heard": head.heard,
            "database": head.database,
            "skills": head.skills,
        }
        write_document(f"{self.at(key)}.json", json.dumps(said).encode(), fsync=False, mode=0o600)

    def at(self, key: str) -> str:
        """Give what the paths of an index begin with."""
        return os.path.join(self.folder, sha256(key.encode()).hexdigest()[:32])

    def _database(self, key: str, digest: str) -> str:
        return f"{self.at(key)}-{digest[:16]}.sqlite"

    def _sweep(self, key: str, digest: str) -> None:
        """Remove what was there before, and what a killed process left."""
        start, current = os.path.basename(self.at(key)), os.path.basename(self._database(key, digest))
        for name in os.listdir(self.folder):
            if name.startswith(start) and name.endswith((".sqlite", ".tmp")) and name != current:
                with suppress(OSError):  # somebody reads it, on a system that keeps such files
                    discard_file(os.path.join(self.folder, name))


def _own(path: str) -> int:
    """Open a regular file of the user's own. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDONLY | NOFOLLOW | NONBLOCK | BINARY)
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode) or (hasattr(os, "geteuid") and state.st_uid not in {0, os.geteuid()}):
        os.close(descriptor)
        raise OSError(0, "it is no file of yours", path)
    return descriptor


def _sum(path: str) -> str:
    found = sha256()
    with open(_own(path), "rb", buffering=0) as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
