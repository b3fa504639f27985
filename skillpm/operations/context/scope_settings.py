"""`config.toml` of the user, for whoever needs a key of it."""

import os

from skillpm.core.decoder import JsonNode, parse_toml
from skillpm.core.exclude_newer import NO_CUTOFF, Cutoff, parse_cutoff
from skillpm.errors import DocumentError
from skillpm.files import read_text
from skillpm.formats.manifest import Manifest
from skillpm.settings import Settings


def user_config_path(settings: Settings) -> str:
    """Give where the user's settings are."""
    return os.path.join(settings.config_dir, "config.toml")


def read_user_setting(settings: Settings, key: str) -> JsonNode | None:
    """Give one key of `config.toml`; None where it is not there. Raises `DocumentError` for a file that is no TOML.

    A file in which the key's letters do not occur is not read as TOML: that would cost every command 10 ms.
    """
    file = user_config_path(settings)
    text = read_text(file)
    return None if text is None or key not in text else parse_toml(text, file).get(key)


def read_effective_cutoff(manifest: Manifest, settings: Settings) -> Cutoff:
    """Give what is too new in a scope. Raises `DocumentError` that names file and key of what means nothing."""
    if settings.exclude_newer:
        return parse_cutoff(settings.exclude_newer, settings.now)
    return find_strictest_cutoff(manifest, settings)[1]


def find_strictest_cutoff(manifest: Manifest, settings: Settings) -> tuple[JsonNode | None, Cutoff]:
    """Give what the documents say, and where the one that counts says it."""
    written = [JsonNode(manifest.exclude_newer, manifest.file, ("exclude-newer",))] if manifest.exclude_newer else []
    if (own := read_user_setting(settings, "exclude-newer")) is not None:
        written.append(own)
    said = [
        (node, parse_cutoff(node.text(), settings.now, where=node.where, error_type=DocumentError)) for node in written
    ]
    counting = [pair for pair in said if pair[1].moment] or said[:1]
    return min(counting, key=lambda pair: pair[1].moment, default=(None, NO_CUTOFF))
