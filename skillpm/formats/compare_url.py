"""The page of a forge that compares two commits of a repository."""

import re

from skillpm.core.git_syntax import server_of
from skillpm.core.patterns import lazy_pattern
from skillpm.formats.pin import GitPin, Pin

# By host; `{0}` is the old commit, `{1}` the new one.
COMPARE_PATHS = {
    "github.com": "/compare/{0}...{1}",
    "gitlab.com": "/-/compare/{0}...{1}",
    "codeberg.org": "/compare/{0}...{1}",
    "bitbucket.org": "/branches/compare/{1}..{0}",
}
REPOSITORY_PATH = lazy_pattern(r"[\w.~-]+(?:/[\w.~-]+)+", re.ASCII)


def compare_url(old: Pin, new: Pin) -> str:
    """Return the https URL of a comparison; empty without two commits of one repository on a host known to have it."""
    if not isinstance(old, GitPin) or not isinstance(new, GitPin) or old.url != new.url or old.commit == new.commit:
        return ""
    host = server_of(new.url)
    separator = "/" if "://" in new.url else ":"
    path = new.url.partition("://")[2] or new.url
    path = path.partition(separator)[2].strip("/").removesuffix(".git")
    template = COMPARE_PATHS["gitlab.com"] if host.startswith("gitlab.") else COMPARE_PATHS.get(host, "")
    if not template or not REPOSITORY_PATH.fullmatch(path) or {"..", "."} & {*path.split("/")}:
        return ""
    return f"https://{host}/{path}{template.format(old.commit, new.commit)}"
