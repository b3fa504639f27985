"""Lockfiles of Vercel's `skills`: `skills-lock.json` of a project, `.skill-lock.json` of a user (also written by gh).

Neither records a commit, only a hash of the content, by which the import searches for the commit.
"""

import posixpath
import re

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.core.shell import shell_word
from skillpm.foreign_formats.base import (
    ForeignDocument,
    HashKind,
    ImportedSkill,
    SkippedSkill,
    check_version,
    expand_shorthand,
    make_git_source,
    optional_text,
    read_entries,
    read_folder,
)
from skillpm.kinds.local import PathSource
from skillpm.kinds.package import PackageSource, read_package_name

CONTENT_HASH, TREE_ID = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")
MAX_VERSIONS = {"skills-lock.json": 1, ".skill-lock.json": 3}


def read_vercel(top: JsonNode, name: str) -> ForeignDocument:
    """Parse either file; `name` is its file name."""
    check_version(top.require("version"), name, MAX_VERSIONS[name])
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
    ref = optional_text(node, "pinnedRef") or optional_text(node, "ref")
    if kind == "local":
        return ImportedSkill(name=name, source=PathSource(path=node.require("source").path()))
    if kind == "node_modules":
        return ImportedSkill(name=name, source=_make_npm_source(name, node, path))
    if kind not in {"github", "gitlab", "git"}:
        address = optional_text(node, "sourceUrl") or optional_text(node, "source")
        return SkippedSkill(name=name, reason=_unsupported_source_message(kind, address))
    source = make_git_source(_repository_node(node, kind), path, ref, skill="" if path else name)
    hash_kind, content_hash = _read_content_hash(node)
    notes = ("its subagents are not imported",) if node.value.get("subagents") else ()
    return ImportedSkill(name=name, source=source, hash_kind=hash_kind, content_hash=content_hash, notes=notes)


def _make_npm_source(name: SkillName, node: JsonNode, path: str) -> PackageSource:
    """Return the source of a skill of an npm package, whose name says which one if it is that of the folder."""
    folder = posixpath.basename(path).strip(".")
    package = read_package_name("npm", node.require("source"))
    return PackageSource(kind="npm", package=package, skill="" if folder == name else folder)


def _repository_node(node: JsonNode, kind: str) -> JsonNode:
    """Return the repository's URL: written out, or `owner/repo` on the forge that `kind` names."""
    source = node.require("source")
    if kind == "github" and (expanded := expand_shorthand(source)) is not source:
        return expanded
    url = node.get("sourceUrl")
    if url is not None and url.value:
        return url
    if kind == "gitlab" and "://" not in source.text():
        return source.with_value(f"https://gitlab.com/{source.text()}")
    return source


def _read_content_hash(node: JsonNode) -> tuple[HashKind, str]:
    content_hash = optional_text(node, "computedHash") or optional_text(node, "skillFolderHash")
    if CONTENT_HASH.fullmatch(content_hash):
        return "vercel", content_hash
    return ("tree", content_hash) if TREE_ID.fullmatch(content_hash) else ("", "")


def _unsupported_source_message(kind: str, source: str) -> str:
    if kind == "well-known":
        return f"it comes from the index of a site; install it with `skillpm install {shell_word(source)}`"
    return f"it comes from a `{kind}` source, which skillpm does not support"
