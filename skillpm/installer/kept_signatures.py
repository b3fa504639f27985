"""`.skillpm/signatures.json`: signatures that were published beside installed skills, so that `verify` needs no server.

A signature names the hash of every file, so one that comes with a checkout proves as much as one of a server.
"""

import json
from collections.abc import Collection, Mapping, Sequence

from skillpm.core.digest import Digest
from skillpm.core.json_text.decoder import load_json
from skillpm.files import discard_file, read_regular_file, write_document
from skillpm.installer.disk.layout import Layout

FORMAT = 1
MAX_SIZE = 10_000_000


def read_kept_signatures(layout: Layout, digest: Digest) -> tuple[bytes, ...]:
    """Return the signatures of a content; none if the file is missing or damaged."""
    return _read(layout).get(digest, ())


def keep_signatures(
    layout: Layout, new: Mapping[Digest, Sequence[bytes]], installed: Collection[Digest], *, fsync: bool
) -> None:
    """Add signatures, and remove those of content that is not installed. Raises `OSError`."""
    before = _read(layout)
    kept = {
        digest: tuple(dict.fromkeys([*new.get(digest, ()), *before.get(digest, ())]))
        for digest in sorted({*before, *new} & {*installed})
    }
    kept = {digest: signatures for digest, signatures in kept.items() if signatures}
    if kept == before:
        return
    if not kept:
        discard_file(layout.signatures)
        return
    value = {digest: [each.decode() for each in signatures] for digest, signatures in kept.items()}
    data = json.dumps({"version": FORMAT, "signatures": value}, ensure_ascii=False, indent=1).encode()
    if len(data) <= MAX_SIZE:
        write_document(layout.signatures, data, fsync=fsync)


def _read(layout: Layout) -> dict[Digest, tuple[bytes, ...]]:
    try:
        value = load_json(read_regular_file(layout.signatures, MAX_SIZE).decode())
        if value["version"] != FORMAT:
            return {}
        return {
            Digest(digest): tuple(each.encode() for each in signatures)
            for digest, signatures in value["signatures"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
