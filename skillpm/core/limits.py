"""Maximum sizes of what comes from outside."""

from skillpm.core.values import Value


class Limits(Value):
    """Maximum sizes of skills, downloads and index documents, in bytes; `files` is a count.

    Each has an environment variable, `SKILLPM_MAX_<NAME>`.
    """

    file: int = 25_000_000
    skill: int = 100_000_000
    files: int = 5_000
    download: int = 100_000_000
    index: int = 10_000_000
    catalog: int = 20_000_000
