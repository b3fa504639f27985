"""Parsed copies of large policies, in the cache: to parse sixty thousand names takes a second.

The name of a copy is a digest of the text, and a copy counts only in the very file that this user or root wrote
(`read_bound_file`): what it says is not checked again.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from skillpm import __version__
from skillpm.cachedir import VERDICTS, read_bound_file, record_use, write_bound_file
from skillpm.core.digest import content_hash
from skillpm.formats.trust.policy import BlockedContent, FetchedPolicy, Policy, read_policy

# Of the text of a policy, in characters; a smaller one takes less than 50 ms.
MIN_SIZE = 100_000
MAX_SIZE = 50_000_000


@lru_cache(maxsize=8)
def read_policy_text(text: str, origin: str, cache_dir: str) -> Policy:
    """Return a policy of the machine or the user, or one that was fetched. Raises what `read_policy` raises."""
    if len(text) < MIN_SIZE:
        return read_policy(text, origin)
    path = os.path.join(cache_dir, VERDICTS, content_hash(f"policy {__version__} {origin}\n{text}".encode()))
    entry = read_bound_file(path, MAX_SIZE)
    if entry is not None:
        with suppress(KeyError, TypeError, ValueError):
            policy = _load(entry["policy"])
            record_use(path)
            return policy
    policy = read_policy(text, origin)
    with suppress(OSError):  # a cache that cannot be written: then it is parsed each time
        write_bound_file(path, {"policy": _dump(policy)}, cache_dir)
    return policy


def _dump(policy: Policy) -> Mapping[str, Any]:
    blocked = [(each.digest, each.name, each.reason) for each in policy.blocked]
    fetch = None if policy.fetch is None else vars(policy.fetch)
    return {**vars(policy), "signers": {**policy.signers}, "blocked": blocked, "fetch": fetch}


def _load(values: Mapping[str, Any]) -> Policy:
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    fields["blocked"] = tuple(
        BlockedContent(where=f"{fields['origin']}: blocked.{number}", digest=digest, name=name, reason=reason)
        for number, (digest, name, reason) in enumerate(fields["blocked"])
    )
    if fields["fetch"] is not None:
        fields["fetch"] = FetchedPolicy(**fields["fetch"])
    return Policy(**fields)
