"""What a lockfile says that a skill needs, held against what the skill says: nothing comes in by a forged need."""

from collections.abc import Collection, Mapping
from typing import Any

from skillpm.documents.findings import NotLoadable
from skillpm.documents.names import SkillName
from skillpm.documents.needs import FILE, needs_of
from skillpm.documents.skill import read_skill
from skillpm.documents.tree import Tree
from skillpm.errors import DocumentError, RefusedError
from skillpm.fetching.arriving import content_of
from skillpm.fetching.front import Fetchers
from skillpm.operations.outlook import Outlook
from skillpm.operations.scope import Scope


def check_needs(scope: Scope, ahead: Outlook, coming: Collection[SkillName], fetchers: Fetchers) -> None:
    """Refuse a lockfile in which a skill that is about to come is needed by one that does not say so.

    The digest vouches for a skill's own words; an index that says others was refused when it was locked.
    """
    unasked = {*coming} - {*ahead.papers.requirements}
    for name, skill in sorted(ahead.lockfile.skills.items()):
        if unasked & {*skill.dependencies} and skill.digest is not None:
            said = _said_by(content_of(fetchers, name, skill, skill.digest))
            needs = unasked & {*skill.dependencies}
            if forged := sorted(need for need in needs if skill.dependencies[need] != said.get(need)):
                raise RefusedError(
                    f"`{name}` does not need `{forged[0]}` as the lockfile says",
                    where=f"{scope.lockfile}: skills.{name}.dependencies",
                    hint=f"find out who changed the lockfile; `skillpm update{scope.flag} {name}` makes it anew",
                )


def _said_by(tree: Tree) -> Mapping[str, Any]:
    try:
        return needs_of(read_skill(tree.read(tree.skill_file) or b"").metadata, tree.read(FILE))
    except (NotLoadable, DocumentError):
        return {}
