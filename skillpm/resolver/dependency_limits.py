"""Limits on the dependencies of all skills together, which an index could otherwise make up without end."""

from collections.abc import Iterable

from skillpm.core.limits import MAX_ALL_DEPENDENCIES, MAX_DEPENDENCY_DEPTH
from skillpm.core.names import SkillName
from skillpm.errors import RefusedError

HINT = "report it to its author, or require another version; `overrides` in skills.json replace a dependency"


class DependencyLimits:
    """Records through which skill each name was first found; never forgets one, so that searching cannot go on."""

    def __init__(self, roots: Iterable[SkillName]) -> None:
        self._parents: dict[SkillName, SkillName | None] = dict.fromkeys(roots)
        self._max_names = len(self._parents) + MAX_ALL_DEPENDENCIES

    def add(self, parent: SkillName, names: Iterable[SkillName]) -> None:
        """Record the dependencies of a skill. Raises `RefusedError` for too many, or if they are nested too deeply."""
        new = [name for name in names if name not in self._parents]
        self._parents.update(dict.fromkeys(new, parent))
        if not new:
            return
        chain = self._chain_to(new[0])
        if len(chain) > MAX_DEPENDENCY_DEPTH + 1:
            shown = " → ".join([*chain[:3], "…", *chain[-2:]])
            raise RefusedError(
                f"the dependencies of `{chain[0]}` are nested more than {MAX_DEPENDENCY_DEPTH} deep: {shown}", hint=HINT
            )
        if len(self._parents) > self._max_names:
            shown = " → ".join(chain[-4:])
            raise RefusedError(
                f"the skills require more than {MAX_ALL_DEPENDENCIES} others, the last ones by {shown}", hint=HINT
            )

    def _chain_to(self, name: SkillName) -> list[SkillName]:
        """Return the skills through which a name was found, from the one in the manifest to the name itself."""
        chain = [name]
        while (parent := self._parents.get(chain[-1])) is not None:
            chain.append(parent)
        return chain[::-1]
