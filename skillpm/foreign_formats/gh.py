"""What `gh skill` writes into the frontmatter of a SKILL.md that it installs: where it came from."""

import re
from collections.abc import Mapping
from typing import Any

from skillpm.core.decoder import Node
from skillpm.core.names import SkillName
from skillpm.foreign_formats.base import Left, Taken, folder_of, git_source
from skillpm.requirements.source import PathSource

TREE = re.compile(r"[0-9a-f]{40}")
OWNER_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)
KEYS = frozenset(["github-repo", "local-path"])


def is_from_gh(metadata: Mapping[str, Any]) -> bool:
    """Tell whether a skill's metadata is of gh's making."""
    return not KEYS.isdisjoint(metadata)


def read_gh(name: SkillName, metadata: Mapping[str, Any], file: str) -> Taken | Left:
    """Read where gh had a skill from."""
    top = Node(dict(metadata), file, ("metadata",))
    if (local := top.get("local-path")) is not None:
        return Taken(name=name, source=PathSource(path=local.path()))
    repo = top.need("github-repo")
    if OWNER_REPO.fullmatch(repo.text()):
        repo = Node(f"https://github.com/{repo.text()}", repo.file, repo.keys)
    path = folder_of(top.get("github-path"))
    source = git_source(repo, path, top.text_or("github-ref"), skill="" if path else name)
    tree = top.text_or("github-tree-sha")
    is_tree = TREE.fullmatch(tree) is not None
    return Taken(name=name, source=source, mark_kind="tree" if is_tree else "", mark=tree if is_tree else "")
