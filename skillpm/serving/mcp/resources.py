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
from skillpm.installer.stat_cache import FileStat, to_file_stat
from skillpm.registry.card import Card
from skillpm.registry.snapshot import is_recent
from skillpm.serving.service import SkillService
from skillpm.serving.skill_files import list_skill_files
from skillpm.skillmd.frontmatter import CLOSING, OPENING, decode_text
from skillpm.skillmd.validation import validate_skill
from skillpm.skillmd.yaml_loader import load_yaml

SCHEME = "skill://"
# The extension's limits for one skill: what every host must take.
MAX_FILES = 512
MAX_BYTES = 16 * 1024 * 1024


class PublishedSkill(Value):
    """An entry of `skills/list`, or why a skill has none."""

    entry: Mapping[str, Any] | None = None
    rejection_reason: str = ""


class ResourcePublisher:
    """Publishes what a service lets be seen. Entries are kept while the files are as they were."""

    def __init__(self, service: SkillService) -> None:
        self.service = service
        self._cache: dict[str, tuple[tuple[tuple[str, ...], tuple[FileStat, ...]], PublishedSkill]] = {}

    def publish(self, card: Card) -> PublishedSkill:
        """Give the entry of a skill."""
        if card.entry.get("userOnly"):
            return PublishedSkill(rejection_reason="it is for people to invoke, models are not told of it")
        paths = (SKILL_FILE, *list_skill_files(card))
        try:
            stamps = tuple(to_file_stat(os.stat(os.path.join(card.folder, path))) for path in paths)
        except OSError as error:
            return PublishedSkill(rejection_reason=error.strerror or "it cannot be read")
        known = self._cache.get(card.name)
        if known is not None and known[0] == (paths, stamps):
            return known[1]
        published = _build_entry(card, paths)
        if not any(map(is_recent, stamps)):
            self._cache[card.name] = ((paths, stamps), published)
        return published

    def read_file(self, uri: str) -> bytes:
        """Give the bytes of a file by its URI. Raises `NotFoundError` for what is not to be seen, there or not.

        Raises `NotAllowedError` where a person must approve the skill.
        """
        card, path = self._parse_uri(uri)
        if path != SKILL_FILE and path not in list_skill_files(card):
            raise _unknown_resource(uri)
        self.service.permit(card.name)
        try:
            data, _ = read_regular_file(os.path.join(card.folder, path), MAX_BYTES + 1)
        except OSError as error:
            raise _unknown_resource(uri) from error
        if len(data) > MAX_BYTES:
            raise _unknown_resource(uri)
        return data

    def list_folder(self, uri: str) -> tuple[Card, tuple[str, ...], tuple[str, ...]]:
        """Give what lies in a folder of a skill by its URI, without a slash at its end: files, then folders, by path.

        Raises `NotFoundError` for what is not to be seen and for what is no folder.
        """
        card, path = self._parse_uri(uri)
        start = f"{path}/" if path else ""
        below = [file for file in (SKILL_FILE, *list_skill_files(card)) if file.startswith(start)]
        if not below or uri.endswith("/"):
            raise _unknown_resource(uri)
        rest = [file.removeprefix(start).partition("/") for file in below]
        files = {start + name for name, slash, _ in rest if not slash}
        folders = {start + name for name, slash, _ in rest if slash}
        return card, tuple(sorted(files)), tuple(sorted(folders))

    def get_entry(self, uri: str) -> PublishedSkill:
        """Give the entry of the skill whose SKILL.md has this URI. Raises `NotFoundError`."""
        card, path = self._parse_uri(uri)
        if path != SKILL_FILE:
            raise _unknown_resource(uri)
        return self.publish(card)

    def _parse_uri(self, uri: str) -> tuple[Card, str]:
        if not uri.startswith(SCHEME) or len(uri) > 4_000:  # noqa: PLR2004  (no path of a skill is so long)
            raise _unknown_resource(uri)
        name, _, path = uri.removeprefix(SCHEME).partition("/")
        card = self.service.visible.get(unquote(name))
        if card is None or os.path.basename(card.location) != SKILL_FILE:
            raise _unknown_resource(uri)
        return card, unquote(path)


def build_uri(name: str, path: str) -> str:
    """Give the URI of a file or folder of a skill."""
    return f"{SCHEME}{quote(name, safe='')}/{quote(path)}" if path else f"{SCHEME}{quote(name, safe='')}"


def _build_entry(card: Card, paths: tuple[str, ...]) -> PublishedSkill:
    if len(paths) > MAX_FILES:
        return PublishedSkill(rejection_reason=f"it has more than {MAX_FILES} files")
    resources, total, skill = [], 0, b""
    for path in paths:
        data, _ = read_regular_file(os.path.join(card.folder, path), MAX_BYTES + 1)
        total += len(data)
        if total > MAX_BYTES:
            return PublishedSkill(rejection_reason=f"its files have more than {MAX_BYTES} bytes")
        digest = f"sha256:{content_hash(data)}"
        resources.append({"uri": build_uri(card.name, path), "digest": digest, "size": len(data)})
        skill = data if path == SKILL_FILE else skill
    verdict = validate_skill(skill, card.name, paths)
    if not verdict.valid:
        finding = next(finding for finding in verdict.findings if finding.level == "error")
        return PublishedSkill(rejection_reason=f"line {finding.line}: {finding.message}")
    entry = {"uri": build_uri(card.name, SKILL_FILE), "frontmatter": _parse_frontmatter(skill), "resources": resources}
    return PublishedSkill(entry=entry)


def _parse_frontmatter(skill: bytes) -> Any:
    """Give the frontmatter of a valid SKILL.md as JSON values."""
    text = decode_text(skill)
    opening = OPENING.match(text)
    closing = None if opening is None else CLOSING[opening[1]].search(text, opening.end())
    return {} if opening is None or closing is None else load_yaml(text[opening.end() : closing.start()])


def _unknown_resource(uri: str) -> NotFoundError:
    return NotFoundError(f"there is no resource {uri[:200]}")
