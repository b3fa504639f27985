"""`sync`: install exactly what the lockfile specifies, after locking what the manifest adds."""

from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.pipeline.change import ChangeOptions, ChangeResult, change


def sync(scope: Scope, context: Context, options: ChangeOptions) -> ChangeResult:
    """Install exactly what the lockfile specifies. With nothing to do it takes no lock and uses no network."""
    return change(scope, context, options, lambda files: files)
