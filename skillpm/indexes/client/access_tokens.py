"""Access tokens of indexes, and hints for failed logins (docs/adr/0024-what-a-project-may-not-lift.md)."""

from collections.abc import Callable

from skillpm.core.names import is_skill_name
from skillpm.core.text import sanitize
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.settings import Settings


def read_index_token(config: ConfiguredIndex, settings: Settings, warn: Callable[[str], None]) -> str:
    """Return the token of an index that the user configured; empty for one that only a manifest declares.

    The manifest of a cloned repository could give the name of the user's index to another URL, to obtain its token.
    """
    token = settings.environ.get(config.token_variable, "")
    if token and not config.is_own:
        warn(
            f"{config.token_variable} is not sent to {sanitize(config.url)}: only the manifest declares the index "
            f"{config.name}; if you trust it: skillpm config set indexes.{config.name}.url {sanitize(config.url)}"
        )
    return token if config.is_own else ""


def login_hint(config: ConfiguredIndex, token: str, netrc_hint: str) -> str:
    """Return a hint on how to log in to an index.

    `token` is the one that was sent, or empty; `netrc_hint` describes the login without a token.
    """
    if token:
        return f"{config.token_variable} was sent; check that it is for this index and has not expired"
    if config.is_own:
        return f"set {config.token_variable} to a token for it, or {netrc_hint}"
    named = is_skill_name(config.name)  # an index that is not configured is named after its host
    name, variable = (config.name, config.token_variable) if named else ("NAME", "SKILLPM_INDEX_NAME_TOKEN")
    return (
        f"{netrc_hint}; for a token: skillpm config set indexes.{name}.url {sanitize(config.url)}, and set {variable}"
    )
