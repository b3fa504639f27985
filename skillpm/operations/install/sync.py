"""`sync`: the skills directory as the lockfile says, after re-locking what the manifest asks and the lockfile lacks."""

from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.pipeline import Changed, Options, change


def sync(scope: Scope, tools: Tools, options: Options) -> Changed:
    """Make the skills directory be what the lockfile says. With nothing to do it takes no lock and asks nobody."""
    return change(scope, tools, options, lambda papers: papers)
