"""What the user chose for the check of content."""

from skillpm.core.values import Value


class ValidationOptions(Value):
    """What the user chose for the check of content, on the command line."""

    # Rules of the audit that do not block this time.
    allow: tuple[str, ...] = ()
    # Whether content must be reviewed.
    requires_reviews: bool = False
