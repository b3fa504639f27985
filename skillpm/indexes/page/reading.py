"""The leaves of a page that was written before: those of skills that stayed need not be made again."""

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Mapping
from typing import Any, TypeGuard

from skillpm.indexes.page.leaf import Leaf, cleaned

PACKED = re.compile(r'<script type="text/plain" id="part-[0-9]+">([A-Za-z0-9+/=]*)</script>')
LARGEST = 64_000_000  # characters that one part may become


def leaves_of(text: str) -> Mapping[str, Leaf]:
    """Give the leaves of a page by their skill's digest; what cannot be read is left out, and made anew."""
    found: dict[str, Leaf] = {}
    for packed in PACKED.findall(text):
        try:
            # A page from elsewhere may be a bomb: more than any part of ours is cut off, and so no JSON.
            items = json.loads(zlib.decompressobj().decompress(b64decode(packed), LARGEST))
            for item in items:
                if is_leaf(item["leaf"]):
                    found[str(item["digest"])] = cleaned(item["leaf"])
        except (ValueError, KeyError, TypeError, RecursionError, zlib.error):
            continue
    return found


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
