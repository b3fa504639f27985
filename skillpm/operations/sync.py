"""`sync`: the skills directory as the lockfile says, after re-locking what the manifest asks and the lockfile lacks."""

from skillpm.operations.change import Changed, Options, change
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools


def sync(scope: Scope, tools: Tools, options: Options) -> Changed:
    """Make the skills directory be what the lockfile says. With nothing to do it takes no lock and asks nobody."""
    return change(scope, tools, options, lambda papers: papers)
