"""`exclude-newer`: what is younger than this is not taken, said as an age, a day or a moment. Pure."""

import re
from typing import TYPE_CHECKING

from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import SkillpmError, UsageError

if TYPE_CHECKING:
    from datetime import datetime

AGE = re.compile(r"([0-9]{1,4})\s*(h|hours?|d|days?|w|weeks?)", re.ASCII | re.IGNORECASE)
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
UNIT_SECONDS = {"h": 3600, "d": 86_400, "w": 604_800}
HINT = "write it like `7 days`, `2 weeks`, `12h`, `2026-01-31` or `2026-01-31T12:00:00Z`; `0 days` switches it off"


class Cutoff(Value):
    """The moment (UTC, ISO 8601) after which nothing was published that may be taken anew; empty where all may.

    `said` is how a person reads it behind a version: `younger than 7 days`.
    """

    moment: str = ""
    description: str = ""

    def excludes(self, published: str) -> bool:
        """Tell whether what was published then is too new. Where nobody says when, it is not."""
        return bool(self.moment) and published > self.moment


NO_CUTOFF = Cutoff()


def parse_cutoff(text: str, now: float, *, where: str = "", error_type: type[SkillpmError] = UsageError) -> Cutoff:
    """Understand what a person wrote; `now` are seconds since 1970. Raises `fail` for what is no age, day or moment.

    A day counts to its end, in UTC: two machines must not choose differently for where they stand.
    """
    from datetime import UTC, datetime  # noqa: PLC0415  (most users exclude nothing)

    said = text.strip()
    if age := AGE.fullmatch(said):
        back = int(age[1]) * UNIT_SECONDS[age[2][0].lower()]
        moment = datetime.fromtimestamp(max(0.0, now - back), UTC)
        return Cutoff(moment=_format_utc(moment), description=f"younger than {said}") if back else NO_CUTOFF
    whole = f"{said}T23:59:59Z" if DATE.fullmatch(said) else said
    try:
        moment = datetime.fromisoformat(whole)
        if moment.tzinfo is not None:
            return Cutoff(moment=_format_utc(moment.astimezone(UTC)), description=f"newer than {said}")
    except (ValueError, OverflowError):
        pass
    raise error_type(f"`{sanitize(said, 60)}` is no age, day or moment", where=where, hint=HINT)


def _format_utc(moment: "datetime") -> str:
    """Write a moment in UTC; its year has four digits, which `strftime` may not give: texts are compared."""
    return f"{moment.replace(microsecond=0, tzinfo=None).isoformat()}Z"


def allow_newer_hint(version: str) -> str:
    """Say how a version that is too young is taken all the same."""
    return f"if you trust {sanitize(version, 40)}, take it all the same with `--exclude-newer '0 days'`"


def all_yanked_hint(name: str) -> str:
    """Say what to do where every version was withdrawn."""
    repository = f"skillpm install owner/repo@{name}"
    return (
        f"no version of it is given out any more: ask whoever publishes it, or take it from where it is: {repository}"
    )
