"""`sync`: install exactly what the lockfile specifies, after locking what the manifest adds."""

from skillpm.change.change import ChangeOptions, ChangeResult, change
from skillpm.errors import UsageError
from skillpm.scope.project import Project
from skillpm.scope.scope import is_workspace_root


def sync(project: Project, options: ChangeOptions) -> ChangeResult:
    """Install exactly what the lockfile specifies. With nothing to do it takes no lock and uses no network."""
    if is_workspace_root(project.scope):
        if options.groups:
            raise UsageError("--group cannot be used at the root of a workspace", hint="run it in a member")
        from skillpm.change.workspace_change import change_workspace  # noqa: PLC0415  (only in a workspace)

        return change_workspace(project, options)
    return change(project, options, lambda files: files)
