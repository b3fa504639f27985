"""The body of an answer as it comes, packed or not: never more of it in memory than the piece that is asked for."""

import zlib
from collections.abc import Iterator

import httpx

from skillpm.documents.text import show
from skillpm.errors import FetchError

CHUNK = 1 << 16


def unpacked(response: httpx.Response, url: str, *, is_packed: bool) -> Iterator[bytes]:
    """Give the body piece by piece; a packed one is never unpacked further than the piece that is asked for."""
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding == "identity":
        yield from response.iter_raw(CHUNK)
        return
    if not is_packed or encoding != "gzip":
        raise FetchError(f"{show(url)} comes in an encoding that was not asked for")
    unpacking = zlib.decompressobj(wbits=31)
    try:
        for raw in response.iter_raw(CHUNK):
            rest = raw
            while rest and not unpacking.eof:
                yield unpacking.decompress(rest, CHUNK)
                rest = unpacking.unconsumed_tail
            if unpacking.unused_data:
                raise FetchError(f"{show(url)}: there is more behind the end of what is packed")
        yield unpacking.flush()
    except zlib.error as error:
        raise FetchError(f"{show(url)} is not what it is said to be, gzip: {error}") from None
    if not unpacking.eof and response.status_code == 200:  # noqa: PLR2004  (others come without a body)
        raise FetchError(f"{show(url)}: the packed answer broke off")
