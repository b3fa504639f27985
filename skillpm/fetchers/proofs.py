"""Remember which locked git folders were proved: that the commit has this tree at this path, with this digest.

A tree is fetched by its id, and every byte is checked against it; but nothing in that says that it belongs to the
commit in the lockfile, which is what people read. Proving that costs a request. What was proved once on a machine is
remembered as an empty file in the cache.
"""

import os
from contextlib import suppress

from skillpm.cachedir import record_use, write_cache_file
from skillpm.core.digest import Digest
from skillpm.formats.pin import GitPin, Pin


class Proofs:
    """The proofs in a cache."""

    def __init__(self, cache_dir: str) -> None:
        self.folder = os.path.join(cache_dir, "proofs")

    def path(self, pin: GitPin, digest: Digest) -> str:
        """Return the path of a proof, whether it exists or not."""
        from hashlib import sha256  # noqa: PLC0415  (2 ms that most commands save)

        claim = f"{pin.url}\n{pin.commit}\n{pin.path}\n{pin.tree}\n{digest}"
        return os.path.join(self.folder, sha256(claim.encode()).hexdigest())

    def has(self, pin: Pin, digest: Digest) -> bool:
        """Return whether nothing remains to be proved. Only git pins need it: others are checked as they are read."""
        return not isinstance(pin, GitPin) or os.path.exists(self.path(pin, digest))

    def add(self, pin: GitPin, digest: Digest) -> None:
        """Record a proof. A failure is ignored: it costs a request later."""
        path = self.path(pin, digest)
        with suppress(OSError):
            if os.path.exists(path):
                record_use(path)
            else:
                write_cache_file(path, b"")
