"""What a server said last, kept with its ETag: one file an address, so that most answers are a 304 of no size.

Small and our own (docs/adr/0016-asking-indexes.md). It is never believed without asking, but with `--offline`.
"""

import json
import os
from contextlib import suppress
from hashlib import sha256

from skillpm.cachedir import record_use, tag_cache_folder
from skillpm.core.values import Value
from skillpm.files import read_regular_file, write_document

FORMAT_VERSION = 1


class Validators(Value):
    """What tells whether a document is still the one that was read: a server's words, or the state of a file."""

    etag: str = ""
    last_modified: str = ""

    @property
    def request_headers(self) -> dict[str, str]:
        """What asks a server to send only what is newer."""
        if self.etag:
            return {"If-None-Match": self.etag}
        return {"If-Modified-Since": self.last_modified} if self.last_modified else {}


class CachedResponse(Value):
    """An answer: the body, or None where nothing was there, and what to send along to hear whether it still holds."""

    body: bytes | None
    etag: str = ""
    last_modified: str = ""


class HttpCache:
    """The answers of all index servers, in a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def get(self, url: str) -> CachedResponse | None:
        """Give what is remembered of an address; what was damaged counts as forgotten."""
        try:
            head, _, body = read_regular_file(self._path(url)).partition(b"\n")
            said = json.loads(head)
            if said["url"] != url or said["format"] != FORMAT_VERSION or said["sha256"] != sha256(body).hexdigest():
                return None
            record_use(self._path(url))
            return CachedResponse(
                body=body if said["found"] else None, etag=str(said["etag"]), last_modified=str(said["modified"])
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def put(self, url: str, response: CachedResponse) -> None:
        """Remember an answer. A cache that cannot be written is done without."""
        body = response.body or b""
        head = {
            "format": FORMAT_VERSION,
            "url": url,
            "found": response.body is not None,
            "etag": response.etag,
            "modified": response.last_modified,
            "sha256": sha256(body).hexdigest(),
        }
        with suppress(OSError):
            tag_cache_folder(os.path.dirname(self.folder))
            write_document(self._path(url), json.dumps(head).encode() + b"\n" + body, fsync=False, mode=0o600)

    def _path(self, url: str) -> str:
        return os.path.join(self.folder, sha256(url.encode()).hexdigest())
