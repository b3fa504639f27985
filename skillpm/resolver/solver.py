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
from skillpm.resolver.candidates import CandidateSet
from skillpm.resolver.conflict_report import Cause, conflict_error
from skillpm.resolver.search_space import Candidate, Requirement

MAX_STEPS = 50_000  # nobody's honest skills take a hundredth; an enemy's could go on for ever


def solve(candidate_set: CandidateSet) -> dict[SkillName, Candidate]:
    """Choose one option for each skill that is needed. Raises `ConflictError` that tells why there is none.

    What is locked is moved only where there is no answer without that.
    """
    try:
        return _solve_with_origins(candidate_set)
    except (ConflictError, NotFoundError):
        if not candidate_set.locked.skills:
            raise
    candidate_set.prefers_locked = False
    return _solve_with_origins(candidate_set)


def _solve_with_origins(candidate_set: CandidateSet) -> dict[SkillName, Candidate]:
    """Search, and where a name was looked for in the indexes before somebody named its place, search again with that
    place from the start. An answer counts only if in it somebody really names the place.
    """
    candidate_set.presumed_origins = {}
    late: dict[SkillName, Source] = {}
    try:
        return _solve(candidate_set, late)
    except (ConflictError, NotFoundError) as error:
        first = error
    while new := {name: place for name, place in late.items() if name not in candidate_set.presumed_origins}:
        candidate_set.presumed_origins = {**candidate_set.presumed_origins, **new}
        try:
            found = _solve(candidate_set, late)
        except (ConflictError, NotFoundError):
            continue
        if all(
            _is_origin_required(name, found, candidate_set) for name in candidate_set.presumed_origins if name in found
        ):
            return found
        break
    candidate_set.presumed_origins = {}
    raise first


def _is_origin_required(name: SkillName, solution: dict[SkillName, Candidate], candidate_set: CandidateSet) -> bool:
    """Tell whether anybody in an answer names the place of a skill itself."""
    roots = [candidate_set.get_requirement(root, source) for root, source in candidate_set.request.requirements.items()]
    needs = [*roots, *(need for option in solution.values() for need in candidate_set.requirements_of(option))]
    return any(need.name == name and need.origin == candidate_set.presumed_origins[name] for need in needs)


def _solve(candidate_set: CandidateSet, late_origins: dict[SkillName, Source]) -> dict[SkillName, Candidate]:
    roots = [
        candidate_set.get_requirement(name, source)
        for name, source in sorted(candidate_set.request.requirements.items())
    ]
    _prefetch(roots, candidate_set)
    search = _Search(candidate_set, late_origins)
    search.add_requirements(roots, None)
    while len(search.decisions) < len(search.order):
        decision = _Decision(search, search.order[len(search.decisions)])
        while not search.advance(decision):
            decision = search.backjump(decision)
        search.decisions.append(decision)
    return {decision.name: search.selection[decision.name] for decision in search.decisions}


class _Decision:
    """A name to decide: the options that are left, and who and what spoke against those that were tried."""

    def __init__(self, search: "_Search", name: SkillName) -> None:
        self.name = name
        self.remaining = search.candidate_set.find_matching(name, [need for need, _ in search.requirements[name]])[::-1]
        # Whoever wants this name has a part in whatever goes wrong with it.
        self.conflict_set = {parent.name for _, parent in search.requirements[name] if parent is not None}
        self.causes: dict[Cause, None] = dict.fromkeys(search.requirements[name]) if not self.remaining else {}
        self.order_length = len(search.order)


class _Search:
    """What is decided so far, and all that is wanted because of it."""

    def __init__(self, candidate_set: CandidateSet, late_origins: dict[SkillName, Source]) -> None:
        self.candidate_set = candidate_set
        self.late_origins = (
            late_origins  # places that were named for a skill which had been taken from the indexes already
        )
        self.order: list[SkillName] = []
        self.requirements: dict[SkillName, list[Cause]] = {}
        self.first_causes: dict[SkillName, Cause] = {}
        self.selection: dict[SkillName, Candidate] = {}
        self.decisions: list[_Decision] = []
        self.steps = 0

    def advance(self, decision: _Decision) -> bool:
        """Take the next option that nothing speaks against; False where none is left."""
        while decision.remaining:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise ConflictError(
                    f"no versions that agree were found in {MAX_STEPS} steps",
                    hint="narrow the ranges in skills.json, so that there is less to choose from",
                )
            option = decision.remaining.pop()
            self.selection[decision.name] = option
            against = self.add_requirements(self.candidate_set.requirements_of(option), option)
            if against is None:
                return True
            self._undo(decision)
            decision.causes |= dict.fromkeys(against)
            decision.conflict_set |= {parent.name for _, parent in against if parent is not None}
            if against[0][0].name in self.selection:
                decision.conflict_set.add(against[0][0].name)
        return False

    def add_requirements(self, requirements: Sequence[Requirement], parent: Candidate | None) -> list[Cause] | None:
        """Take in what an option (or the manifest) needs; give all needs on a name that cannot be met together."""
        self.candidate_set.prefetch({need.name: [need] for need in requirements})
        for need in requirements:
            known = self.requirements.setdefault(need.name, [])
            if not known:
                self.order.append(need.name)
            known.append((need, parent))
            self.first_causes.setdefault(need.name, (need, parent))
            taken = self.selection.get(need.name)
            met = (
                need.allows(taken)
                if taken
                else self.candidate_set.find_matching(need.name, [other for other, _ in known])
            )
            if (
                taken is not None
                and not met
                and not need.accepts_any_origin
                and need.origin not in {None, taken.origin}
            ):
                self.late_origins.setdefault(need.name, need.origin)
            if not met and parent is not None:
                return list(known)
        return None

    def backjump(self, decision: _Decision) -> _Decision:
        """Give the latest decision that has a part in a dead end, to be decided otherwise.

        Raises what is to be told where nobody has a part in it but the manifest.
        """
        blamed = decision.conflict_set - {decision.name}
        while self.decisions:
            earlier = self.decisions.pop()
            self._undo(earlier)
            if earlier.name in blamed:
                earlier.conflict_set |= blamed
                earlier.causes |= decision.causes
                return earlier
        raise conflict_error(list(decision.causes), self.first_causes, self.candidate_set)

    def _undo(self, decision: _Decision) -> None:
        """Take back what was taken for a name, and all that is only wanted because of it."""
        option = self.selection.pop(decision.name)
        for need in self.candidate_set.requirements_of(option):
            known = self.requirements.get(need.name, [])
            if known and known[-1][1] is option:
                known.pop()
        for name in self.order[decision.order_length :]:
            del self.requirements[name]
        del self.order[decision.order_length :]


def _prefetch(roots: Iterable[Requirement], candidate_set: CandidateSet) -> None:
    """Ask ahead, all names of a generation in one call: what the search will ask for one by one is then there.

    It follows the best option of each name, which nearly always is the one that is taken.
    """
    needs: dict[SkillName, list[Requirement]] = {}
    todo = list(roots)
    while todo:
        for need in todo:
            needs.setdefault(need.name, []).append(need)
        generation = dict.fromkeys(need.name for need in todo)
        candidate_set.prefetch({name: needs[name] for name in generation})
        best = [option for name in generation for option in candidate_set.find_matching(name, needs[name])[:1]]
        new = [option for option in best if option.requirements is None]
        candidate_set.load_requirements(new)
        todo = [need for option in new for need in option.requirements or () if need not in needs.get(need.name, ())]
