"""`config.toml` of the user, for whoever needs a key of it."""

import os

from skillpm.documents.decode import Node, parse_toml
from skillpm.files import read_text
from skillpm.settings import Settings


def config_file(settings: Settings) -> str:
    """Give where the user's settings are."""
    return os.path.join(settings.config_dir, "config.toml")


def user_setting(settings: Settings, key: str) -> Node | None:
    """Give one key of `config.toml`; None where it is not there. Raises `DocumentError` for a file that is no TOML.

    A file in which the key's letters do not occur is not read as TOML: that would cost every command 10 ms.
    """
    file = config_file(settings)
    text = read_text(file)
    return None if text is None or key not in text else parse_toml(text, file).get(key)
