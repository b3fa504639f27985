"""`config.toml`, the user's settings: discovery, and the keys and values of `skillpm config`."""

from collections.abc import Sequence
from typing import Any, Literal

from skillpm.core.exclude_newer import parse_cutoff
from skillpm.core.json_text.decoder import JsonNode, parse_toml
from skillpm.core.names import is_skill_name
from skillpm.core.suggestions import closest_matches, did_you_mean
from skillpm.core.text import is_encodable, sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, UsageError
from skillpm.formats.edit_policy import ALL_SKILLS, EDIT_MODES
from skillpm.formats.host_profile import HostProfile, read_profile
from skillpm.formats.index_sources import ConfiguredIndex, read_indexes
from skillpm.formats.manifest import ACTIONS, LINK_MODES


class ServingSettings(Value):
    """The table `[serving]`: what agents get unless a call says otherwise. Empty or 0 where it is not set."""

    mode: str = ""
    max_length: int = 0


class UserConfig(Value):
    """The settings for discovery."""

    skills_enabled: bool = True
    # The setting that turns Claude's folders off; empty if they are on.
    disable_claude_paths: str = ""
    # Folders to look in besides those of the host.
    additional_paths: tuple[str, ...] = ()
    # Hosts that the user defines.
    profiles: tuple[HostProfile, ...] = ()


def read_config(text: str, file: str) -> UserConfig:
    """Parse the settings for discovery. Raises `DocumentError` with the invalid key."""
    top = parse_toml(text, file)
    skills, discovery, profiles = (top.get(key) or top.with_value({}) for key in ("skills", "discovery", "profiles"))
    discovery.check_keys("additional-paths", "disable-claude-paths")
    paths = discovery.get("additional-paths")
    return UserConfig(
        skills_enabled=skills.flag_or("enabled", default=True),
        disable_claude_paths="disable-claude-paths" if discovery.flag_or("disable-claude-paths") else "",
        additional_paths=() if paths is None else tuple(part.path() for part in paths.elements()),
        profiles=tuple(read_profile(node, name) for name, node in profiles.items()),
    )


def read_serving(node: JsonNode) -> ServingSettings:
    """Read the table `[serving]`. Raises `DocumentError` with the invalid key."""
    node.check_keys("max-length", "mode")
    mode, max_length = node.get("mode"), node.get("max-length")
    if mode is not None and mode.text() not in SERVING_MODES:
        mode.raise_expected(f"one of {', '.join(SERVING_MODES)}")
    if max_length is not None and max_length.number() < 1:
        max_length.raise_expected("a number of characters above 0")
    return ServingSettings(
        mode="" if mode is None else mode.text(), max_length=0 if max_length is None else max_length.number()
    )


KeyKind = Literal["texts", "age", "flag", "index", "action", "mode", "link", "length", "reduction", "rules", "trust"]
FIXED_KEYS: dict[str, KeyKind] = {
    "agents": "texts",
    "audit.block": "rules",
    "audit.trust-project": "trust",
    "audit.warn": "rules",
    "exclude-newer": "age",
    "discovery.additional-paths": "texts",
    "discovery.disable-claude-paths": "flag",
    "skills.enabled": "flag",
    "link-mode": "link",
    "replace": "texts",
    "serving.max-length": "length",
    "serving.mode": "reduction",
}
OPEN_GROUPS: dict[str, KeyKind] = {
    "indexes": "index",
    "permissions": "action",
    "permissions-for": "action",
    "edits": "mode",
}
KEY_PATTERNS = ("indexes.NAME.url", "permissions.PATTERN", "permissions-for.PROFILE.PATTERN", "edits.NAME")
# How much of a skill is served: `skillpm.serving.renderers.body_modes.Mode`, which this layer cannot import.
SERVING_MODES = ("full", "compact", "toon")
BOOLEAN_WORDS = {
    **dict.fromkeys(["true", "yes", "on", "1"], True),
    **dict.fromkeys(["false", "no", "off", "0"], False),
}
# Settings that users look for here, but that only environment variables set.
ENVIRONMENT_SETTINGS = {
    "offline": "SKILLPM_OFFLINE=1",
    "lock-timeout": "SKILLPM_LOCK_TIMEOUT",
    "idle-timeout": "SKILLPM_IDLE_TIMEOUT",
    "network-timeout": "SKILLPM_NETWORK_TIMEOUT",
    "home": "SKILLPM_HOME",
    "cache-dir": "SKILLPM_CACHE_DIR",
    "config-dir": "SKILLPM_CONFIG_DIR",
}


class ConfigKey(Value):
    """A parsed key; `path` is its path in the document."""

    text: str
    path: tuple[str, ...]
    kind: KeyKind


def parse_key(text: str) -> ConfigKey:
    """Parse `exclude-newer`, `indexes.acme.url`, `permissions.deploy-*`. Raises `UsageError` with similar keys."""
    _check_encodable("a key", text)
    if text in FIXED_KEYS:
        return ConfigKey(text=text, path=tuple(text.split(".")), kind=FIXED_KEYS[text])
    group, _, rest = text.partition(".")
    rest = rest.strip("\"'")
    if group == "indexes" and is_skill_name(rest.removesuffix(".url")):
        name = rest.removesuffix(".url")
        return ConfigKey(text=f"indexes.{name}.url", path=("indexes", name), kind="index")
    if group == "edits" and (is_skill_name(rest) or rest == ALL_SKILLS):
        return ConfigKey(text=text, path=(group, rest), kind="mode")
    if group == "permissions" and rest:
        return ConfigKey(text=text, path=(group, rest), kind="action")
    profile, _, pattern = rest.partition(".")
    if group == "permissions-for" and profile and pattern:
        return ConfigKey(text=text, path=(group, profile, pattern.strip("\"'")), kind="action")
    raise _unknown_key_error(text, group)


