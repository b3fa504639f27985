"""Locks of Vercel's `skills`: `skills-lock.json` of a project, and `.skill-lock.json` of a user, which gh writes too.

Neither holds a commit. What they hold is a sum of the content, so that is what a commit is looked for by.
"""

import re

from skillpm.core.decoder import Node
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError
from skillpm.foreign_formats.base import Left, MarkKind, Reading, Taken, each, folder_of, git_source
from skillpm.requirements.source import PathSource

SUM, TREE = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")
OWNER_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)
NEWEST = {"skills-lock.json": 1, ".skill-lock.json": 3}


def read_vercel(top: Node, name: str) -> Reading:
    """Read either; `name` tells which it is."""
    version = top.need("version").number()
    if version > NEWEST[name]:
        raise DocumentError(f"this is format {version} of {name}; up to {NEWEST[name]} is known", where=top.file)
    taken, left = each(top.need("skills").items(), _read)
    agents = top.get("lastSelectedAgents")
    return Reading(
        tool="skills (Vercel)",
        file=top.file,
        taken=taken,
        left=left,
        agents=() if agents is None or agents.value is None else agents.texts(),
    )


def _read(name: SkillName, node: Node) -> Taken | Left:
    kind = node.need("sourceType").text()
    path = folder_of(node.get("skillPath"))
    ref = _text(node, "pinnedRef") or _text(node, "ref")
    if kind == "local":
        return Taken(name=name, source=PathSource(path=node.need("source").path()))
    if kind not in {"github", "gitlab", "git"}:
        return Left(name=name, why=_elsewhere(kind, _text(node, "sourceUrl") or _text(node, "source")))
    source = git_source(_address(node, kind), path, ref, skill="" if path else name)
    mark_kind, mark = _mark(node)
    notes = ("it came with subagents, which are not taken over",) if node.value.get("subagents") else ()
    return Taken(name=name, source=source, mark_kind=mark_kind, mark=mark, notes=notes)


def _address(node: Node, kind: str) -> Node:
    """Give the repository's address: written out, or `owner/repo` on the forge that is named."""
    source = node.need("source")
    if OWNER_REPO.fullmatch(source.text()) and kind == "github":
        return Node(f"https://github.com/{source.text()}", source.file, source.keys)
    url = node.get("sourceUrl")
    if url is not None and url.value:
        return url
    if kind == "gitlab" and "://" not in source.text():
        return Node(f"https://gitlab.com/{source.text()}", source.file, source.keys)
    return source


def _mark(node: Node) -> tuple[MarkKind, str]:
    said = _text(node, "computedHash") or _text(node, "skillFolderHash")
    if SUM.fullmatch(said):
        return "vercel", said
    return ("tree", said) if TREE.fullmatch(said) else ("", "")


def _text(node: Node, key: str) -> str:
    """Give a text that may be null or missing."""
    found = node.get(key)
    return "" if found is None or found.value is None else found.text()


def _elsewhere(kind: str, source: str) -> str:
    if kind == "well-known":
        return f"it comes from the index of a site; `skillpm install {source}` asks that site"
    if kind == "node_modules":
        return f"it comes with the npm package {source}; its folder there can be installed as a local one"
    return f"it comes from a `{kind}` source, which skillpm does not have"
