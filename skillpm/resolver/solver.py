"""The search for versions that agree. Imported where there is a choice (docs/adr/0013-resolver.md).

One name is decided after the other: first those of the manifest, sorted, then what they need, in the order in which
it is met. Each takes its best option that nothing speaks against: what is locked, else the newest. When a name has
none left, the search goes back to the latest decision that has a part in that (conflict-directed backjumping), and
tries its next option. So it finds an answer wherever there is one, and of all answers the first in this order: no
name could be newer without an earlier one being older.
"""

from collections.abc import Iterable, Sequence

from skillpm.core.names import SkillName
from skillpm.errors import ConflictError, NotFoundError
from skillpm.requirements.source import Source
from skillpm.resolver.candidates import Shelf
from skillpm.resolver.conflict_report import Cause, conflict
from skillpm.resolver.search_space import Need, Option

MOST_STEPS = 50_000  # nobody's honest skills take a hundredth; an enemy's could go on for ever


def solve(shelf: Shelf) -> dict[SkillName, Option]:
    """Choose one option for each skill that is needed. Raises `ConflictError` that tells why there is none.

    What is locked is moved only where there is no answer without that.
    """
    try:
        return _placed(shelf)
    except (ConflictError, NotFoundError):
        if not shelf.locked.skills:
            raise
    shelf.is_settled = False
    return _placed(shelf)


def _placed(shelf: Shelf) -> dict[SkillName, Option]:
    """Search, and where a name was looked for in the indexes before somebody named its place, search again with that
    place from the start. An answer counts only if in it somebody really names the place.
    """
    shelf.presumed = {}
    late: dict[SkillName, Source] = {}
    try:
        return _solve(shelf, late)
    except (ConflictError, NotFoundError) as error:
        first = error
    while new := {name: place for name, place in late.items() if name not in shelf.presumed}:
        shelf.presumed = {**shelf.presumed, **new}
        try:
            found = _solve(shelf, late)
        except (ConflictError, NotFoundError):
            continue
        if all(_is_named(name, found, shelf) for name in shelf.presumed if name in found):
            return found
        break
    shelf.presumed = {}
    raise first


def _is_named(name: SkillName, found: dict[SkillName, Option], shelf: Shelf) -> bool:
    """Tell whether anybody in an answer names the place of a skill itself."""
    roots = [shelf.need(root, source) for root, source in shelf.asked.requirements.items()]
    needs = [*roots, *(need for option in found.values() for need in shelf.needs_of(option))]
    return any(need.name == name and need.place == shelf.presumed[name] for need in needs)


def _solve(shelf: Shelf, late: dict[SkillName, Source]) -> dict[SkillName, Option]:
    roots = [shelf.need(name, source) for name, source in sorted(shelf.asked.requirements.items())]
    _foresee(roots, shelf)
    search = _Search(shelf, late)
    search.demand(roots, None)
    while len(search.decisions) < len(search.order):
        decision = _Decision(search, search.order[len(search.decisions)])
        while not search.advance(decision):
            decision = search.back_from(decision)
        search.decisions.append(decision)
    return {decision.name: search.taken[decision.name] for decision in search.decisions}


class _Decision:
    """A name to decide: the options that are left, and who and what spoke against those that were tried."""

    def __init__(self, search: "_Search", name: SkillName) -> None:
        self.name = name
        self.left = search.shelf.fitting(name, [need for need, _ in search.needs[name]])[::-1]
        # Whoever wants this name has a part in whatever goes wrong with it.
        self.blamed = {parent.name for _, parent in search.needs[name] if parent is not None}
        self.causes: dict[Cause, None] = dict.fromkeys(search.needs[name]) if not self.left else {}
        self.before = len(search.order)


class _Search:
    """What is decided so far, and all that is wanted because of it."""

    def __init__(self, shelf: Shelf, late: dict[SkillName, Source]) -> None:
        self.shelf = shelf
        self.late = late  # places that were named for a skill which had been taken from the indexes already
        self.order: list[SkillName] = []
        self.needs: dict[SkillName, list[Cause]] = {}
        self.brought: dict[SkillName, Cause] = {}
        self.taken: dict[SkillName, Option] = {}
        self.decisions: list[_Decision] = []
        self.steps = 0

    def advance(self, decision: _Decision) -> bool:
        """Take the next option that nothing speaks against; False where none is left."""
        while decision.left:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise ConflictError(
                    f"no versions that agree were found in {MOST_STEPS} steps",
                    hint="narrow the ranges in skills.json, so that there is less to choose from",
                )
            option = decision.left.pop()
            self.taken[decision.name] = option
            against = self.demand(self.shelf.needs_of(option), option)
            if against is None:
                return True
            self._undo(decision)
            decision.causes |= dict.fromkeys(against)
            decision.blamed |= {parent.name for _, parent in against if parent is not None}
            if against[0][0].name in self.taken:
                decision.blamed.add(against[0][0].name)
        return False

    def demand(self, needs: Sequence[Need], parent: Option | None) -> list[Cause] | None:
        """Take in what an option (or the manifest) needs; give all needs on a name that cannot be met together."""
        self.shelf.prepare({need.name: [need] for need in needs})
        for need in needs:
            known = self.needs.setdefault(need.name, [])
            if not known:
                self.order.append(need.name)
            known.append((need, parent))
            self.brought.setdefault(need.name, (need, parent))
            taken = self.taken.get(need.name)
            met = need.allows(taken) if taken else self.shelf.fitting(need.name, [other for other, _ in known])
            if taken is not None and not met and not need.is_open and need.place not in {None, taken.place}:
                self.late.setdefault(need.name, need.place)
            if not met and parent is not None:
                return list(known)
        return None

    def back_from(self, decision: _Decision) -> _Decision:
        """Give the latest decision that has a part in a dead end, to be decided otherwise.

        Raises what is to be told where nobody has a part in it but the manifest.
        """
        blamed = decision.blamed - {decision.name}
        while self.decisions:
            earlier = self.decisions.pop()
            self._undo(earlier)
            if earlier.name in blamed:
                earlier.blamed |= blamed
                earlier.causes |= decision.causes
                return earlier
        raise conflict(list(decision.causes), self.brought, self.shelf)

    def _undo(self, decision: _Decision) -> None:
        """Take back what was taken for a name, and all that is only wanted because of it."""
        option = self.taken.pop(decision.name)
        for need in self.shelf.needs_of(option):
            known = self.needs.get(need.name, [])
            if known and known[-1][1] is option:
                known.pop()
        for name in self.order[decision.before :]:
            del self.needs[name]
        del self.order[decision.before :]


def _foresee(roots: Iterable[Need], shelf: Shelf) -> None:
    """Ask ahead, all names of a generation in one call: what the search will ask for one by one is then there.

    It follows the best option of each name, which nearly always is the one that is taken.
    """
    needs: dict[SkillName, list[Need]] = {}
    todo = list(roots)
    while todo:
        for need in todo:
            needs.setdefault(need.name, []).append(need)
        generation = dict.fromkeys(need.name for need in todo)
        shelf.prepare({name: needs[name] for name in generation})
        best = [option for name in generation for option in shelf.fitting(name, needs[name])[:1]]
        new = [option for option in best if option.needs is None]
        shelf.open(new)
        todo = [need for option in new for need in option.needs or () if need not in needs.get(need.name, ())]
