"""Who is sent a token, and what to say where an index wants one (docs/adr/0024-what-a-project-may-not-lift.md)."""

from collections.abc import Callable

from skillpm.core.names import is_skill_name
from skillpm.core.text import show
from skillpm.formats.index_sources import IndexPlace
from skillpm.settings import Settings


def token_for(place: IndexPlace, settings: Settings, warn: Callable[[str], None]) -> str:
    """Give the token for an index, if the user himself says that it is there: a checked-out manifest that calls an
    index of its own by a known name is sent nothing.
    """
    token = settings.environ.get(place.token_variable, "")
    if token and not place.is_own:
        warn(
            f"{place.token_variable} is not sent to {show(place.url)}, since only the manifest says that the index "
            f"{place.name} is there; if it is: skillpm config set indexes.{place.name}.url {show(place.url)}"
        )
    return token if place.is_own else ""


def way_in(place: IndexPlace, token: str, by_netrc: str) -> str:
    """Say how to log in, by a token only where it would be sent; `token` is the one that was, `by_netrc` says how else
    it is done.
    """
    if token:
        return f"{place.token_variable} was sent: see that it is for this index, and still holds"
    if place.is_own:
        return f"set {place.token_variable} to a token for it, or {by_netrc}"
    named = is_skill_name(place.name)  # one that was asked for by its address alone is called like its host
    name, variable = (place.name, place.token_variable) if named else ("NAME", "SKILLPM_INDEX_NAME_TOKEN")
    return f"{by_netrc}; for a token: skillpm config set indexes.{name}.url {show(place.url)}, and set {variable}"
