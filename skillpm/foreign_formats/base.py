"""The parsed form of other tools' documents: skills that can be imported, and skills that cannot, with the reason."""

import re
from collections.abc import Callable, Iterator
from typing import Literal

from skillpm.core.git_syntax import is_commit, is_ref
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SKILL_FILES, SkillName, parse_skill_name, path_problem
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, SkillpmError
from skillpm.kinds.base import RefKind, Source
from skillpm.kinds.git import DEFAULT_REF, GitSource, read_git_url

OWNER_REPO = lazy_pattern(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)
HashKind = Literal["", "vercel", "tree"]


class ImportedSkill(Value):
    """One skill that can be imported, with what the other tool recorded of its exact version."""

    name: SkillName
    source: Source
    # The locked commit, if recorded; else `content_hash`: Vercel's hash of the files, or git's tree id.
    commit: str = ""
    hash_kind: HashKind = ""
    content_hash: str = ""
    # What is not imported.
    notes: tuple[str, ...] = ()
    # File and key.
    where: str = ""


class SkippedSkill(Value):
    """One skill that cannot be imported, and why; `where` is file and key."""

    name: str
    reason: str
    where: str = ""


class Plugin(Value):
    """A plugin of a marketplace."""

    name: str
    # None if it is in the repository of the marketplace.
    source: GitSource | None
    # Its folder in the repository.
    folder: str = "."
    # Folders below the plugin's, each a skill or a folder of skills; None for all skills.
    skills: tuple[str, ...] | None = None
    # File and key.
    where: str = ""


class ForeignDocument(Value):
    """One parsed document. `tool` wrote it; `agents` are the hosts it had linked the skills to."""

    tool: str
    file: str
    imported: tuple[ImportedSkill, ...] = ()
    skipped: tuple[SkippedSkill, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    agents: tuple[str, ...] = ()


def read_entries(
    nodes: Iterator[tuple[str, JsonNode]], read: Callable[[SkillName, JsonNode], ImportedSkill | SkippedSkill]
) -> tuple[tuple[ImportedSkill, ...], tuple[SkippedSkill, ...]]:
    """Parse each entry by itself, so that an invalid one does not affect the others."""
    imported: list[ImportedSkill] = []
    skipped: list[SkippedSkill] = []
    for key, node in nodes:
        try:
            skill = read(parse_skill_name(key, where=node.where), node)
        except SkillpmError as error:
            skipped.append(SkippedSkill(name=sanitize(key, 80), reason=error.message, where=error.where or node.where))
            continue
        if isinstance(skill, SkippedSkill):
            skipped.append(skill.replace(where=node.where))
        else:
            imported.append(skill.replace(where=node.where))
    return tuple(imported), tuple(skipped)


def make_git_source(url: JsonNode, path: str = "", ref: str = "", *, skill: str = "") -> GitSource:
    """Return a folder in a repository; `ref` is a branch, a tag or a commit, with or without `refs/…/`."""
    source = GitSource(
        url=read_git_url(url.with_value(url.text().removeprefix("git+"))),
        path=path,
        skill=skill,
    )
    if ref in {"", DEFAULT_REF}:
        return source
    kind: RefKind = "rev" if is_commit(ref) else "any"
    prefixes: tuple[tuple[RefKind, str], ...] = (("tag", "refs/tags/"), ("branch", "refs/heads/"))
    for prefix_kind, prefix in prefixes:
        if ref.startswith(prefix):
            kind, ref = prefix_kind, ref.removeprefix(prefix)
    if kind != "rev" and not is_ref(ref):
        raise DocumentError(f"invalid ref `{sanitize(ref, 80)}`", where=url.where)
    return source.replace(kind=kind, ref=ref)


def check_version(node: JsonNode, tool: str, supported: int) -> None:
    """Raise `DocumentError` for a newer format than the supported one."""
    if node.number() > supported:
        raise DocumentError(f"unsupported format {node.value} of {tool} (up to {supported})", where=node.file)


def expand_shorthand(node: JsonNode) -> JsonNode:
    """Return the URL of a repository that may be written as `owner/repo`."""
    return node.with_value(f"https://github.com/{node.value}") if OWNER_REPO.fullmatch(node.text()) else node


def read_folder(node: JsonNode | None) -> str:
    """Return a skill's folder in its repository, from the path of the folder or of its SKILL.md; empty if missing."""
    if node is None or node.value is None:
        return ""
    path = node.text().strip().replace("\\", "/").strip("/").removeprefix("./")
    folder, _, file = path.rpartition("/")
    path = folder if file in SKILL_FILES else path
    if path in {"", "."}:
        return "."
    if problem := path_problem(path):
        raise DocumentError(f"its path {problem}", where=node.where)
    return path


def read_commit(node: JsonNode | None) -> str:
    """Return a full commit id; empty if missing. Raises `DocumentError` for anything else."""
    if node is None or node.value is None or node.value == "":
        return ""
    return node.text() if is_commit(node.text()) else node.raise_expected("a full commit id")


def optional_text(node: JsonNode, key: str) -> str:
    """Return a string that may be null or missing."""
    member = node.get(key)
    return "" if member is None or member.value is None else member.text()
