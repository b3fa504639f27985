"""Skills whose branch has newer content that `exclude-newer` does not allow yet."""

from collections.abc import Mapping

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import LockedSkill
from skillpm.kinds.base import of_kind
from skillpm.kinds.git import GitPin


def find_excluded_commits(
    locked: Mapping[SkillName, LockedSkill], fetchers: FetcherDispatcher
) -> dict[SkillName, tuple[str, str]]:
    """Return the newest commit of each of these skills that is too new, shortened, and the reason. No network."""
    pins = of_kind(GitPin, {name: skill.pin for name, skill in locked.items()})
    return {
        name: (
            short_commit(commit),
            f"{short_commit(commit)} is {fetchers.cooldown.cutoff.description} (exclude-newer)",
        )
        for name, commit in sorted(fetchers.find_excluded(pins).items())
    }
