"""Which ref a source means: its full name, or a commit; for words of unknown kind the server is asked."""

from collections.abc import Sequence

from skillpm.core.git_syntax import is_commit, is_ref, is_short_commit
from skillpm.core.names import is_skill_name
from skillpm.core.suggestions import few, near
from skillpm.core.text import show
from skillpm.errors import OfflineError, SkillpmError
from skillpm.fetchers.git.errors import MissingRef, missing_ref
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.tags import Tell, newest_first, newest_tag, tagged_versions
from skillpm.requirements.source import GitSource, RefKind

KINDS: tuple[tuple[RefKind, str], ...] = (("tag", "refs/tags/"), ("branch", "refs/heads/"))
MOST_NEAR = 2_000


def named_ref(repository: Repository, source: GitSource, name: str, tell: Tell) -> tuple[str, GitSource]:
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
            offered = tagged_versions(repository, source, name, tell)
            return f"refs/tags/{newest_tag(repository, source, offered)}", source
        case "any":
            found = repository.remote_refs([prefix + source.ref for _, prefix in KINDS])
            for kind, prefix in KINDS:
                if prefix + source.ref in found:
                    return prefix + source.ref, source.but(kind=kind)
            raise _unknown(repository, source.ref, is_alone=not (source.skill or source.path))


def from_browser(repository: Repository, source: GitSource, browser: str) -> GitSource:
    """Split a page's `REF/PATH`: the longest ref that exists wins, and of one name the branch."""
    parts = browser.split("/")
    refs = ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
    found = repository.remote_refs([prefix + ref for ref in refs for _, prefix in KINDS])
    for ref in refs:
        path = "/".join(parts[ref.count("/") + 1 :])
        for kind, prefix in reversed(KINDS):
            if prefix + ref in found:
                return source.but(path=path, kind=kind, ref=ref)
    if is_commit(parts[0]):
        return source.but(path="/".join(parts[1:]), kind="rev", ref=parts[0])
    raise _unknown(repository, parts[0] if is_short_commit(parts[0]) else browser)


def commits_of(repository: Repository, refs: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Fetch what refs lead to. Raises `NotFoundError` that names branches and tags where one is not there."""
    try:
        return repository.commits(refs)
    except MissingRef as missing:
        raise _with_names(repository, missing) from missing


def _unknown(repository: Repository, name: str, *, is_alone: bool = False) -> Exception:
    """Say that a ref is not there; one that stands alone behind a repository may be meant for a skill."""
    if repository.around.settings.offline:
        return OfflineError([f"{repository.url} at {name}"])
    missing = missing_ref(name, repository.url)
    if not isinstance(missing, MissingRef):
        return missing
    missing = _with_names(repository, missing)
    if is_alone and is_skill_name(name):
        missing.hint = f"{missing.hint}; a skill comes behind `@`: @{name}".removeprefix("; ")
    return missing


def _with_names(repository: Repository, missing: MissingRef) -> MissingRef:
    """Say in the hint what was meant, or what there is: the server is asked once more, where all is over anyway."""
    try:
        listed = [ref for ref in repository.listed_refs() if is_ref(ref)]
    except SkillpmError:
        return missing
    heads = sorted(ref.removeprefix("refs/heads/") for ref in listed if ref.startswith("refs/heads/"))
    tags = newest_first(ref.removeprefix("refs/tags/") for ref in listed if ref.startswith("refs/tags/"))
    kinds = {"tag": tags, "branch": heads}
    there = [name for kind in ("tag", "branch") if kind in missing.kinds for name in kinds[kind]]
    other = next((kind for kind in kinds if kind not in missing.kinds and missing.name in kinds[kind]), "")
    if other:
        missing.hint = f"it is a {other}: --{other} {show(missing.name)}"
    elif similar := near(missing.name, there[:MOST_NEAR]):
        missing.hint = f"did you mean {few(similar, 3)}?"
    elif tags and "tag" in missing.kinds:
        missing.hint = f"its newest tags: {few(tags, 5)}"
    elif heads:
        no_tags = "it has no tags; " if "tag" in missing.kinds else ""
        missing.hint = f"{no_tags}its branches: {few(heads, 5)}"
    return missing
