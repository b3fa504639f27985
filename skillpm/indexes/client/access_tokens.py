"""Who is sent a token, and what to say where an index wants one (docs/adr/0024-what-a-project-may-not-lift.md)."""

from collections.abc import Callable

from skillpm.core.names import is_skill_name
from skillpm.core.text import sanitize
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.settings import Settings


def read_index_token(config: ConfiguredIndex, settings: Settings, warn: Callable[[str], None]) -> str:
    """Give the token for an index, if the user himself says that it is there: a checked-out manifest that calls an
    index of its own by a known name is sent nothing.
    """
    token = settings.environ.get(config.token_variable, "")
    if token and not config.is_own:
        warn(
            f"{config.token_variable} is not sent to {sanitize(config.url)}, since only the manifest says that the index "
            f"{config.name} is there; if it is: skillpm config set indexes.{config.name}.url {sanitize(config.url)}"
        )
    return token if config.is_own else ""


def login_hint(config: ConfiguredIndex, token: str, netrc_hint: str) -> str:
    """Say how to log in, by a token only where it would be sent; `token` is the one that was, `by_netrc` says how else
    it is done.
    """
    if token:
        return f"{config.token_variable} was sent: see that it is for this index, and still holds"
    if config.is_own:
        return f"set {config.token_variable} to a token for it, or {netrc_hint}"
    named = is_skill_name(config.name)  # one that was asked for by its address alone is called like its host
    name, variable = (config.name, config.token_variable) if named else ("NAME", "SKILLPM_INDEX_NAME_TOKEN")
    return (
        f"{netrc_hint}; for a token: skillpm config set indexes.{name}.url {sanitize(config.url)}, and set {variable}"
    )
