"""The version solver: a backtracking search (ADR 13). Imported only if there is a choice.

Names are decided one by one: first those of the manifest, sorted, then their dependencies in the order in which they
are found. Each gets its best candidate that conflicts with nothing decided so far: the locked version, else the newest.
If a name has no candidate left, the search returns to the latest decision that is involved in the conflict
(conflict-directed backjumping) and tries its next candidate. It finds a solution if one exists, and the first in this
order: no name could have a newer version without an older one for an earlier name.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from skillpm.core.names import SkillName
from skillpm.errors import ConflictError, NotFoundError
from skillpm.kinds.base import Source
from skillpm.resolver.candidates import CandidateSet
from skillpm.resolver.search_space import Candidate, Requirement

if TYPE_CHECKING:
    from skillpm.resolver.conflict_report import Cause

# Real manifests take less than a hundredth. Version solving is NP-complete, so a malicious index could make it take for
# ever; all other limits (sizes, numbers of dependencies) do not prevent that.
MAX_STEPS = 50_000


def solve(candidate_set: CandidateSet) -> dict[SkillName, Candidate]:
    """Return one candidate for each required skill. Raises `ConflictError` with the reason if none exists.

    A locked version changes only if no solution keeps it.
    """
    try:
        return _solve_with_origins(candidate_set)
    except (ConflictError, NotFoundError):
        if not candidate_set.locked.skills:
            raise
    # The first search considered only locked candidates where these satisfy all requirements. That never queries a
    # server for skills that stay as they are, but it may miss solutions, so failure is final only with all candidates.
    candidate_set.prefers_locked = False
    return _solve_with_origins(candidate_set)


def _solve_with_origins(candidate_set: CandidateSet) -> dict[SkillName, Candidate]:
    """Search; if that fails because a source of a name was found too late, search again with that source presumed.

    A name without a source is looked up in the indexes. If a skill that is decided later requires it from a repository,
    the search cannot add that source to decisions already made, so it restarts.
    """
    candidate_set.presumed_origins = {}
    late_origins: dict[SkillName, Source] = {}
    try:
        return _solve(candidate_set, late_origins)
    except (ConflictError, NotFoundError) as error:
        first_error = error
    while new := {name: it for name, it in late_origins.items() if name not in candidate_set.presumed_origins}:
        candidate_set.presumed_origins = {**candidate_set.presumed_origins, **new}
        try:
            solution = _solve(candidate_set, late_origins)
        except (ConflictError, NotFoundError):
            continue
        # Otherwise a skill that is not part of the solution could decide where another one comes from.
        if all(
            _is_origin_required(name, solution, candidate_set)
            for name in candidate_set.presumed_origins
            if name in solution
        ):
            return solution
        break
    candidate_set.presumed_origins = {}
    # The first error: those of the restarts are about sources that nothing may require.
    raise first_error


def _is_origin_required(name: SkillName, solution: dict[SkillName, Candidate], candidate_set: CandidateSet) -> bool:
    """Return whether the manifest or a skill of the solution itself requires a skill from its presumed source."""
    roots = candidate_set.root_requirements
    transitive = (it for candidate in solution.values() for it in candidate_set.requirements_of(candidate))
    origin = candidate_set.presumed_origins[name]
    return any(it.name == name and it.origin == origin for it in (*roots, *transitive))


def _solve(candidate_set: CandidateSet, late_origins: dict[SkillName, Source]) -> dict[SkillName, Candidate]:
    roots = candidate_set.root_requirements
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
    """A name to decide: the remaining candidates, and why the others were rejected."""

    def __init__(self, search: "_Search", name: SkillName) -> None:
        self.name = name
        # Best last, since candidates are popped from the end.
        self.remaining = search.candidate_set.find_matching(name, [it for it, _ in search.requirements[name]])[::-1]
        # The names whose decisions are involved in any failure of this one. All that require it are: without them, the
        # failure would not matter.
        self.conflict_set = {parent.name for _, parent in search.requirements[name] if parent is not None}
        # The requirements that no candidate satisfied, for the error message, in order.
        self.causes: dict[Cause, None] = dict.fromkeys(search.requirements[name]) if not self.remaining else {}
        # How many names were known before this decision; those after it are required only because of it.
        self.order_length = len(search.order)


class _Search:
    """The decisions so far, and the requirements that follow from them."""

    def __init__(self, candidate_set: CandidateSet, late_origins: dict[SkillName, Source]) -> None:
        self.candidate_set = candidate_set
        # Sources required for a skill after it had been selected from an index.
        self.late_origins = late_origins
        # All required names, in the order in which they are decided.
        self.order: list[SkillName] = []
        self.requirements: dict[SkillName, list[Cause]] = {}
        self.first_causes: dict[SkillName, Cause] = {}
        self.selection: dict[SkillName, Candidate] = {}
        self.decisions: list[_Decision] = []
        self.steps = 0

    def advance(self, decision: _Decision) -> bool:
        """Select the next candidate whose requirements can be satisfied; return False if none is left."""
        while decision.remaining:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise ConflictError(
                    f"gave up resolving versions after {MAX_STEPS:,} steps",
                    hint="narrow the version ranges in skills.json",
                )
            candidate = decision.remaining.pop()
            self.selection[decision.name] = candidate
            conflict = self.add_requirements(self.candidate_set.requirements_of(candidate), candidate)
            if conflict is None:
                return True
            self._undo(decision)
            decision.causes |= dict.fromkeys(conflict)
            decision.conflict_set |= {parent.name for _, parent in conflict if parent is not None}
            # Another candidate for a name that is decided already might satisfy all requirements on it.
            if conflict[0][0].name in self.selection:
                decision.conflict_set.add(conflict[0][0].name)
        return False

    def add_requirements(self, requirements: Sequence[Requirement], parent: Candidate | None) -> "list[Cause] | None":
        """Add the requirements of a candidate, or of the manifest; on a conflict, return all requirements on that name.

        Checking undecided names here as well (forward checking) rejects a candidate before its other dependencies are
        explored.
        """
        self.candidate_set.prefetch({requirement.name: [requirement] for requirement in requirements})
        for requirement in requirements:
            name = requirement.name
            known = self.requirements.setdefault(name, [])
            if not known:
                self.order.append(name)
            known.append((requirement, parent))
            self.first_causes.setdefault(name, (requirement, parent))
            selected = self.selection.get(name)
            is_satisfiable = (
                requirement.allows(selected)
                if selected
                else self.candidate_set.find_matching(name, [other for other, _ in known])
            )
            if (
                selected is not None
                and not is_satisfiable
                and not requirement.accepts_any_origin
                and requirement.origin not in {None, selected.origin}
            ):
                self.late_origins.setdefault(name, requirement.origin)
            # A root requirement that cannot be satisfied fails when its name is decided, with the complete message.
            if not is_satisfiable and parent is not None:
                return list(known)
        return None

    def backjump(self, decision: _Decision) -> _Decision:
        """Return the latest decision that is involved in a failure, undoing all after it.

        Changing a decision that is not involved would only fail in the same way again. Raises the conflict if nothing
        but the manifest is involved.
        """
        involved = decision.conflict_set - {decision.name}
        while self.decisions:
            earlier = self.decisions.pop()
            self._undo(earlier)
            if earlier.name in involved:
                earlier.conflict_set |= involved
                earlier.causes |= decision.causes
                return earlier
        from skillpm.resolver.conflict_report import conflict_error  # noqa: PLC0415  (for its texts)

        raise conflict_error(list(decision.causes), self.first_causes, self.candidate_set)

    def _undo(self, decision: _Decision) -> None:
        """Undo the selection of a name, and everything that is required only because of it."""
        candidate = self.selection.pop(decision.name)
        for requirement in self.candidate_set.requirements_of(candidate):
            # Decisions are undone in reverse order, so its requirement is the last one; unless `add_requirements`
            # stopped at a conflict before it.
            known = self.requirements.get(requirement.name, [])
            if known and known[-1][1] is candidate:
                known.pop()
        for name in self.order[decision.order_length :]:
            del self.requirements[name]
        del self.order[decision.order_length :]


def _prefetch(roots: Iterable[Requirement], candidate_set: CandidateSet) -> None:
    """Query the provider for all names of a generation at once, before the search queries them one by one.

    Generation by generation, it follows the best candidate of each name, which is nearly always the one selected. It
    decides nothing: what it misses, the search queries itself.
    """
    known: dict[SkillName, list[Requirement]] = {}
    pending = list(roots)
    while pending:
        for requirement in pending:
            known.setdefault(requirement.name, []).append(requirement)
        generation = dict.fromkeys(requirement.name for requirement in pending)
        candidate_set.prefetch({name: known[name] for name in generation})
        best = [it for name in generation for it in candidate_set.find_matching(name, known[name])[:1]]
        unread = [candidate for candidate in best if candidate.requirements is None]
        candidate_set.load_requirements(unread)
        pending = [
            requirement
            for candidate in unread
            for requirement in candidate.requirements or ()
            if requirement not in known.get(requirement.name, ())
        ]
