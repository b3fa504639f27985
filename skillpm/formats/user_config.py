"""`config.toml`: the user's settings, as values. Pure; keys of other features are left to their readers."""

from collections.abc import Sequence
from typing import Any, Literal

from skillpm.core.decoder import JsonNode, parse_toml
from skillpm.core.exclude_newer import parse_cutoff
from skillpm.core.names import is_skill_name
from skillpm.core.suggestions import closest_matches
from skillpm.core.text import is_encodable, sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, UsageError
from skillpm.formats.host_profile import HostProfile, read_profile
from skillpm.formats.index_sources import ConfiguredIndex, read_indexes
from skillpm.formats.manifest import ACTIONS


class UserConfig(Value):
    """What the user says of discovery: whether skills are on at all, folders more or less, hosts of their own."""

    skills_enabled: bool = True
    disable_claude_paths: bool = False
    additional_paths: tuple[str, ...] = ()
    profiles: tuple[HostProfile, ...] = ()


def read_config(text: str, file: str) -> UserConfig:
    """Read the settings. Raises `DocumentError` with the key that is wrong."""
    top = parse_toml(text, file)
    skills, discovery, profiles = top.get("skills"), top.get("discovery"), top.get("profiles")
    paths = None if discovery is None else discovery.get("additional-paths")
    if discovery is not None:
        discovery.check_keys("additional-paths", "disable-claude-paths")
    return UserConfig(
        skills_enabled=_read_flag(skills, "enabled", default=True),
        disable_claude_paths=_read_flag(discovery, "disable-claude-paths", default=False),
        additional_paths=() if paths is None else tuple(part.path() for part in paths.elements()),
        profiles=() if profiles is None else tuple(read_profile(node, name) for name, node in profiles.items()),
    )


def _read_flag(node: JsonNode | None, key: str, *, default: bool) -> bool:
    found = None if node is None else node.get(key)
    return default if found is None else found.flag()


KeyKind = Literal["texts", "age", "flag", "index", "action"]
FIXED_KEYS: dict[str, KeyKind] = {
    "agents": "texts",
    "exclude-newer": "age",
    "discovery.additional-paths": "texts",
    "discovery.disable-claude-paths": "flag",
    "skills.enabled": "flag",
}
OPEN_GROUPS: dict[str, KeyKind] = {"indexes": "index", "permissions": "action", "permissions-for": "action"}
KEY_PATTERNS = ("indexes.NAME.url", "permissions.PATTERN", "permissions-for.PROFILE.PATTERN")
BOOLEAN_WORDS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}
# What somebody may look for here, and where it is said instead.
ENVIRONMENT_SETTINGS = {
    "offline": "SKILLPM_OFFLINE=1",
    "lock-timeout": "SKILLPM_LOCK_TIMEOUT",
    "idle-timeout": "SKILLPM_IDLE_TIMEOUT",
    "network-timeout": "SKILLPM_NETWORK_TIMEOUT",
    "link-mode": "SKILLPM_LINK_MODE",
    "home": "SKILLPM_HOME",
    "cache-dir": "SKILLPM_CACHE_DIR",
    "config-dir": "SKILLPM_CONFIG_DIR",
}


class ConfigKey(Value):
    """A key understood: `path` is where it stands in the document."""

    text: str
    path: tuple[str, ...]
    kind: KeyKind


def parse_key(text: str) -> ConfigKey:
    """Understand `exclude-newer`, `indexes.acme.url`, `permissions.deploy-*`. Raises `UsageError` for any other, with
    those that are near.
    """
    _check_encodable("a key", text)
    if text in FIXED_KEYS:
        return ConfigKey(text=text, path=tuple(text.split(".")), kind=FIXED_KEYS[text])
    group, _, rest = text.partition(".")
    rest = rest.strip("\"'")
    if group == "indexes" and is_skill_name(rest.removesuffix(".url")):
        name = rest.removesuffix(".url")
        return ConfigKey(text=f"indexes.{name}.url", path=("indexes", name), kind="index")
    if group == "permissions" and rest:
        return ConfigKey(text=text, path=(group, rest), kind="action")
    profile, _, pattern = rest.partition(".")
    if group == "permissions-for" and profile and pattern:
        return ConfigKey(text=text, path=(group, profile, pattern.strip("\"'")), kind="action")
    raise _unknown_key_error(text, group)


