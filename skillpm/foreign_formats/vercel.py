"""Lockfiles of Vercel's `skills`: `skills-lock.json` of a project, `.skill-lock.json` of a user (also written by gh).

Neither records a commit, only a hash of the content, by which the import searches for the commit.
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
    """Parse either file; `name` is its file name."""
    version = top.require("version").number()
    if version > MAX_VERSIONS[name]:
        raise DocumentError(f"unsupported format {version} of {name} (up to {MAX_VERSIONS[name]})", where=top.file)
    imported, skipped = read_entries(top.require("skills").items(), _read_skill)
    agents = top.get("lastSelectedAgents")
    return ForeignDocument(
        tool="skills (Vercel)",
        file=top.file,
        imported=imported,
        skipped=skipped,
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
    hash_kind, content_hash = _read_content_hash(node)
    notes = ("its subagents are not imported",) if node.value.get("subagents") else ()
    return ImportedSkill(name=name, source=source, hash_kind=hash_kind, content_hash=content_hash, notes=notes)


def _repository_node(node: JsonNode, kind: str) -> JsonNode:
    """Return the repository's URL: written out, or `owner/repo` on the forge that `kind` names."""
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
    content_hash = _read_text(node, "computedHash") or _read_text(node, "skillFolderHash")
    if CONTENT_HASH.fullmatch(content_hash):
        return "vercel", content_hash
    return ("tree", content_hash) if TREE_ID.fullmatch(content_hash) else ("", "")


def _read_text(node: JsonNode, key: str) -> str:
    """Return a string that may be null or missing."""
    member = node.get(key)
    return "" if member is None or member.value is None else member.text()


def _unsupported_source_message(kind: str, source: str) -> str:
    if kind == "well-known":
        return f"it comes from the index of a site; install it with `skillpm install {source}`"
    if kind == "node_modules":
        return f"it comes with the npm package {source}; install its folder in node_modules as a local one"
    return f"it comes from a `{kind}` source, which skillpm does not support"
