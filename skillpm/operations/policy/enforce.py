"""`policy enforce`: apply the kill switch to every scope that this user has used, for a timer of the user."""

from collections.abc import Iterator

from skillpm.change.blocked_links import unlink_blocked
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import SkillpmError
from skillpm.files import read_text
from skillpm.formats.manifest import read_manifest
from skillpm.scope.policy_refresh import refresh_due_policies
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import Scope, is_workspace_root, member_scope, user_scope
from skillpm.scope.used_scopes import read_scopes
from skillpm.scope.workspace import find_members
from skillpm.settings import Settings


class EnforcedScope(Value):
    """A skills directory, and the skills whose links were removed there."""

    directory: str
    unlinked: tuple[SkillName, ...] = ()
    # Why it could not be changed.
    error: SkillpmError | None = None


def enforce_policies(session: Session) -> list[EnforcedScope]:
    """Fetch the published policies that are due, and remove the links to blocked skills in all scopes of this user.

    Scopes that are gone, and folders of other users, are left out. A scope that fails does not stop the others.
    """
    settings, results = session.settings, []
    refresh_due_policies(Project(user_scope(settings), session))
    for scope in _find_scopes(settings):
        directory = scope.layout.directory
        try:
            results.append(EnforcedScope(directory=directory, unlinked=unlink_blocked(Project(scope, session))))
        except SkillpmError as error:
            results.append(EnforcedScope(directory=directory, error=error))
    return results


def _find_scopes(settings: Settings) -> Iterator[Scope]:
    """Yield the recorded scopes, and the members of each workspace after its root."""
    seen = set[str]()
    for scope in read_scopes(settings):
        for each in (scope, *_find_members(scope, settings)):
            if each.layout.directory not in seen:
                seen.add(each.layout.directory)
                yield each


def _find_members(scope: Scope, settings: Settings) -> list[Scope]:
    try:
        if not is_workspace_root(scope):
            return []
        manifest = read_manifest(read_text(scope.manifest) or "", scope.manifest)
        return [member_scope(scope, settings, folder) for folder in find_members(scope.base, manifest.members).folders]
    except SkillpmError:  # each command in that workspace reports it
        return []
