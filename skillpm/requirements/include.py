"""`include`: a requirement for all skills of a folder in a repository, except those that it excludes."""

import json
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from skillpm.core.git_syntax import abbreviate_url
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import HIDDEN, sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.formats.lockfile import Lockfile
from skillpm.kinds.base import Source
from skillpm.kinds.git import KEYS as GIT_KEYS
from skillpm.kinds.git import GitSource, read_repository_folder
from skillpm.requirements.manifest_requirements import parse_locked_requirement

KEYS = (*(key for key in GIT_KEYS if key != "skill"), "exclude")
# The characters of a skill's name, and wildcards; and those of a folder without a valid name.
NAME_PATTERN = lazy_pattern(r"[a-z0-9*?-]{1,64}")
FOLDER_PATTERN = lazy_pattern(r"[^\s/\\\[\]\x00-\x1f\x7f]{1,64}")
PATTERN_HINT = (
    "a pattern is the name of a skill or its folder, in which `*` stands for any characters and `?` for one: draft-*"
)


class Include(Value):
    """All skills of a repository, or of those below `source.path`."""

    source: GitSource
    # Patterns of names.
    exclude: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The repository and folder, for messages."""
        url = abbreviate_url(self.source.url)
        return f"{url} ({self.source.path})" if self.source.path else url

    @property
    def value(self) -> dict[str, Any]:
        """The value form of a manifest."""
        value: dict[str, Any] = self.source.to_json()
        return value | ({"exclude": [*self.exclude]} if self.exclude else {})

    def excludes(self, name: str, path: str = "") -> bool:
        """Return whether a skill of this name is left out, or one in a folder of a name that no skill can have."""
        folder = posixpath.basename(path)
        return any(
            fnmatchcase(name, pattern) or (fnmatchcase(folder, pattern) and not is_plain_pattern(pattern))
            for pattern in self.exclude
        )

    def contains(self, source: Source) -> bool:
        """Return whether a source is one of the folders that this stands for."""
        own = self.source
        if not isinstance(source, GitSource):
            return False
        if source.path == "." and not own.files:
            source = source.replace(files=())  # those of a root skill leave out its links to itself
        return source == own.replace(path=source.path) and (
            not own.path or source.path == own.path or source.path.startswith(f"{own.path}/")
        )

    def is_locked_by(self, value: Any) -> bool:
        """Return whether a lockfile that records this value has all skills that this stands for.

        It may have more, since they were not excluded then.
        """
        exclude = value.get("exclude", ()) if isinstance(value, dict) else ()
        return self.replace(exclude=()).value == _without_exclude(value) and {*exclude} <= {*self.exclude}


def read_includes(values: Sequence[Any], file: str) -> tuple[Include, ...]:
    """Parse the `include` of a manifest. Errors name file and key."""
    return tuple(_read_include(JsonNode(value, file, ("include", str(number)))) for number, value in enumerate(values))


def _read_include(node: JsonNode) -> Include:
    node.check_keys(*KEYS)
    source = read_repository_folder(node.with_value(_without_exclude(node.value)), KEYS)
    exclude = node.texts_or_empty("exclude")
    if invalid := next((pattern for pattern in exclude if not is_name_pattern(pattern)), None):
        message = f"invalid pattern `{sanitize(invalid, 80)}`"
        raise DocumentError(message, where=f"{node.where}.exclude", hint=PATTERN_HINT)
    return Include(source=source.replace(path="" if source.path == "." else source.path), exclude=exclude)


def is_name_pattern(text: str) -> bool:
    """Return whether a text is a pattern of names, or of folders without a valid name."""
    return FOLDER_PATTERN.fullmatch(text) is not None and HIDDEN.search(text) is None


def is_plain_pattern(text: str) -> bool:
    """Return whether a pattern can match the name of a skill."""
    return NAME_PATTERN.fullmatch(text) is not None


def _without_exclude(value: Any) -> Any:
    return {key: part for key, part in value.items() if key != "exclude"} if isinstance(value, dict) else value


def include_values(includes: Iterable[Include]) -> tuple[Any, ...]:
    """Return includes as a lockfile records them: sorted, since their order means nothing."""
    return tuple(sorted((include.value for include in includes), key=lambda value: json.dumps(value, sort_keys=True)))


def find_locked_includes(
    includes: Sequence[Include], required: Mapping[SkillName, Any], lockfile: Lockfile
) -> dict[SkillName, tuple[Include, GitSource]]:
    """Return the requirements of a lockfile that these includes stand for. What the manifest requires itself wins."""
    found = {}
    for name, value in lockfile.requirements.items() if includes else ():
        if name in required or not isinstance(value, dict) or "git" not in value:
            continue
        source = parse_locked_requirement(name, value)
        if not isinstance(source, GitSource):
            continue
        include = next((it for it in includes if it.contains(source) and not it.excludes(name, source.path)), None)
        if include is not None:
            found[name] = (include, source)
    return found


def find_missing_includes(includes: Sequence[Include], lockfile: Lockfile) -> list[str]:
    """Return a message for each include whose skills are not locked."""
    missing = [it for it in includes if not any(it.is_locked_by(value) for value in lockfile.include)]
    return [f"the skills of {include.place} are not locked" for include in missing]
