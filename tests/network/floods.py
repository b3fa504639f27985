"""Endless responses of a git server, each sent as fast as it is received."""

import random
import socket
import struct
import zlib
from contextlib import suppress
from itertools import cycle, repeat

from kit import Response

MARK = b"000dpackfile\n"
BLOB = 60_000


def endless_pack(client: socket.socket, answer: Response, count: int = 1_000_000) -> None:
    """Send an endless pack of this many files."""
    before, _, _ = answer.body.partition(MARK)
    dice = random.Random(1)
    files = [_entry(dice.randbytes(BLOB)) for _ in range(50)]
    header = b"PACK" + struct.pack(">II", 2, count)
    _flood(client, before + MARK + _line(b"\1" + header), [_line(b"\1" + file) for file in files])


def giant_pack(client: socket.socket, answer: Response) -> None:
    """Send a pack that announces more files than fit into memory."""
    endless_pack(client, answer, 0x7FFF_FFFF)


def endless_progress(client: socket.socket, answer: Response) -> None:
    """Send progress messages forever, and never the pack."""
    before, _, _ = answer.body.partition(MARK)
    _flood(client, before + MARK, [_line(b"\2Counting objects: " + b"9" * 900 + b"\n")])


def endless_patience(client: socket.socket, answer: Response) -> None:
    """Send keepalive packets and nothing else."""
    before, _, _ = answer.body.partition(MARK)
    _flood(client, before + MARK, [_line(b"\1") * 1000])


def endless_refs(client: socket.socket, _: Response) -> None:
    """Advertise branches forever."""
    _flood(client, b"", [b"".join(_line(b"%040x refs/heads/%d-" % (n, n) + b"x" * 200 + b"\n") for n in range(1, 500))])


def endless_greeting(client: socket.socket, answer: Response) -> None:
    """Advertise capabilities forever."""
    _flood(client, answer.body.removesuffix(b"0000"), [_line(b"x" * 900 + b"\n") * 100])


FLOODS = {
    flood.__name__.replace("_", "-"): flood
    for flood in (endless_pack, giant_pack, endless_progress, endless_patience, endless_refs, endless_greeting)
}


def _flood(client: socket.socket, first: bytes, more: list[bytes]) -> None:
    kind = b"application/x-git-upload-pack-result"
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: " + kind + b"\r\n\r\n"
    with suppress(OSError):
        client.sendall(head + first)
        for piece in cycle(more) if len(more) > 1 else repeat(more[0]):
            client.sendall(piece)


def _line(data: bytes) -> bytes:
    return b"%04x" % (len(data) + 4) + data


def _entry(data: bytes) -> bytes:
    """Encode a file as a pack entry: kind and size as a variable-length number, then the deflated bytes."""
    size = len(data)
    head = bytearray([(3 << 4) | (size & 15)])
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head) + zlib.compress(data, 1)
