"""Skills as the Skills extension of the Model Context Protocol publishes them: files by URI, entries with digests.

SEP-2640: each file is a resource `skill://NAME/PATH`, and what lies in a folder can be asked; an entry has the
frontmatter as JSON and every file with SHA-256 and size. Only skills that keep the Agent Skills specification to the
letter are listed; any visible one can be read.
"""

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from skillpm.core.digest import content_hash
from skillpm.core.names import SKILL_FILE
from skillpm.core.values import Value
from skillpm.errors import NotFoundError
from skillpm.installer.skill_file import read_regular_file
from skillpm.installer.stat_cache import Stamp, stamp_of
from skillpm.registry.card import Card
from skillpm.registry.snapshot import is_recent
from skillpm.serving.service import SkillService
from skillpm.serving.skill_files import files_beside
from skillpm.skillmd.frontmatter import CLOSING, OPENING, decode_text
from skillpm.skillmd.validation import judge
from skillpm.skillmd.yaml_loader import yaml_values

SCHEME = "skill://"
# The extension's limits for one skill: what every host must take.
MOST_FILES = 512
MOST_BYTES = 16 * 1024 * 1024


class Published(Value):
    """An entry of `skills/list`, or why a skill has none."""

    entry: Mapping[str, Any] | None = None
    why_not: str = ""


class Publisher:
    """Publishes what a service lets be seen. Entries are kept while the files are as they were."""

    def __init__(self, service: SkillService) -> None:
        self.service = service
        self._known: dict[str, tuple[tuple[tuple[str, ...], tuple[Stamp, ...]], Published]] = {}

    def publish(self, card: Card) -> Published:
        """Give the entry of a skill."""
        if card.entry.get("userOnly"):
            return Published(why_not="it is for people to invoke, models are not told of it")
        paths = (SKILL_FILE, *files_beside(card))
        try:
            stamps = tuple(stamp_of(os.stat(os.path.join(card.folder, path))) for path in paths)
        except OSError as error:
            return Published(why_not=error.strerror or "it cannot be read")
        known = self._known.get(card.name)
        if known is not None and known[0] == (paths, stamps):
            return known[1]
        published = _published(card, paths)
        if not any(map(is_recent, stamps)):
            self._known[card.name] = ((paths, stamps), published)
        return published

    def read(self, uri: str) -> bytes:
        """Give the bytes of a file by its URI. Raises `NotFoundError` for what is not to be seen, there or not.

        Raises `NotAllowedError` where a person must approve the skill.
        """
        card, path = self._place(uri)
        if path != SKILL_FILE and path not in files_beside(card):
            raise _unknown(uri)
        self.service.permit(card.name)
        try:
            data, _ = read_regular_file(os.path.join(card.folder, path), MOST_BYTES + 1)
        except OSError as error:
            raise _unknown(uri) from error
        if len(data) > MOST_BYTES:
            raise _unknown(uri)
        return data

    def folder(self, uri: str) -> tuple[Card, tuple[str, ...], tuple[str, ...]]:
        """Give what lies in a folder of a skill by its URI, without a slash at its end: files, then folders, by path.

        Raises `NotFoundError` for what is not to be seen and for what is no folder.
        """
        card, path = self._place(uri)
        start = f"{path}/" if path else ""
        below = [file for file in (SKILL_FILE, *files_beside(card)) if file.startswith(start)]
        if not below or uri.endswith("/"):
            raise _unknown(uri)
        rest = [file.removeprefix(start).partition("/") for file in below]
        files = {start + name for name, slash, _ in rest if not slash}
        folders = {start + name for name, slash, _ in rest if slash}
        return card, tuple(sorted(files)), tuple(sorted(folders))

    def get(self, uri: str) -> Published:
        """Give the entry of the skill whose SKILL.md has this URI. Raises `NotFoundError`."""
        card, path = self._place(uri)
        if path != SKILL_FILE:
            raise _unknown(uri)
        return self.publish(card)

    def _place(self, uri: str) -> tuple[Card, str]:
        if not uri.startswith(SCHEME) or len(uri) > 4_000:  # noqa: PLR2004  (no path of a skill is so long)
            raise _unknown(uri)
        name, _, path = uri.removeprefix(SCHEME).partition("/")
        card = self.service.visible.get(unquote(name))
        if card is None or os.path.basename(card.location) != SKILL_FILE:
            raise _unknown(uri)
        return card, unquote(path)


def uri_of(name: str, path: str) -> str:
    """Give the URI of a file or folder of a skill."""
    return f"{SCHEME}{quote(name, safe='')}/{quote(path)}" if path else f"{SCHEME}{quote(name, safe='')}"


def _published(card: Card, paths: tuple[str, ...]) -> Published:
    if len(paths) > MOST_FILES:
        return Published(why_not=f"it has more than {MOST_FILES} files")
    resources, total, skill = [], 0, b""
    for path in paths:
        data, _ = read_regular_file(os.path.join(card.folder, path), MOST_BYTES + 1)
        total += len(data)
        if total > MOST_BYTES:
            return Published(why_not=f"its files have more than {MOST_BYTES} bytes")
        digest = f"sha256:{content_hash(data)}"
        resources.append({"uri": uri_of(card.name, path), "digest": digest, "size": len(data)})
        skill = data if path == SKILL_FILE else skill
    verdict = judge(skill, card.name, paths)
    if not verdict.valid:
        finding = next(finding for finding in verdict.findings if finding.level == "error")
        return Published(why_not=f"line {finding.line}: {finding.message}")
    entry = {"uri": uri_of(card.name, SKILL_FILE), "frontmatter": _frontmatter(skill), "resources": resources}
    return Published(entry=entry)


def _frontmatter(skill: bytes) -> Any:
    """Give the frontmatter of a valid SKILL.md as JSON values."""
    text = decode_text(skill)
    opening = OPENING.match(text)
    closing = None if opening is None else CLOSING[opening[1]].search(text, opening.end())
    return {} if opening is None or closing is None else yaml_values(text[opening.end() : closing.start()])


def _unknown(uri: str) -> NotFoundError:
    return NotFoundError(f"there is no resource {uri[:200]}")
