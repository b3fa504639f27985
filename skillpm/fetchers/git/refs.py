"""Resolve the ref of a source to a full name or commit; the server decides whether a word is a tag or a branch."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skillpm.core.git_syntax import is_commit, is_ref, is_short_commit
from skillpm.core.names import is_skill_name
from skillpm.core.suggestions import list_some, suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import OfflineError, SkillpmError
from skillpm.fetchers.git.program.errors import MissingRef, missing_ref_error
from skillpm.fetchers.git.repository import Repository
from skillpm.kinds.base import RefKind
from skillpm.kinds.git import GitSource

if TYPE_CHECKING:
    from skillpm.fetchers.git.tags import LogFunctions

REF_KINDS: tuple[tuple[RefKind, str], ...] = (("tag", "refs/tags/"), ("branch", "refs/heads/"))
MAX_SUGGESTION_NAMES = 2_000


def resolve_ref(repository: Repository, source: GitSource, name: str, log: "LogFunctions") -> tuple[str, GitSource]:
    """Return the full name of a source's ref and the source with its kind of ref, for a skill named `name`.

    A ref of unknown kind is looked up, tags before branches; a version range resolves to its newest tag.
    """
    match source.kind:
        case "":
            return "HEAD", source
        case "rev":
            return source.ref, source
        case "tag":
            return f"refs/tags/{source.ref}", source
        case "branch":
            return f"refs/heads/{source.ref}", source
        case "version":
            from skillpm.fetchers.git.tags import find_newest_tag, list_tag_versions  # noqa: PLC0415  (only for ranges)

            versions = list_tag_versions(repository, source, name, log)
            return f"refs/tags/{find_newest_tag(repository, source, versions)}", source
        case "any":
            existing = repository.find_remote_refs([prefix + source.ref for _, prefix in REF_KINDS])
            for kind, prefix in REF_KINDS:
                if prefix + source.ref in existing:
                    return prefix + source.ref, source.replace(kind=kind)
            raise _unknown_ref_error(repository, source.ref, may_be_skill=not (source.skill or source.path))


def resolve_browser_path(repository: Repository, source: GitSource, browser_path: str) -> GitSource:
    """Split the `REF/PATH` of a browser URL: the longest existing ref wins, and a branch wins over a tag.

    Both parts may contain slashes, so only the server's refs show where the path begins. `REF` may be a full name.
    """
    kinds = [pair for pair in reversed(REF_KINDS) if browser_path.startswith(pair[1])] or [*reversed(REF_KINDS)]
    parts = (browser_path.removeprefix(kinds[0][1]) if len(kinds) == 1 else browser_path).split("/")
    refs = ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
    existing = repository.find_remote_refs([prefix + ref for ref in refs for _, prefix in kinds])
    for ref in refs:
        path = "/".join(parts[ref.count("/") + 1 :])
        for kind, prefix in kinds:
            if prefix + ref in existing:
                return source.replace(path=path, kind=kind, ref=ref)
    if is_commit(parts[0]):
        return source.replace(path="/".join(parts[1:]), kind="rev", ref=parts[0])
    raise _unknown_ref_error(repository, parts[0] if is_short_commit(parts[0]) else "/".join(parts))


def resolve_commits(repository: Repository, refs: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Fetch the commits and trees of refs. Raises `MissingRef` with suggestions for one that does not exist."""
    try:
        return repository.resolve_commits(refs)
    except MissingRef as missing:
        raise _add_suggestions(repository, missing) from missing


def _unknown_ref_error(repository: Repository, name: str, *, may_be_skill: bool = False) -> Exception:
    """Return the error for a missing ref. Without a skill or path in the SPEC, the word may be a skill's name."""
    if repository.context.settings.offline:
        return OfflineError([f"{repository.url} at {name}"])
    missing = missing_ref_error(name, repository.url)
    if not isinstance(missing, MissingRef):
        return missing
    missing = _add_suggestions(repository, missing)
    if may_be_skill and is_skill_name(name):
        missing.hint = f"{missing.hint}; for a skill: {repository.url}@{name}".removeprefix("; ")
    return missing


def _add_suggestions(repository: Repository, error: MissingRef) -> MissingRef:
    """Set the hint to similar or existing refs, at the cost of one more request."""
    from skillpm.fetchers.git.tags import sort_newest_first  # noqa: PLC0415  (only for this error)

    try:
        refs = [ref for ref in repository.list_remote_refs() if is_ref(ref)]
    except SkillpmError:
        return error
    branches = sorted(ref.removeprefix("refs/heads/") for ref in refs if ref.startswith("refs/heads/"))
    tags = sort_newest_first(ref.removeprefix("refs/tags/") for ref in refs if ref.startswith("refs/tags/"))
    kinds = {"tag": tags, "branch": branches}
    candidates = [name for kind in ("tag", "branch") if kind in error.kinds for name in kinds[kind]]
    other = next((kind for kind in kinds if kind not in error.kinds and error.name in kinds[kind]), "")
    if other:
        error.hint = f"it is a {other}; use --{other} {sanitize(error.name)}"
    elif hint := suggestion_hint(error.name, candidates[:MAX_SUGGESTION_NAMES]):
        error.hint = hint
    elif tags and "tag" in error.kinds:
        error.hint = f"its newest tags: {list_some(tags, 5)}"
    elif branches:
        no_tags = "it has no tags; " if "tag" in error.kinds else ""
        error.hint = f"{no_tags}its branches: {list_some(branches, 5)}"
    return error