def _unknown_key_error(text: str, group: str) -> UsageError:
    if text in ENVIRONMENT_SETTINGS:
        return UsageError(
            f"`{text}` is not a setting of config.toml", hint=f"set {ENVIRONMENT_SETTINGS[text]} in the environment"
        )
    if group in {"profiles", "trust"}:
        what = "a profile is a table" if group == "profiles" else "`trust` is a list of tables"
        return UsageError(what, hint="edit config.toml by hand")
    if text in OPEN_GROUPS or any(key.startswith(f"{text}.") for key in FIXED_KEYS):
        keys = [key for key in (*FIXED_KEYS, *KEY_PATTERNS) if key.startswith(f"{text}.")]
        return UsageError(f"`{text}` is a table", hint=f"name one of its keys: {', '.join(keys)}")
    groups = [name + text[len(group) :] for name in closest_matches(group, OPEN_GROUPS)] if "." in text else []
    similar = groups or closest_matches(text, [*FIXED_KEYS, *OPEN_GROUPS, *ENVIRONMENT_SETTINGS])
    hint = did_you_mean(similar) or f"settings: {', '.join((*FIXED_KEYS, *KEY_PATTERNS))}"
    return UsageError(f"`{sanitize(text, 60)}` is not a setting", hint=hint)


def parse_value(key: ConfigKey, words: Sequence[str], now: float) -> Any:
    """Convert arguments to the value of a key. Raises `UsageError` with what the key accepts."""
    for word in words:
        _check_encodable(f"a value of `{key.text}`", word)
    if key.kind in {"texts", "rules", "trust"}:
        is_flag = key.kind == "trust" and len(words) == 1 and words[0].lower() in BOOLEAN_WORDS
        return BOOLEAN_WORDS[words[0].lower()] if is_flag else _check_audit(key, _parse_texts(key, words))
    if len(words) != 1:
        raise UsageError(f"`{key.text}` takes one value, got {len(words)}")
    word = words[0]
    if key.kind == "flag":
        if word.lower() not in BOOLEAN_WORDS:
            raise UsageError(f"`{key.text}` must be true or false, not `{sanitize(word, 60)}`")
        return BOOLEAN_WORDS[word.lower()]
    choices = {"action": ACTIONS, "mode": EDIT_MODES, "link": LINK_MODES, "reduction": SERVING_MODES}.get(key.kind)
    if choices and word not in choices:
        shown = f"{', '.join(choices[:-1])} or {choices[-1]}"
        raise UsageError(f"`{key.text}` must be {shown}, not `{sanitize(word, 60)}`")
    if key.kind == "length":
        if not (word.isascii() and word.isdigit() and int(word)):
            raise UsageError(f"`{key.text}` must be a number of characters above 0, not `{sanitize(word, 60)}`")
        return int(word)
    if key.kind == "age":
        parse_cutoff(word, now)
    return parse_index(key, word).url if key.kind == "index" else word


def _check_audit(key: ConfigKey, values: list[str]) -> list[str]:
    """Return the values of a list. Raises `UsageError` for one that the table `[audit]` does not accept."""
    if key.kind == "texts":
        return values
    from skillpm.formats.trust.audit_settings import read_audit_settings  # noqa: PLC0415  (few commands need it)

    try:
        read_audit_settings(JsonNode({key.path[1]: values}, "config.toml"))
    except DocumentError as error:
        raise UsageError(f"`{key.text}`: {error.message}") from error
    return values


def parse_index(key: ConfigKey, url: str) -> ConfiguredIndex:
    """Return the index for a key and a URL. Raises `UsageError` for an invalid URL."""
    try:
        index = read_indexes(JsonNode([{"name": key.path[1], "url": url}], "config.toml"))[0]
    except DocumentError as error:
        raise UsageError(error.message, hint="use https://host/, or an absolute path like /srv/index") from error
    # config.toml has no folder that relative paths could refer to: it applies to all projects.
    if index.is_local and not index.url.startswith(("/", "~/")):
        raise UsageError(
            f"the path of the index `{index.name}` must be absolute in config.toml", hint="e.g. /srv/index or ~/index"
        )
    return index


def _check_encodable(what: str, text: str) -> None:
    if not is_encodable(text):
        raise UsageError(f"{what} is not UTF-8: `{sanitize(text, 60)}`", hint="config.toml is a UTF-8 file")


def _parse_texts(key: ConfigKey, words: Sequence[str]) -> list[str]:
    """Return the values of a list: one for each word, or those of a single word that is a TOML array."""
    if len(words) == 1 and words[0].lstrip().startswith("["):
        try:
            return list(parse_toml(f"x = {words[0]}", key.text).require("x").texts())
        except DocumentError as error:
            raise UsageError(f"`{key.text}`: {error.message}", hint='e.g. \'["one", "two"]\', or one two') from error
    if not words or not all(words):
        raise UsageError(f"`{key.text}` takes at least one value; write `[]` for none")
    return list(words)
