"""`sync`: the skills directory as the lockfile says, after re-locking what the manifest asks and the lockfile lacks."""

from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.pipeline import ChangeOptions, ChangeResult, change


def sync(scope: Scope, context: Context, options: ChangeOptions) -> ChangeResult:
    """Make the skills directory be what the lockfile says. With nothing to do it takes no lock and asks nobody."""
    return change(scope, context, options, lambda papers: papers)
