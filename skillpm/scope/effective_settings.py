"""Settings that several places decide: the environment, the manifest, `config.toml` and policies."""

import os
from typing import TYPE_CHECKING

from skillpm.core.exclude_newer import NO_CUTOFF, Cutoff, parse_cutoff
from skillpm.core.json_text.decoder import JsonNode, parse_toml
from skillpm.errors import DocumentError, UsageError
from skillpm.files import read_text
from skillpm.formats.edit_policy import EditPolicy, read_edit_policy
from skillpm.formats.manifest import Manifest, read_link_mode, read_manifest
from skillpm.scope.scope import Scope
from skillpm.scope.scope_policy import load_scope_policies
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.fetchers.mirrors.layout import Replacement

REPLACE_VARIABLE = "SKILLPM_REPLACE"


def user_config_path(settings: Settings) -> str:
    """Return the path of the user's `config.toml`."""
    return os.path.join(settings.config_dir, "config.toml")


def load_manifest(scope: Scope) -> Manifest:
    """Return the manifest of a scope, or an empty one."""
    text = read_text(scope.manifest)
    return Manifest(file=scope.manifest) if text is None else read_manifest(text, scope.manifest)


def read_user_setting(settings: Settings, key: str) -> JsonNode | None:
    """Return one key of `config.toml`, or None. Raises `DocumentError` for a file that is not valid TOML.

    A file that does not contain the key's name is not parsed: that would cost every command 10 ms.
    """
    file = user_config_path(settings)
    text = read_text(file)
    return None if text is None or key not in text else parse_toml(text, file).get(key)


def read_effective_cutoff(scope: Scope, manifest: Manifest, settings: Settings) -> Cutoff:
    """Return the cutoff of a scope: that of `exclude-newer`, or the minimum age of a policy if that is stricter.

    Raises `DocumentError` with file and key of an invalid value.
    """
    if settings.exclude_newer:
        chosen = parse_cutoff(settings.exclude_newer, settings.now)
    else:
        chosen = find_strictest_cutoff(manifest, settings)[1]
    required = _find_required_cutoff(scope, settings)
    is_stricter = required.moment and (not chosen.moment or required.moment < chosen.moment)
    return required if is_stricter else chosen


def _find_required_cutoff(scope: Scope, settings: Settings) -> Cutoff:
    """Return the strictest minimum age that policies require."""
    policies = load_scope_policies(scope, settings)
    cutoffs = [
        parse_cutoff(age, settings.now, where=where, error_type=DocumentError).replace(policy=where)
        for age, where in (() if policies is None else policies.min_ages)
    ]
    return min((each for each in cutoffs if each.moment), key=lambda each: each.moment, default=NO_CUTOFF)


def find_strictest_cutoff(manifest: Manifest, settings: Settings) -> tuple[JsonNode | None, Cutoff]:
    """Return the strictest cutoff of manifest and configuration, with its place."""
    nodes = [JsonNode(manifest.exclude_newer, manifest.file, ("exclude-newer",))] if manifest.exclude_newer else []
    if (user_setting := read_user_setting(settings, "exclude-newer")) is not None:
        nodes.append(user_setting)
    cutoffs = [
        (node, parse_cutoff(node.text(), settings.now, where=node.where, error_type=DocumentError)) for node in nodes
    ]
    effective = [pair for pair in cutoffs if pair[1].moment] or cutoffs[:1]
    return min(effective, key=lambda pair: pair[1].moment, default=(None, NO_CUTOFF))


def read_link_mode_of(manifest: Manifest, settings: Settings) -> str:
    """Return the kind of links that was chosen: in the environment, else in the manifest, else in `config.toml`."""
    if settings.link_mode or manifest.link_mode:
        return settings.link_mode or manifest.link_mode
    user_setting = read_user_setting(settings, "link-mode")
    return "" if user_setting is None else read_link_mode(user_setting)


def read_edit_policies(manifest: Manifest, settings: Settings) -> EditPolicy:
    """Return what happens to local edits in a scope: what the manifest says, then `config.toml`."""
    return manifest.edits.over(read_edit_policy(read_user_setting(settings, "edits")))


def read_replacement_of(settings: Settings) -> "Replacement | None":
    """Return the mirrors of the environment, else those of `config.toml`, if any. A manifest cannot name any (ADR 41).

    In the environment, they are separated by commas, and relative paths start at the working directory.
    """
    text, node = settings.environ.get(REPLACE_VARIABLE), None
    if not text and (node := read_user_setting(settings, "replace")) is None:
        return None
    from skillpm.fetchers.mirrors.layout import read_replacement  # noqa: PLC0415  (hashlib; few users have mirrors)

    if node is not None:
        return read_replacement(node)
    try:
        return read_replacement(JsonNode(split_replacement(text or "", settings), REPLACE_VARIABLE))
    except DocumentError as error:
        raise UsageError(f"{REPLACE_VARIABLE}: {error.message}", hint=error.hint) from None


def split_replacement(text: str, settings: Settings) -> list[str]:
    """Return the addresses of mirrors in an environment variable; relative paths become absolute."""
    return [absolute_address(part.strip(), settings) for part in text.split(",") if part.strip()]


def absolute_address(text: str, settings: Settings) -> str:
    """Return the address of a mirror with an absolute path."""
    if text == "origin" or "://" in text or text.startswith("~/"):
        return text
    return os.path.normpath(os.path.join(settings.working_directory, text))
