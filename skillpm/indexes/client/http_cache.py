"""What a server said last, kept with its ETag: one file an address, so that most answers are a 304 of no size.

Small and our own (docs/adr/0016-asking-indexes.md). It is never believed without asking, but with `--offline`.
"""

import json
import os
from contextlib import suppress
from hashlib import sha256

from skillpm.cachedir import mark, note_use
from skillpm.core.values import Value
from skillpm.files import read_document, write_document

FORMAT = 1


class Stamp(Value):
    """What tells whether a document is still the one that was read: a server's words, or the state of a file."""

    etag: str = ""
    modified: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """What asks a server to send only what is newer."""
        if self.etag:
            return {"If-None-Match": self.etag}
        return {"If-Modified-Since": self.modified} if self.modified else {}


class Memory(Value):
    """An answer: the body, or None where nothing was there, and what to send along to hear whether it still holds."""

    body: bytes | None
    etag: str = ""
    modified: str = ""


class Remembered:
    """The answers of all index servers, in a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def of(self, url: str) -> Memory | None:
        """Give what is remembered of an address; what was damaged counts as forgotten."""
        try:
            head, _, body = read_document(self._file(url)).partition(b"\n")
            said = json.loads(head)
            if said["url"] != url or said["format"] != FORMAT or said["sha256"] != sha256(body).hexdigest():
                return None
            note_use(self._file(url))
            return Memory(body=body if said["found"] else None, etag=str(said["etag"]), modified=str(said["modified"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def keep(self, url: str, memory: Memory) -> None:
        """Remember an answer. A cache that cannot be written is done without."""
        body = memory.body or b""
        head = {
            "format": FORMAT,
            "url": url,
            "found": memory.body is not None,
            "etag": memory.etag,
            "modified": memory.modified,
            "sha256": sha256(body).hexdigest(),
        }
        with suppress(OSError):
            mark(os.path.dirname(self.folder))
            write_document(self._file(url), json.dumps(head).encode() + b"\n" + body, fsync=False, mode=0o600)

    def _file(self, url: str) -> str:
        return os.path.join(self.folder, sha256(url.encode()).hexdigest())
