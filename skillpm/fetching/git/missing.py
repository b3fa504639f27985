"""What a repository has not got: a branch, a tag, a commit, or anything at all."""

from skillpm.documents.git_words import is_commit, is_short_commit
from skillpm.documents.text import show
from skillpm.errors import NotFoundError, SkillpmError


class MissingRef(NotFoundError):
    """A branch or a tag is not there; `name` is what it is called, `kinds` which of them it may be."""

    def __init__(self, url: str, name: str, kind: str) -> None:
        self.name = name
        self.kinds = tuple(kind.split(" or "))
        super().__init__(f"{url} has no {kind} `{show(name)}`", hint=f"see what it has: git ls-remote {url}")


def missing_ref(name: str, url: str) -> SkillpmError:
    """Say that a branch, tag or commit is not there."""
    if name == "HEAD":
        return NotFoundError(f"{url} is empty: it has no commit yet")
    kind = "branch" if name.startswith("refs/heads/") else "tag" if name.startswith("refs/tags/") else "branch or tag"
    kind = "commit" if is_commit(name) else kind
    text = show(name.removeprefix("refs/heads/").removeprefix("refs/tags/"))
    if is_short_commit(text) and kind != "commit":
        # A server finds a commit by its whole id only, and the first digits may fit another one tomorrow.
        return NotFoundError(
            f"{url} has no {kind} `{text}`", hint="if it is the beginning of a commit id, give all of its 40 digits"
        )
    if kind == "commit":
        return NotFoundError(f"{url} has no commit `{text}`", hint=f"see what it has: git ls-remote {url}")
    return MissingRef(url, name.removeprefix("refs/heads/").removeprefix("refs/tags/"), kind)
