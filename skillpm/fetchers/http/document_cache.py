"""Cache of the documents of indexes and registries: one file per address, with the last response and its ETag.

Every entry is revalidated before use, except with `--offline`: those of indexes with their ETag, so that most requests
get a 304. `Cache-Control` is ignored: a version that was just published must be visible at once (ADR 15).
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
    """The validators of a document that was read: those of an HTTP response, or the state of a file (as `etag`)."""

    etag: str = ""
    last_modified: str = ""

    @property
    def request_headers(self) -> dict[str, str]:
        """The headers of a conditional request."""
        if self.etag:
            return {"If-None-Match": self.etag}
        return {"If-Modified-Since": self.last_modified} if self.last_modified else {}


class CachedResponse(Value):
    """A response and its validators."""

    # None for a 404, which is cached too: `--offline` must know that an index lacks a name.
    body: bytes | None
    etag: str = ""
    last_modified: str = ""


class HttpCache:
    """The cached responses of all servers, in one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def get(self, url: str) -> CachedResponse | None:
        """Return the cached response of a URL; None if there is none or its file is damaged."""
        try:
            head, _, body = read_regular_file(self._path(url)).partition(b"\n")
            header = json.loads(head)
            # A 304 would confirm the ETag, not the bytes: without the checksum, a truncated file would pass as valid.
            checksum = sha256(body).hexdigest()
            if header["url"] != url or header["format"] != FORMAT_VERSION or header["sha256"] != checksum:
                return None
            record_use(self._path(url))
            return CachedResponse(
                body=body if header["found"] else None, etag=str(header["etag"]), last_modified=str(header["modified"])
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def put(self, url: str, response: CachedResponse) -> None:
        """Store a response. Errors are ignored: without a cache, the next request is unconditional."""
        body = response.body or b""
        header = {
            "format": FORMAT_VERSION,
            "url": url,
            "found": response.body is not None,
            "etag": response.etag,
            "modified": response.last_modified,
            "sha256": sha256(body).hexdigest(),
        }
        with suppress(OSError):
            tag_cache_folder(os.path.dirname(self.folder))
            # 0600: the response may come from an index that requires a login.
            write_document(self._path(url), json.dumps(header).encode() + b"\n" + body, fsync=False, mode=0o600)

    def _path(self, url: str) -> str:
        return os.path.join(self.folder, sha256(url.encode()).hexdigest())
