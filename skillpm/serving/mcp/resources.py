"""Publish skills as the Skills extension of the Model Context Protocol defines it (SEP-2640).

Each file is a resource `skill://NAME/PATH`, and folders can be listed. An entry has the frontmatter as JSON, and the
digest (SHA-256) and size of each file. Only skills that fully conform to the Agent Skills specification are listed; any
visible one can be read.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

from skillpm.core.digest import content_hash
from skillpm.core.names import SKILL_FILE
from skillpm.core.values import Value
from skillpm.errors import FileError, NotAllowedError, NotFoundError
from skillpm.installer.disk.skill_file import read_regular_file
from skillpm.registry.card import Card
from skillpm.serving.access_errors import SkillFileNotFound
from skillpm.serving.service import SkillService
from skillpm.serving.skill_files import MAX_FILE_BYTES, SCHEME, build_uri, list_skill_files
from skillpm.skillmd.core_schema import load_yaml
from skillpm.skillmd.frontmatter import CLOSING, OPENING, decode_text
from skillpm.skillmd.validation import validate_skill

# The limits of the extension: every host must accept a skill of this size.
MAX_FILES = 512


class PublishedSkill(Value):
    """An entry of `skills/list`, or the reason why a skill has none."""

    entry: Mapping[str, Any] | None = None
    rejection_reason: str = ""


class ResourcePublisher:
    """Publishes the visible skills of a service."""

    def __init__(self, service: SkillService) -> None:
        self.service = service

    def publish(self, card: Card) -> PublishedSkill:
        """Return the entry of a skill."""
        if card.entry.get("userOnly"):
            return PublishedSkill(rejection_reason="it is reserved for users and not offered to models")
        if not self.service.is_accepted(card):
            return PublishedSkill(rejection_reason="its content is refused")
        try:
            return _build_entry(card, (SKILL_FILE, *list_skill_files(card)))
        except OSError as error:
            return PublishedSkill(rejection_reason=error.strerror or "cannot be read")

    def read_file(self, uri: str) -> bytes:
        """Return the content of a file.

        Raises `NotFoundError` for a file that is not visible, whether it exists or not, and `NotAllowedError` if a
        person's approval is required.
        """
        card, path = self._parse_uri(uri)
        try:
            return self.service.read_bytes(card.name, path)
        except (SkillFileNotFound, FileError) as error:
            raise _unknown_resource(uri) from error

    def list_folder(self, uri: str) -> tuple[Card, tuple[str, ...], tuple[str, ...]]:
        """Return a skill with the files and the subfolders of one of its folders, sorted by path.

        The URI has no trailing slash. Raises `NotFoundError` for anything that is not a folder of a visible skill
        that is not refused.
        """
        card, path = self._parse_uri(uri)
        prefix = f"{path}/" if path else ""
        matching = [file for file in (SKILL_FILE, *list_skill_files(card)) if file.startswith(prefix)]
        if not matching or uri.endswith("/") or not self.service.is_accepted(card):
            raise _unknown_resource(uri)
        parts = [file.removeprefix(prefix).partition("/") for file in matching]
        files = {prefix + name for name, slash, _ in parts if not slash}
        folders = {prefix + name for name, slash, _ in parts if slash}
        return card, tuple(sorted(files)), tuple(sorted(folders))

    def get_entry(self, uri: str) -> PublishedSkill:
        """Return the entry of the skill whose SKILL.md has this URI. Raises `NotFoundError`."""
        card, path = self._parse_uri(uri)
        if path != SKILL_FILE:
            raise _unknown_resource(uri)
        return self.publish(card)

    def _parse_uri(self, uri: str) -> tuple[Card, str]:
        if not uri.startswith(SCHEME) or len(uri) > 4_000:  # noqa: PLR2004  (longer than any path in a skill)
            raise _unknown_resource(uri)
        name, _, path = uri.removeprefix(SCHEME).partition("/")
        card = find_visible(self.service, unquote(name))
        if card is None or os.path.basename(card.location) != SKILL_FILE:
            raise _unknown_resource(uri)
        return card, unquote(path)


def find_visible(service: SkillService, name: str) -> Card | None:
    """Return the visible skill of exactly this name. Whether another one is denied, blocked or unknown, is logged."""
    card = service.visible.get(name)
    if card is None:
        with suppress(NotFoundError, NotAllowedError):
            service.find(name)
    return card


def _build_entry(card: Card, paths: tuple[str, ...]) -> PublishedSkill:
    if len(paths) > MAX_FILES:
        return PublishedSkill(rejection_reason=f"it has more than {MAX_FILES} files")
    resources, total, skill = [], 0, b""
    for path in paths:
        data, _ = read_regular_file(os.path.join(card.folder, path), MAX_FILE_BYTES + 1)
        total += len(data)
        if total > MAX_FILE_BYTES:
            return PublishedSkill(rejection_reason=f"its files have more than {MAX_FILE_BYTES} bytes")
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
    """Return the frontmatter of a valid SKILL.md as JSON values."""
    text = decode_text(skill)
    opening = OPENING.match(text)
    closing = None if opening is None else CLOSING[opening[1]].search(text, opening.end())
    return {} if opening is None or closing is None else load_yaml(text[opening.end() : closing.start()])


def _unknown_resource(uri: str) -> NotFoundError:
    return NotFoundError(f"unknown resource {uri[:200]}")
