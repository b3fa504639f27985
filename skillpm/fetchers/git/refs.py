"""Which ref a source means: its full name, or a commit; for words of unknown kind the server is asked."""

from collections.abc import Sequence

from skillpm.core.git_syntax import is_commit, is_ref, is_short_commit
from skillpm.core.names import is_skill_name
from skillpm.core.suggestions import closest_matches, list_some
from skillpm.core.text import sanitize
from skillpm.errors import OfflineError, SkillpmError
from skillpm.fetchers.git.errors import MissingRef, missing_ref_error
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.tags import LogFunctions, find_newest_tag, list_tag_versions, sort_newest_first
from skillpm.requirements.source import GitSource, RefKind

REF_KINDS: tuple[tuple[RefKind, str], ...] = (("tag", "refs/tags/"), ("branch", "refs/heads/"))
MAX_SUGGESTION_NAMES = 2_000


def resolve_ref(repository: Repository, source: GitSource, name: str, log: LogFunctions) -> tuple[str, GitSource]:
    """Give the full name of the ref a source means, of a skill called `name`.

    A ref of unknown kind is looked up, a tag before a branch; of a range of versions it is the newest tag.
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
            offered = list_tag_versions(repository, source, name, log)
            return f"refs/tags/{find_newest_tag(repository, source, offered)}", source
        case "any":
            found = repository.find_remote_refs([prefix + source.ref for _, prefix in REF_KINDS])
            for kind, prefix in REF_KINDS:
                if prefix + source.ref in found:
                    return prefix + source.ref, source.replace(kind=kind)
            raise _unknown_ref_error(repository, source.ref, may_be_skill=not (source.skill or source.path))


def resolve_browser_path(repository: Repository, source: GitSource, browser_path: str) -> GitSource:
    """Split a page's `REF/PATH`: the longest ref that exists wins, and of one name the branch."""
    parts = browser_path.split("/")
    refs = ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
    found = repository.find_remote_refs([prefix + ref for ref in refs for _, prefix in REF_KINDS])
    for ref in refs:
        path = "/".join(parts[ref.count("/") + 1 :])
        for kind, prefix in reversed(REF_KINDS):
            if prefix + ref in found:
                return source.replace(path=path, kind=kind, ref=ref)
    if is_commit(parts[0]):
        return source.replace(path="/".join(parts[1:]), kind="rev", ref=parts[0])
    raise _unknown_ref_error(repository, parts[0] if is_short_commit(parts[0]) else browser_path)


def resolve_commits(repository: Repository, refs: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Fetch what refs lead to. Raises `NotFoundError` that names branches and tags where one is not there."""
    try:
        return repository.resolve_commits(refs)
    except MissingRef as missing:
        raise _add_suggestions(repository, missing) from missing


def _unknown_ref_error(repository: Repository, name: str, *, may_be_skill: bool = False) -> Exception:
    """Say that a ref is not there; one that stands alone behind a repository may be meant for a skill."""
    if repository.context.settings.offline:
        return OfflineError([f"{repository.url} at {name}"])
    missing = missing_ref_error(name, repository.url)
    if not isinstance(missing, MissingRef):
        return missing
    missing = _add_suggestions(repository, missing)
    if may_be_skill and is_skill_name(name):
        missing.hint = f"{missing.hint}; a skill comes behind `@`: @{name}".removeprefix("; ")
    return missing


def _add_suggestions(repository: Repository, error: MissingRef) -> MissingRef:
    """Say in the hint what was meant, or what there is: the server is asked once more, where all is over anyway."""
    try:
        listed = [ref for ref in repository.list_remote_refs() if is_ref(ref)]
    except SkillpmError:
        return error
    heads = sorted(ref.removeprefix("refs/heads/") for ref in listed if ref.startswith("refs/heads/"))
    tags = sort_newest_first(ref.removeprefix("refs/tags/") for ref in listed if ref.startswith("refs/tags/"))
    kinds = {"tag": tags, "branch": heads}
    there = [name for kind in ("tag", "branch") if kind in error.kinds for name in kinds[kind]]
    other = next((kind for kind in kinds if kind not in error.kinds and error.name in kinds[kind]), "")
    if other:
        error.hint = f"it is a {other}: --{other} {sanitize(error.name)}"
    elif similar := closest_matches(error.name, there[:MAX_SUGGESTION_NAMES]):
        error.hint = f"did you mean {list_some(similar, 3)}?"
    elif tags and "tag" in error.kinds:
        error.hint = f"its newest tags: {list_some(tags, 5)}"
    elif heads:
        no_tags = "it has no tags; " if "tag" in error.kinds else ""
        error.hint = f"{no_tags}its branches: {list_some(heads, 5)}"
    return error
