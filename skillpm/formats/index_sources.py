"""Where indexes are: `indexes` of a manifest, `[[indexes]]` of config.toml."""

import re
from collections.abc import Sequence

from skillpm.core.decoder import Node
from skillpm.core.git_syntax import clean_address
from skillpm.core.names import is_skill_name
from skillpm.core.text import HIDDEN, show
from skillpm.core.values import Value
from skillpm.errors import ConflictError, DocumentError

NAME_IT = 'name it: `skillpm config set indexes.NAME.url URL`, or for a whole project "indexes" in its skills.json'
LOCAL = ("./", "../", "/", "~/")
# What somebody pastes who looked at an index in a browser.
ENDINGS = (".well-known/agent-skills/index.json", ".well-known/skills/index.json", "index.json")


A_PLACE = "on the web it is https://host.example/; a folder begins with /, ~/, or in skills.json ./ or ../"


class IndexPlace(Value):
    """An index by name. `url` ends in a slash: a web address, or a folder of this machine as it was written.

    `is_own`: the user says that an index of this name is there, and not only a manifest, which may be a stranger's.
    """

    name: str
    url: str
    written_in: str = ""
    is_own: bool = False

    @property
    def is_local(self) -> bool:
        """Tell whether it is a folder of this machine."""
        return is_local(self.url)

    @property
    def token_variable(self) -> str:
        """The environment variable that may hold a token for it."""
        return f"{self._variable}_TOKEN"

    @property
    def address_variable(self) -> str:
        """The environment variable in which the user may say where it is."""
        return f"{self._variable}_URL"

    @property
    def _variable(self) -> str:
        return f"SKILLPM_INDEX_{self.name.upper().replace('-', '_')}"


def is_local(url: str) -> bool:
    """Tell whether an index or an archive lies on this machine."""
    return "://" not in url


def read_index_places(node: Node | None) -> tuple[IndexPlace, ...]:
    """Read a list of indexes. A name that stands twice in it is a fault."""
    if node is None:
        return ()
    places: dict[str, IndexPlace] = {}
    for item in node.elements():
        item.only("name", "url")
        name = item.need("name")
        if not is_skill_name(name.value):
            name.expected("a name of lower-case letters, digits and single hyphens")
        if name.text() in places:
            raise DocumentError(f"two indexes are called `{name.text()}`", where=item.where)
        places[name.text()] = IndexPlace(name=name.text(), url=_address(item.need("url")), written_in=node.where)
    return tuple(places.values())


def joined(manifest: Sequence[IndexPlace], user: Sequence[IndexPlace]) -> tuple[IndexPlace, ...]:
    """Give all indexes in the order they are asked: the manifest's, then the user's. One of the user's that stands
    before an index which both name stays before it: that a project names an index must not let it answer for another.

    Raises `ConflictError` for one name at two places: the user's token would go to whomever the manifest names.
    """
    shared = {place.name: place for place in manifest}
    ahead: dict[str, list[IndexPlace]] = {}
    waiting: list[IndexPlace] = []
    for place in user:
        there = shared.get(place.name)
        if there is None:
            waiting.append(place)
            continue
        if there.url != place.url:
            raise ConflictError(
                f"two indexes are called `{place.name}`: {there.url} and {place.url}",
                where=f"{there.written_in} and {place.written_in}",
                hint="if it has moved, write its new address into both; if they are two, give one another name",
            )
        ahead[place.name], waiting = waiting, []
    return (*(one for place in manifest for one in (*ahead.get(place.name, ()), place)), *waiting)


def _address(node: Node) -> str:
    text = node.path()
    if text.startswith("file://"):
        from urllib.parse import unquote  # noqa: PLC0415  (2 ms that only a file URL costs)

        text = unquote(text.removeprefix("file://localhost").removeprefix("file://"))
        if not text.startswith("/"):
            node.expected("file:///path")
        if HIDDEN.search(text):
            raise DocumentError(f"`{show(node.text())}` is no address: no path has such characters", where=node.where)
    if text.startswith(LOCAL):
        return text.rstrip("/") + "/"
    if "://" not in text:
        raise DocumentError(f"`{show(node.text(), 80)}` is no address of an index", where=node.where, hint=A_PLACE)
    return site_address(node)


def site_address(node: Node) -> str:
    """Give the address of an index on the web: without user info, whatever document of it was pasted, with a slash."""
    url = re.sub(r"[?].*", "", clean_address(node.text(), fail=DocumentError, where=node.where)).rstrip("/")
    for ending in ENDINGS:
        if url.endswith(f"/{ending}"):
            url = url.removesuffix(ending)
            break
    return url.rstrip("/") + "/"
