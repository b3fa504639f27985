"""The keys of `config.toml` that a person sets one by one, and what each may be. Pure."""

from collections.abc import Sequence
from typing import Any, Literal

from skillpm.documents.cutoff import read_cutoff
from skillpm.documents.decode import Node, parse_toml
from skillpm.documents.index_places import IndexPlace, read_index_places
from skillpm.documents.manifest import ACTIONS
from skillpm.documents.names import is_skill_name
from skillpm.documents.spelling import near
from skillpm.documents.text import is_text, show
from skillpm.errors import DocumentError, UsageError
from skillpm.values import Value

Kind = Literal["texts", "age", "flag", "index", "action"]
FIXED: dict[str, Kind] = {
    "agents": "texts",
    "exclude-newer": "age",
    "discovery.additional-paths": "texts",
    "discovery.disable-claude-paths": "flag",
    "skills.enabled": "flag",
}
OPEN: dict[str, Kind] = {"indexes": "index", "permissions": "action", "permissions-for": "action"}
SPELLINGS = ("indexes.NAME.url", "permissions.PATTERN", "permissions-for.PROFILE.PATTERN")
WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
# What somebody may look for here, and where it is said instead.
ELSEWHERE = {
    "offline": "SKILLPM_OFFLINE=1",
    "lock-timeout": "SKILLPM_LOCK_TIMEOUT",
    "idle-timeout": "SKILLPM_IDLE_TIMEOUT",
    "network-timeout": "SKILLPM_NETWORK_TIMEOUT",
    "link-mode": "SKILLPM_LINK_MODE",
    "home": "SKILLPM_HOME",
    "cache-dir": "SKILLPM_CACHE_DIR",
    "config-dir": "SKILLPM_CONFIG_DIR",
}


class Key(Value):
    """A key understood: `path` is where it stands in the document."""

    text: str
    path: tuple[str, ...]
    kind: Kind


def read_key(text: str) -> Key:
    """Understand `exclude-newer`, `indexes.acme.url`, `permissions.deploy-*`. Raises `UsageError` for any other, with
    those that are near.
    """
    _need_text("a key", text)
    if text in FIXED:
        return Key(text=text, path=tuple(text.split(".")), kind=FIXED[text])
    group, _, rest = text.partition(".")
    rest = rest.strip("\"'")
    if group == "indexes" and is_skill_name(rest.removesuffix(".url")):
        name = rest.removesuffix(".url")
        return Key(text=f"indexes.{name}.url", path=("indexes", name), kind="index")
    if group == "permissions" and rest:
        return Key(text=text, path=(group, rest), kind="action")
    profile, _, pattern = rest.partition(".")
    if group == "permissions-for" and profile and pattern:
        return Key(text=text, path=(group, profile, pattern.strip("\"'")), kind="action")
    raise _unknown(text, group)


def _unknown(text: str, group: str) -> UsageError:
    if text in ELSEWHERE:
        return UsageError(f"`{text}` is not kept in config.toml", hint=f"set {ELSEWHERE[text]} in the environment")
    if group == "profiles":
        return UsageError("a profile is a table of its own", hint="write it into config.toml by hand")
    if text in OPEN or any(key.startswith(f"{text}.") for key in FIXED):
        inside = [key for key in (*FIXED, *SPELLINGS) if key.startswith(f"{text}.")]
        return UsageError(f"`{text}` is a table", hint=f"name a key in it: {', '.join(inside)}")
    groups = [name + text[len(group) :] for name in near(group, OPEN)] if "." in text else []
    similar = groups or near(text, [*FIXED, *OPEN, *ELSEWHERE])
    hint = (
        f"did you mean {show(' or '.join(similar), 200)}?"
        if similar
        else f"keys are: {', '.join((*FIXED, *SPELLINGS))}"
    )
    return UsageError(f"`{show(text, 60)}` is no setting", hint=hint)


def read_value(key: Key, words: Sequence[str], now: float) -> Any:
    """Give what was typed as the value that the key takes. Raises `UsageError` that says what it takes."""
    for word in words:
        _need_text(f"a value of `{key.text}`", word)
    if key.kind == "texts":
        return _texts(key, words)
    if len(words) != 1:
        raise UsageError(f"`{key.text}` takes one value, and here are {len(words)}")
    word = words[0]
    if key.kind == "flag":
        if word.lower() not in WORDS:
            raise UsageError(f"`{key.text}` is true or false, not `{show(word, 60)}`")
        return WORDS[word.lower()]
    if key.kind == "action" and word not in ACTIONS:
        raise UsageError(f"`{key.text}` is {', '.join(ACTIONS[:-1])} or {ACTIONS[-1]}, not `{show(word, 60)}`")
    if key.kind == "age":
        read_cutoff(word, now)
    return place_of(key, word).url if key.kind == "index" else word


def place_of(key: Key, url: str) -> IndexPlace:
    """Give an index that is about to be written down. Raises `UsageError` for what is no place for one."""
    try:
        place = read_index_places(Node([{"name": key.path[1], "url": url}], "config.toml"))[0]
    except DocumentError as error:
        raise UsageError(error.message, hint="an index is https://host/, or a whole path like /srv/index") from error
    if place.is_local and not place.url.startswith(("/", "~/")):
        raise UsageError(
            f"the folder of the index `{place.name}` must be whole here", hint="like /srv/index or ~/index"
        )
    return place


def _need_text(what: str, text: str) -> None:
    if not is_text(text):
        raise UsageError(f"{what} is no UTF-8: `{show(text, 60)}`", hint="a file of settings holds nothing else")


def _texts(key: Key, words: Sequence[str]) -> list[str]:
    """Several words are several values; one that begins with `[` is an array as TOML has it."""
    if len(words) == 1 and words[0].lstrip().startswith("["):
        try:
            return list(parse_toml(f"x = {words[0]}", key.text).need("x").texts())
        except DocumentError as error:
            raise UsageError(f"`{key.text}`: {error.message}", hint='like \'["one", "two"]\', or one two') from error
    if not words or not all(words):
        raise UsageError(f"`{key.text}` takes one value or more; `[]` is none")
    return list(words)
