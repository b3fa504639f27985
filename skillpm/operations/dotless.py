"""SPECs that lack their `./`: when they fail, the folder or archive of that name is what was meant."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from skillpm.documents.text import show
from skillpm.errors import FetchError, NotFoundError, OfflineError, UsageError
from skillpm.sources.mistyped import EXAMPLES

ARCHIVES = (".tar.gz", ".tgz", ".zip")


@contextmanager
def told_what_lies_here(specs: Sequence[str], directory: str) -> Iterator[None]:
    """Let an error over one of `specs` name what lies in `directory` under it; any other error passes as it is."""
    try:
        yield
    except (UsageError, NotFoundError, FetchError, OfflineError) as error:
        is_about_flags = isinstance(error, UsageError) and error.hint != EXAMPLES  # about flags, and not about the SPEC
        meant = next((spec for spec in specs if show(spec) in error.message and _lies_in(directory, spec)), None)
        if meant is not None and not is_about_flags:
            error.hint = f"for what lies here put ./ in front: `./{show(meant)}`"
        raise


def _lies_in(directory: str, spec: str) -> bool:
    if not spec or "\0" in spec or spec.startswith(("/", "./", "../", "~")):
        return False
    path = os.path.join(directory, spec)
    return os.path.isfile(os.path.join(path, "SKILL.md")) or (path.endswith(ARCHIVES) and os.path.isfile(path))
