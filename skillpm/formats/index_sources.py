"""Where indexes are: `indexes` of a manifest, `[[indexes]]` of config.toml."""

import re
from collections.abc import Sequence

from skillpm.core.decoder import JsonNode
from skillpm.core.git_syntax import normalize_web_url
from skillpm.core.names import is_skill_name
from skillpm.core.text import HIDDEN, sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, DocumentError

NAMING_HINT = 'name it: `skillpm config set indexes.NAME.url URL`, or for a whole project "indexes" in its skills.json'
LOCAL_PREFIXES = ("./", "../", "/", "~/")
# What somebody pastes who looked at an index in a browser.
INDEX_DOCUMENTS = (".well-known/agent-skills/index.json", ".well-known/skills/index.json", "index.json")


ADDRESS_HINT = "on the web it is https://host.example/; a folder begins with /, ~/, or in skills.json ./ or ../"


class ConfiguredIndex(Value):
    """An index by name. `url` ends in a slash: a web address, or a folder of this machine as it was written.

    `is_own`: the user says that an index of this name is there, and not only a manifest, which may be a stranger's.
    """

    name: str
    url: str
    defined_in: str = ""
    is_own: bool = False

    @property
    def is_local(self) -> bool:
        """Tell whether it is a folder of this machine."""
        return is_local(self.url)

    @property
    def token_variable(self) -> str:
        """The environment variable that may hold a token for it."""
        return f"{self._variable_prefix}_TOKEN"

    @property
    def url_variable(self) -> str:
        """The environment variable in which the user may say where it is."""
        return f"{self._variable_prefix}_URL"

    @property
    def _variable_prefix(self) -> str:
        return f"SKILLPM_INDEX_{self.name.upper().replace('-', '_')}"


def is_local(url: str) -> bool:
    """Tell whether an index or an archive lies on this machine."""
    return "://" not in url


def read_indexes(node: JsonNode | None) -> tuple[ConfiguredIndex, ...]:
    """Read a list of indexes. A name that stands twice in it is a fault."""
    if node is None:
        return ()
    places: dict[str, ConfiguredIndex] = {}
    for item in node.elements():
        item.check_keys("name", "url")
        name = item.require("name")
        if not is_skill_name(name.value):
            name.raise_expected("a name of lower-case letters, digits and single hyphens")
        if name.text() in places:
            raise DocumentError(f"two indexes are called `{name.text()}`", where=item.where)
        places[name.text()] = ConfiguredIndex(
            name=name.text(), url=_read_index_url(item.require("url")), defined_in=node.where
        )
    return tuple(places.values())


def merge_indexes(manifest: Sequence[ConfiguredIndex], user: Sequence[ConfiguredIndex]) -> tuple[ConfiguredIndex, ...]:
    """Give all indexes in the order they are asked: the manifest's, then the user's. One of the user's that stands
    before an index which both name stays before it: that a project names an index must not let it answer for another.

    Raises `ConflictError` for one name at two places: the user's token would go to whomever the manifest names.
    """
    shared = {place.name: place for place in manifest}
    ahead: dict[str, list[ConfiguredIndex]] = {}
    waiting: list[ConfiguredIndex] = []
    for place in user:
        there = shared.get(place.name)
        if there is None:
            waiting.append(place)
            continue
        if there.url != place.url:
            raise ConflictError(
                f"two indexes are called `{place.name}`: {there.url} and {place.url}",
                where=f"{there.defined_in} and {place.defined_in}",
                hint="if it has moved, write its new address into both; if they are two, give one another name",
            )
        ahead[place.name], waiting = waiting, []
    return (*(one for place in manifest for one in (*ahead.get(place.name, ()), place)), *waiting)


def _read_index_url(node: JsonNode) -> str:
    text = node.path()
    if text.startswith("file://"):
        from urllib.parse import unquote  # noqa: PLC0415  (2 ms that only a file URL costs)

        text = unquote(text.removeprefix("file://localhost").removeprefix("file://"))
        if not text.startswith("/"):
            node.raise_expected("file:///path")
        if HIDDEN.search(text):
            raise DocumentError(
                f"`{sanitize(node.text())}` is no address: no path has such characters", where=node.where
            )
    if text.startswith(LOCAL_PREFIXES):
        return text.rstrip("/") + "/"
    if "://" not in text:
        raise DocumentError(
            f"`{sanitize(node.text(), 80)}` is no address of an index", where=node.where, hint=ADDRESS_HINT
        )
    return normalize_site_url(node)


def normalize_site_url(node: JsonNode) -> str:
    """Give the address of an index on the web: without user info, whatever document of it was pasted, with a slash."""
    url = re.sub(r"[?].*", "", normalize_web_url(node.text(), error_type=DocumentError, where=node.where)).rstrip("/")
    for ending in INDEX_DOCUMENTS:
        if url.endswith(f"/{ending}"):
            url = url.removesuffix(ending)
            break
    return url.rstrip("/") + "/"
