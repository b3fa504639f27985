"""Locks of Vercel's `skills`: `skills-lock.json` of a project, and `.skill-lock.json` of a user, which gh writes too.

Neither holds a commit. What they hold is a sum of the content, so that is what a commit is looked for by.
"""

import re

from skillpm.core.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError
from skillpm.foreign_formats.base import (
    ForeignDocument,
    HashKind,
    ImportedSkill,
    SkippedSkill,
    make_git_source,
    read_entries,
    read_folder,
)
from skillpm.requirements.source import PathSource

CONTENT_HASH, TREE_ID = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")
OWNER_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)
MAX_VERSIONS = {"skills-lock.json": 1, ".skill-lock.json": 3}


def read_vercel(top: JsonNode, name: str) -> ForeignDocument:
    """Read either; `name` tells which it is."""
    version = top.require("version").number()
    if version > MAX_VERSIONS[name]:
        raise DocumentError(f"this is format {version} of {name}; up to {MAX_VERSIONS[name]} is known", where=top.file)
    taken, left = read_entries(top.require("skills").items(), _read_skill)
    agents = top.get("lastSelectedAgents")
    return ForeignDocument(
        tool="skills (Vercel)",
        file=top.file,
        imported=taken,
        skipped=left,
        agents=() if agents is None or agents.value is None else agents.texts(),
    )


def _read_skill(name: SkillName, node: JsonNode) -> ImportedSkill | SkippedSkill:
    kind = node.require("sourceType").text()
    path = read_folder(node.get("skillPath"))
    ref = _read_text(node, "pinnedRef") or _read_text(node, "ref")
    if kind == "local":
        return ImportedSkill(name=name, source=PathSource(path=node.require("source").path()))
    if kind not in {"github", "gitlab", "git"}:
        return SkippedSkill(
            name=name,
            reason=_unsupported_source_message(kind, _read_text(node, "sourceUrl") or _read_text(node, "source")),
        )
    source = make_git_source(_repository_node(node, kind), path, ref, skill="" if path else name)
    mark_kind, mark = _read_content_hash(node)
    notes = ("it came with subagents, which are not taken over",) if node.value.get("subagents") else ()
    return ImportedSkill(name=name, source=source, hash_kind=mark_kind, content_hash=mark, notes=notes)


def _repository_node(node: JsonNode, kind: str) -> JsonNode:
    """Give the repository's address: written out, or `owner/repo` on the forge that is named."""
    source = node.require("source")
    if OWNER_REPO.fullmatch(source.text()) and kind == "github":
        return JsonNode(f"https://github.com/{source.text()}", source.file, source.keys)
    url = node.get("sourceUrl")
    if url is not None and url.value:
        return url
    if kind == "gitlab" and "://" not in source.text():
        return JsonNode(f"https://gitlab.com/{source.text()}", source.file, source.keys)
    return source


def _read_content_hash(node: JsonNode) -> tuple[HashKind, str]:
    said = _read_text(node, "computedHash") or _read_text(node, "skillFolderHash")
    if CONTENT_HASH.fullmatch(said):
        return "vercel", said
    return ("tree", said) if TREE_ID.fullmatch(said) else ("", "")


def _read_text(node: JsonNode, key: str) -> str:
    """Give a text that may be null or missing."""
    found = node.get(key)
    return "" if found is None or found.value is None else found.text()


def _unsupported_source_message(kind: str, source: str) -> str:
    if kind == "well-known":
        return f"it comes from the index of a site; `skillpm install {source}` asks that site"
    if kind == "node_modules":
        return f"it comes with the npm package {source}; its folder there can be installed as a local one"
    return f"it comes from a `{kind}` source, which skillpm does not have"
