"""Rules that the user has allowed for a content with `--allow`, so that the installed skill can be loaded."""

import os
from contextlib import suppress

from skillpm.cachedir import VERDICTS, read_bound_file, record_use, write_bound_file
from skillpm.core.digest import Digest, content_hash

MAX_SIZE = 100_000


def remember_allowed(cache_dir: str, digest: Digest, rules: tuple[str, ...]) -> None:
    """Record the rules for a content, beside those that were allowed before."""
    with suppress(OSError):  # a cache that cannot be written: then `load` asks for an exception
        write_bound_file(
            _path(cache_dir, digest), {"rules": sorted({*rules, *read_allowed(cache_dir, digest)})}, cache_dir
        )


def read_allowed(cache_dir: str, digest: Digest) -> frozenset[str]:
    """Return the rules that were allowed for a content on this machine."""
    path = _path(cache_dir, digest)
    entry = read_bound_file(path, MAX_SIZE)
    rules = None if entry is None else entry.get("rules")
    if not isinstance(rules, list):
        return frozenset()
    record_use(path)
    return frozenset(rule for rule in rules if isinstance(rule, str))


def _path(cache_dir: str, digest: Digest) -> str:
    return os.path.join(cache_dir, VERDICTS, content_hash(f"allowed {digest}".encode()))
