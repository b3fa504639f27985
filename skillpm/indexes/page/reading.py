"""The leaves of a page that was written before: those of skills that stayed need not be made again."""

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Iterator
from typing import Any, TypeGuard

from skillpm.indexes.page.leaf import Leaf, cleaned

PACKED = re.compile(rb'<script type="text/plain" id="part-[0-9]+">([A-Za-z0-9+/=]*)</script>')
LARGEST = 64_000_000  # characters that one part may become


def leaves_of(page: bytes) -> Iterator[tuple[str, str, Leaf]]:
    """Give name, digest and leaf of each skill on a page, one part after the other, as they stand: by name.

    What cannot be read is left out, and made anew.
    """
    for packed in PACKED.finditer(page):
        try:
            # A page from elsewhere may be a bomb: more than any part of ours is cut off, and so no JSON.
            items = json.loads(zlib.decompressobj().decompress(b64decode(packed[1]), LARGEST))
            found = [
                (str(item["name"]), str(item["digest"]), cleaned(item["leaf"]))
                for item in items
                if is_leaf(item["leaf"])
            ]
        except (ValueError, KeyError, TypeError, RecursionError, zlib.error):
            continue
        yield from found


def is_leaf(value: Any) -> TypeGuard[Leaf]:
    """Tell whether a value has the shape of a leaf, and is text that can be written."""
    if not isinstance(value, dict) or value.keys() != Leaf.__required_keys__:
        return False
    json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate is a ValueError
    texts = ("html", "license", "author", "homepage", "compatibility")
    return (
        all(isinstance(value[key], str) for key in texts)
        and all(type(value[key]) is int for key in ("cut", "tokens"))
        and _are_words(value["triggers"])
        and isinstance(value["needs"], dict)
        and all(_are_words(words) for words in value["needs"].values())
    )


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)
