"""Look for a folder's content in the history of a repository, where somebody recorded what it was and not when."""

from skillpm.fetching.git.complaints import translated
from skillpm.fetching.git.process import GitFailed
from skillpm.fetching.git.repository import Repository, kept

MOST_COMMITS = 5_000
WHOLE = 2_147_483_647  # git's word for "all of it"


def commit_with_tree(repository: Repository, ref: str, path: str, tree: str) -> str:
    """Give the newest commit on a ref (a full name, or `HEAD`) in which a folder has this tree id, or nothing.

    All commits and folders of the ref are fetched for it, no contents of files.
    """
    if repository.around.settings.offline:
        return ""
    try:
        repository.fetch([f"--depth={WHOLE}", "--filter=blob:none"], [f"+{ref}:{kept(ref)}"])
        commits = repository.touching(kept(ref), path, MOST_COMMITS)
    except GitFailed as failed:
        raise translated(failed, repository.url) from failed
    names = {f"{commit}:{'' if path == '.' else path}": commit for commit in commits}
    ids = repository.reader.ids(names)
    return next((commit for name, commit in names.items() if ids[name] == tree), "")
