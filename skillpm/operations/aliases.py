"""Skills installed under another name than their SKILL.md says: what agent hosts make of that."""

from collections.abc import Iterator

from skillpm.documents.text import show
from skillpm.operations.listing import list_skills
from skillpm.operations.scope import Scope


def shown_otherwise(scope: Scope, name: str) -> Iterator[str]:
    """Say under which name a host shows a skill that goes by SKILL.md, and what else is there under that name.

    The bytes of a SKILL.md are never changed, so folder, registry and links bear the one name and the file the other.
    """
    declared = {skill.name: skill.entry.get("declaredName") or skill.name for skill in list_skills(scope).skills}
    own = declared.get(name, name)
    if own == name:
        return
    said = f"`{name}` calls itself `{show(own)}` in its SKILL.md, and agent hosts that go by that show it so"
    others = sorted(other for other, called in declared.items() if called == own and other != name)
    if others:
        said += f"; {', '.join(f'`{other}`' for other in others)} too, and they may show only one"
    yield said
