"""`exclude-newer`: the age, date or timestamp after which versions are not considered."""

import re
from typing import TYPE_CHECKING

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import SkillpmError, UsageError

if TYPE_CHECKING:
    from datetime import datetime

AGE = lazy_pattern(r"([0-9]{1,4})\s*(h|hours?|d|days?|w|weeks?)", re.ASCII | re.IGNORECASE)
DATE = lazy_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
UNIT_SECONDS = {"h": 3600, "d": 86_400, "w": 604_800}
HINT = "e.g. `7 days`, `2 weeks`, `12h`, `2026-01-31` or `2026-01-31T12:00:00Z`; `0 days` turns it off"


class Cutoff(Value):
    """The limit on publication times of versions that are not locked yet."""

    # In UTC, ISO 8601; empty for no limit.
    moment: str = ""
    # For messages, after a version: `younger than 7 days`.
    description: str = ""
    # The policy that requires it, which no option can lift; empty for none.
    policy: str = ""

    def excludes(self, published: str) -> bool:
        """Return whether a publication time is too new. An unknown one, empty, is not."""
        return bool(self.moment) and published > self.moment

    def allow_hint(self, version: str) -> str:
        """Return how to allow a version that is too new."""
        if self.policy:
            return f"{sanitize(self.policy)} requires this age; wait, or ask its owner"
        return f"if you trust {sanitize(version, 40)}, allow it with `--exclude-newer '0 days'`"


NO_CUTOFF = Cutoff()


def parse_cutoff(text: str, now: float, *, where: str = "", error_type: type[SkillpmError] = UsageError) -> Cutoff:
    """Parse an age, a date or a timestamp; `now` is in seconds since 1970. Raises `error_type` for anything else.

    A date includes the whole day, in UTC: local time would resolve differently on two machines. For the same reason a
    timestamp needs an offset.
    """
    from datetime import UTC, datetime  # noqa: PLC0415  (most users exclude nothing)

    text = text.strip()
    if age := AGE.fullmatch(text):
        seconds = int(age[1]) * UNIT_SECONDS[age[2][0].lower()]
        moment = datetime.fromtimestamp(max(0.0, now - seconds), UTC)
        return Cutoff(moment=_format_utc(moment), description=f"younger than {text}") if seconds else NO_CUTOFF
    timestamp = f"{text}T23:59:59Z" if DATE.fullmatch(text) else text
    try:
        moment = datetime.fromisoformat(timestamp)
        if moment.tzinfo is not None:
            return Cutoff(moment=_format_utc(moment.astimezone(UTC)), description=f"newer than {text}")
    except (ValueError, OverflowError):
        pass
    raise error_type(f"`{sanitize(text, 60)}` is not an age, a date or a timestamp", where=where, hint=HINT)


def to_utc(timestamp: str) -> str:
    """Return a timestamp with an offset (RFC 3339) in UTC, as cutoffs are compared; empty for an invalid one."""
    from datetime import UTC, datetime  # noqa: PLC0415  (as above)

    try:
        moment = datetime.fromisoformat(timestamp)
        return "" if moment.tzinfo is None else _format_utc(moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return ""


def _format_utc(moment: "datetime") -> str:
    # Not strftime: its `%Y` does not pad years below 1000 on Linux, and these strings are compared.
    return f"{moment.replace(microsecond=0, tzinfo=None).isoformat()}Z"


def all_yanked_hint(name: str) -> str:
    """Return what to do if every version of a skill is yanked."""
    repository = f"skillpm install owner/repo@{name}"
    return f"all of its versions are yanked: ask its publisher, or install it from its repository: {repository}"