def _unknown_key_error(text: str, group: str) -> UsageError:
    if text in ENVIRONMENT_SETTINGS:
        return UsageError(
            f"`{text}` is not kept in config.toml", hint=f"set {ENVIRONMENT_SETTINGS[text]} in the environment"
        )
    if group == "profiles":
        return UsageError("a profile is a table of its own", hint="write it into config.toml by hand")
    if text in OPEN_GROUPS or any(key.startswith(f"{text}.") for key in FIXED_KEYS):
        inside = [key for key in (*FIXED_KEYS, *KEY_PATTERNS) if key.startswith(f"{text}.")]
        return UsageError(f"`{text}` is a table", hint=f"name a key in it: {', '.join(inside)}")
    groups = [name + text[len(group) :] for name in closest_matches(group, OPEN_GROUPS)] if "." in text else []
    similar = groups or closest_matches(text, [*FIXED_KEYS, *OPEN_GROUPS, *ENVIRONMENT_SETTINGS])
    hint = (
        f"did you mean {sanitize(' or '.join(similar), 200)}?"
        if similar
        else f"keys are: {', '.join((*FIXED_KEYS, *KEY_PATTERNS))}"
    )
    return UsageError(f"`{sanitize(text, 60)}` is no setting", hint=hint)


def parse_value(key: ConfigKey, words: Sequence[str], now: float) -> Any:
    """Give what was typed as the value that the key takes. Raises `UsageError` that says what it takes."""
    for word in words:
        _check_encodable(f"a value of `{key.text}`", word)
    if key.kind == "texts":
        return _parse_texts(key, words)
    if len(words) != 1:
        raise UsageError(f"`{key.text}` takes one value, and here are {len(words)}")
    word = words[0]
    if key.kind == "flag":
        if word.lower() not in BOOLEAN_WORDS:
            raise UsageError(f"`{key.text}` is true or false, not `{sanitize(word, 60)}`")
        return BOOLEAN_WORDS[word.lower()]
    if key.kind == "action" and word not in ACTIONS:
        raise UsageError(f"`{key.text}` is {', '.join(ACTIONS[:-1])} or {ACTIONS[-1]}, not `{sanitize(word, 60)}`")
    if key.kind == "age":
        parse_cutoff(word, now)
    return parse_index(key, word).url if key.kind == "index" else word


def parse_index(key: ConfigKey, url: str) -> ConfiguredIndex:
    """Give an index that is about to be written down. Raises `UsageError` for what is no place for one."""
    try:
        place = read_indexes(JsonNode([{"name": key.path[1], "url": url}], "config.toml"))[0]
    except DocumentError as error:
        raise UsageError(error.message, hint="an index is https://host/, or a whole path like /srv/index") from error
    if place.is_local and not place.url.startswith(("/", "~/")):
        raise UsageError(
            f"the folder of the index `{place.name}` must be whole here", hint="like /srv/index or ~/index"
        )
    return place


def _check_encodable(what: str, text: str) -> None:
    if not is_encodable(text):
        raise UsageError(f"{what} is no UTF-8: `{sanitize(text, 60)}`", hint="a file of settings holds nothing else")


def _parse_texts(key: ConfigKey, words: Sequence[str]) -> list[str]:
    """Several words are several values; one that begins with `[` is an array as TOML has it."""
    if len(words) == 1 and words[0].lstrip().startswith("["):
        try:
            return list(parse_toml(f"x = {words[0]}", key.text).require("x").texts())
        except DocumentError as error:
            raise UsageError(f"`{key.text}`: {error.message}", hint='like \'["one", "two"]\', or one two') from error
    if not words or not all(words):
        raise UsageError(f"`{key.text}` takes one value or more; `[]` is none")
    return list(words)
