"""Configured indexes: `indexes` of a manifest, `[[indexes]]` of config.toml."""

from collections.abc import Sequence

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import is_skill_name
from skillpm.core.text import HIDDEN, sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, DocumentError
from skillpm.kinds.base import is_local

NAMING_HINT = 'name it: `skillpm config set indexes.NAME.url URL`, or for a whole project "indexes" in its skills.json'
LOCAL_PREFIXES = ("./", "../", "/", "~/")


ADDRESS_HINT = "use a URL like https://host.example/, or a folder that begins with /, ~/, or in skills.json ./ or ../"


class ConfiguredIndex(Value):
    """An index with its name."""

    name: str
    # A web address, or a local folder as it was written; ends in a slash.
    url: str
    # The file and key that configure it, for messages.
    defined_in: str = ""
    # Whether the user configured it. A manifest may be someone else's, so its indexes get no tokens.
    is_own: bool = False

    @property
    def is_local(self) -> bool:
        """Whether it is a local folder."""
        return is_local(self.url)

    @property
    def token_variable(self) -> str:
        """The environment variable with a token for it."""
        return f"{self._variable_prefix}_TOKEN"

    @property
    def url_variable(self) -> str:
        """The environment variable that overrides its URL."""
        return f"{self._variable_prefix}_URL"

    @property
    def _variable_prefix(self) -> str:
        return f"SKILLPM_INDEX_{self.name.upper().replace('-', '_')}"


def read_indexes(node: JsonNode | None) -> tuple[ConfiguredIndex, ...]:
    """Parse a list of indexes. Raises `DocumentError`, also for a duplicate name."""
    if node is None:
        return ()
    indexes: dict[str, ConfiguredIndex] = {}
    for item in node.elements():
        item.check_keys("name", "url")
        name = item.require("name")
        if not is_skill_name(name.value):
            name.raise_expected("a name of lower-case letters, digits and single hyphens")
        if name.text() in indexes:
            raise DocumentError(f"two indexes are named `{name.text()}`", where=item.where)
        indexes[name.text()] = ConfiguredIndex(
            name=name.text(), url=_read_index_url(item.require("url")), defined_in=node.where
        )
    return tuple(indexes.values())


def merge_indexes(manifest: Sequence[ConfiguredIndex], user: Sequence[ConfiguredIndex]) -> tuple[ConfiguredIndex, ...]:
    """Return all indexes in the order in which they are queried: the manifest's, then the user's.

    A user's index that is listed before one that the manifest names as well stays before it. Otherwise a manifest could
    raise the precedence of a shared index above that of a private one, and its skills would be preferred.

    Raises `ConflictError` for one name with two URLs: the user's token would be sent to the URL in the manifest.
    """
    by_name = {index.name: index for index in manifest}
    preceding: dict[str, list[ConfiguredIndex]] = {}
    pending: list[ConfiguredIndex] = []
    for index in user:
        shared = by_name.get(index.name)
        if shared is None:
            pending.append(index)
            continue
        if shared.url != index.url:
            raise ConflictError(
                f"two indexes are named `{index.name}`: {shared.url} and {index.url}",
                where=f"{shared.defined_in} and {index.defined_in}",
                hint="if it has moved, update its URL in both; if they are different indexes, rename one",
            )
        preceding[index.name], pending = pending, []
    return (*(it for index in manifest for it in (*preceding.get(index.name, ()), index)), *pending)


def _read_index_url(node: JsonNode) -> str:
    text = node.path()
    if text.startswith("file://"):
        from urllib.parse import unquote  # noqa: PLC0415  (2 ms that only a file URL costs)

        text = unquote(text.removeprefix("file://localhost").removeprefix("file://"))
        if not text.startswith("/"):
            node.raise_expected("file:///path")
        if HIDDEN.search(text):
            raise DocumentError(
                f"invalid URL `{sanitize(node.text())}`: its path has control characters", where=node.where
            )
    if text.startswith(LOCAL_PREFIXES):
        return text.rstrip("/") + "/"
    if "://" not in text:
        raise DocumentError(f"invalid index URL `{sanitize(node.text(), 80)}`", where=node.where, hint=ADDRESS_HINT)
    from skillpm.kinds.index import normalize_site_url  # noqa: PLC0415  (few configure an index)

    return normalize_site_url(node)
