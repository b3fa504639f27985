"""The source that `gh skill` records in the frontmatter of the SKILL.md files it installs."""

from collections.abc import Mapping
from typing import Any

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.core.patterns import lazy_pattern
from skillpm.foreign_formats.base import ImportedSkill, SkippedSkill, expand_shorthand, make_git_source, read_folder
from skillpm.kinds.local import PathSource

TREE_ID = lazy_pattern(r"[0-9a-f]{40}")
ORIGIN_KEYS = frozenset(["github-repo", "local-path"])


def is_from_gh(metadata: Mapping[str, Any]) -> bool:
    """Return whether gh recorded a source in a skill's metadata."""
    return not ORIGIN_KEYS.isdisjoint(metadata)


def read_gh(name: SkillName, metadata: Mapping[str, Any], file: str) -> ImportedSkill | SkippedSkill:
    """Parse the source that gh recorded."""
    top = JsonNode(dict(metadata), file, ("metadata",))
    if (local := top.get("local-path")) is not None:
        return ImportedSkill(name=name, source=PathSource(path=local.path()))
    repo = expand_shorthand(top.require("github-repo"))
    path = read_folder(top.get("github-path"))
    source = make_git_source(repo, path, top.text_or("github-ref"), skill="" if path else name)
    tree = top.text_or("github-tree-sha")
    if TREE_ID.fullmatch(tree) is None:
        return ImportedSkill(name=name, source=source)
    return ImportedSkill(name=name, source=source, hash_kind="tree", content_hash=tree)
