"""What another tool's document says of its skills: what can be taken over, and what not, with the reason."""

from collections.abc import Callable, Iterator
from typing import Literal

from skillpm.core.decoder import JsonNode
from skillpm.core.git_syntax import is_commit, is_ref, normalize_git_url
from skillpm.core.names import SKILL_FILES, SkillName, parse_skill_name, path_problem
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, SkillpmError
from skillpm.requirements.source import GitSource, RefKind, Source

HashKind = Literal["", "vercel", "tree"]


class ImportedSkill(Value):
    """One skill that can be taken over: its requirement, and how exactly the other tool knew which it was.

    `commit` is what it was locked to, where that was recorded. `mark` is a sum of its content otherwise: Vercel's over
    the files, or git's tree id. `notes` are what it had beside, which skillpm does not do. `where` is file and key.
    """

    name: SkillName
    source: Source
    commit: str = ""
    hash_kind: HashKind = ""
    content_hash: str = ""
    notes: tuple[str, ...] = ()
    where: str = ""


class SkippedSkill(Value):
    """One skill that cannot be taken over, and why; `where` is the file that asks for it, and the key in it."""

    name: str
    reason: str
    where: str = ""


class Plugin(Value):
    """A plugin of a marketplace: where its skills are, `folder` below that place, and which are meant if not all.

    Each of `skills` is a folder below the plugin's: a skill, or a folder of skills. `where` is file and key.
    """

    name: str
    source: GitSource | None
    folder: str = "."
    skills: tuple[str, ...] | None = None
    where: str = ""


class ForeignDocument(Value):
    """All that one document says. `tool` is what made it, `agents` whom it showed the skills to."""

    tool: str
    file: str
    imported: tuple[ImportedSkill, ...] = ()
    skipped: tuple[SkippedSkill, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    agents: tuple[str, ...] = ()


def read_entries(
    nodes: Iterator[tuple[str, JsonNode]], read: Callable[[SkillName, JsonNode], ImportedSkill | SkippedSkill]
) -> tuple[tuple[ImportedSkill, ...], tuple[SkippedSkill, ...]]:
    """Read each entry by itself: one that cannot be read, or means nothing here, hides no other."""
    taken: list[ImportedSkill] = []
    left: list[SkippedSkill] = []
    for key, node in nodes:
        try:
            found = read(parse_skill_name(key, where=node.where), node)
        except SkillpmError as error:
            left.append(SkippedSkill(name=sanitize(key, 80), reason=error.message, where=error.where or node.where))
            continue
        if isinstance(found, SkippedSkill):
            left.append(found.replace(where=node.where))
        else:
            taken.append(found.replace(where=node.where))
    return tuple(taken), tuple(left)


def make_git_source(url: JsonNode, path: str = "", ref: str = "", *, skill: str = "") -> GitSource:
    """Give a folder in a repository; `ref` is a branch, a tag or a commit of whatever spelling."""
    source = GitSource(
        url=normalize_git_url(url.text().removeprefix("git+"), error_type=DocumentError, where=url.where),
        path=path,
        skill=skill,
    )
    if not ref:
        return source
    kind: RefKind = "rev" if is_commit(ref) else "any"
    for spelled, prefix in (("tag", "refs/tags/"), ("branch", "refs/heads/")):
        if ref.startswith(prefix):
            kind, ref = ("tag" if spelled == "tag" else "branch"), ref.removeprefix(prefix)
    if kind != "rev" and not is_ref(ref):
        raise DocumentError(f"`{sanitize(ref, 80)}` is no name of a branch or tag", where=url.where)
    return source.replace(kind=kind, ref=ref)


def read_folder(node: JsonNode | None) -> str:
    """Give a skill's folder in its repository, from the path of it or of its SKILL.md; empty where none is said."""
    if node is None or node.value is None:
        return ""
    path = node.text().strip().replace("\\", "/").strip("/").removeprefix("./")
    folder, _, file = path.rpartition("/")
    path = folder if file in SKILL_FILES else path
    if path in {"", "."}:
        return "."
    if fault := path_problem(path):
        raise DocumentError(f"its path {fault}", where=node.where)
    return path


def read_commit(node: JsonNode | None) -> str:
    """Give a commit that a document names, or nothing; anything else than a whole id is a fault."""
    if node is None or node.value is None or node.value == "":
        return ""
    return node.text() if is_commit(node.text()) else node.raise_expected("a whole commit id")
