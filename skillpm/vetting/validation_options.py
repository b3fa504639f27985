"""What the user chose for the check of content."""

from collections.abc import Collection

from skillpm.core.names import SkillName
from skillpm.core.values import Value


class ValidationOptions(Value):
    """What the user chose for the check of content, on the command line."""

    # Rules of the audit that do not block this time.
    allow: tuple[str, ...] = ()
    # Whether content must be reviewed.
    requires_reviews: bool = False
    # The skills that are updated: a rule that is newer than their content applies to them, too.
    updated: Collection[SkillName] = ()
