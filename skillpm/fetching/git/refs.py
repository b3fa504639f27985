"""Which ref a source means: its full name, or a commit; for words of unknown kind the server is asked."""

from skillpm.documents.git_words import is_commit, is_short_commit
from skillpm.errors import OfflineError
from skillpm.fetching.git.complaints import missing_ref
from skillpm.fetching.git.repository import Repository
from skillpm.fetching.git.tags import Tell, newest_tag, tagged_versions
from skillpm.sources.source import GitSource, RefKind

KINDS: tuple[tuple[RefKind, str], ...] = (("tag", "refs/tags/"), ("branch", "refs/heads/"))


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
            raise _unknown(repository, source.ref)


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


def _unknown(repository: Repository, name: str) -> Exception:
    if repository.around.settings.offline:
        return OfflineError([f"{repository.url} at {name}"])
    return missing_ref(name, repository.url)
