"""What every change does about policies and refused skills, whatever stops it afterwards."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from skillpm.core.names import SkillName
from skillpm.errors import SignatureError, SkillpmError
from skillpm.formats.receipt import Receipt
from skillpm.installer.disk.layout import load_receipt
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import Scope
from skillpm.scope.scope_policy import has_published_policy, load_scope_policies


def refresh_policies(project: Project) -> None:
    """Fetch the published policies whose interval is over."""
    if has_published_policy(project.scope, project.settings):
        from skillpm.scope.policy_refresh import refresh_due_policies  # noqa: PLC0415  (few users have any)

        refresh_due_policies(project)


def enforce_blocks(scopes: Sequence[Scope], session: Session, *, dry_run: bool) -> None:
    """Take the links to blocked skills away before anything else, since that must not fail with the command."""
    for scope in () if dry_run else scopes:
        policies = load_scope_policies(scope, session.settings)
        if policies is not None and policies.has_blocked:
            from skillpm.change.blocked_links import unlink_blocked  # noqa: PLC0415  (few policies block any)

            unlink_blocked(Project(scope, session))


@contextmanager
def removing_refused_links(session: Session, *, dry_run: bool) -> Iterator[list[tuple[Scope, Collection[SkillName]]]]:
    """Remove the links to refused skills if an error stops what is done here: it must not keep them alive.

    Yields a list to fill with the refused skills of each scope.
    """
    found: list[tuple[Scope, Collection[SkillName]]] = []
    try:
        yield found
    except SkillpmError as error:
        # An unreadable key refuses every skill, and is an error about the user's own settings.
        is_about_skills = not (dry_run or isinstance(error, SignatureError))
        for scope, refused in found if is_about_skills else ():
            if refused and not load_receipt(scope.layout).linked_skills.isdisjoint(refused):
                from skillpm.change.blocked_links import remove_links  # noqa: PLC0415  (only then)

                find_names = partial(_find_linked, refused)
                remove_links(Project(scope, session), find_names, "is refused")
        raise


def _find_linked(names: Collection[SkillName], receipt: Receipt) -> list[SkillName]:
    return sorted(receipt.linked_skills.intersection(names))
