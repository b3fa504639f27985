"""A conflict in sentences: who asked for what, and what would solve it."""

from collections.abc import Iterable, Mapping, Sequence

from skillpm.core.names import SkillName
from skillpm.errors import ConflictError, NotFoundError, SkillpmError
from skillpm.requirements.dependency_spec import has_open_version
from skillpm.resolver.alternatives import alternative_hint, describe_available, too_new_hint
from skillpm.resolver.candidates import CandidateSet
from skillpm.resolver.conflict_phrases import describe_source, format_versions, join_words, name_repository_hint
from skillpm.resolver.search_space import Candidate, Requirement

MAX_NAMES = 4
MAX_SENTENCES = 5
Cause = tuple[Requirement, Candidate | None]


Constraints = Mapping[tuple[SkillName | None, Requirement], list[Candidate]]
FirstCauses = Mapping[SkillName, Cause]


def conflict_error(causes: Sequence[Cause], first_causes: FirstCauses, candidate_set: CandidateSet) -> SkillpmError:
    """Tell why there is no answer.

    `causes` are the needs that could not be met, each with who has it; `brought` is who wanted each name first, for
    telling how a skill that the manifest does not name got into it.
    """
    by_name: dict[SkillName, dict[tuple[SkillName | None, Requirement], list[Candidate]]] = {}
    for need, parent in causes:
        options = by_name.setdefault(need.name, {}).setdefault((None if parent is None else parent.name, need), [])
        if parent is not None:
            options.append(parent)
    impossible = [name for name, rows in by_name.items() if any(need.source is None for _, need in rows)]
    told = {name: rows for name, rows in by_name.items() if name not in impossible}
    if not told:
        name = impossible[0]
        return NotFoundError(
            f"none of the versions of `{name}` is there when it is fetched", hint=name_repository_hint(name)
        )
    name, rows = next(iter(told.items()))
    if (
        len(told) == 1
        and [who for who, _ in rows] == [None]
        and (candidate_set.find_candidates(name, _requirements_in(rows)) or name in candidate_set.excluded)
    ):
        return NotFoundError(
            f"`{name}`{describe_source(_requirements_in(rows)[0].source)} is not there: {describe_available(name, _requirements_in(rows), candidate_set)}",
            hint=too_new_hint(name, _requirements_in(rows), candidate_set)
            or alternative_hint(name, _requirements_in(rows), candidate_set),
        )
    for name, rows in told.items():
        if (
            name not in candidate_set.excluded
            and not candidate_set.find_candidates(name, _requirements_in(rows))
            and len(candidate_set.find_origins(name, _requirements_in(rows))) == 1
        ):
            return _unknown_skill_error(name, rows, first_causes, candidate_set)
    parts = [_conflict_message(name, rows, first_causes, candidate_set) for name, rows in told.items()]
    name, rows = next(iter(told.items()))
    older = too_new_hint(name, _requirements_in(rows), candidate_set)
    return ConflictError(
        "; besides, ".join(parts[:MAX_NAMES]),
        where=_manifest_location(told.values()),
        hint=f"{older}{'; or ' if older else ''}{_conflict_hint(name, told, first_causes, candidate_set)}",
    )


def _conflict_message(
    name: SkillName, constraints: Constraints, first_causes: FirstCauses, candidate_set: CandidateSet
) -> str:
    ordered = _sort_constraints(constraints)
    sentences = [
        _constraint_message(name, who, need, options, first_causes) for (who, need), options in ordered[:MAX_SENTENCES]
    ]
    if len(ordered) > MAX_SENTENCES:
        sentences.append(f"{len(ordered) - MAX_SENTENCES} more ask for something else")
    return join_words(sentences) + _conflict_summary(name, constraints, candidate_set)


def _requirements_in(constraints: Constraints) -> list[Requirement]:
    return list(dict.fromkeys(need for _, need in constraints))


def _sort_constraints(
    constraints: Constraints,
) -> list[tuple[tuple[SkillName | None, Requirement], list[Candidate]]]:
    """What the manifest asks comes first, then by name, the newest versions of each first."""
    ordered = sorted(
        constraints.items(), key=lambda row: max((option.sort_key for option in row[1]), default=()), reverse=True
    )
    return sorted(ordered, key=lambda row: row[0][0] or "")


def _constraint_message(
    name: SkillName,
    requirer: SkillName | None,
    requirement: Requirement,
    candidates: Sequence[Candidate],
    first_causes: FirstCauses,
) -> str:
    said = f"`{name}`{describe_source(requirement.source)}"
    if requirer is None:
        return f"skills.json asks for {said}"
    versions = format_versions(candidates)
    verb = "needs" if len({option.version for option in candidates}) == 1 else "need"
    return f"`{requirer}`{f' {versions}' if versions else ''}{_inclusion_reason(requirer, first_causes)} {verb} {said}"


def _inclusion_reason(name: SkillName, first_causes: FirstCauses) -> str:
    """Say how a skill got in that the manifest does not name, or only in some versions."""
    need, parent = first_causes[name]
    if parent is not None:
        return f" (which `{parent.name}` needs)"
    said = describe_source(need.source)
    return f" (skills.json asks for `{name}`{said})" if said else ""


def _conflict_summary(name: SkillName, constraints: Constraints, candidate_set: CandidateSet) -> str:
    needs = _requirements_in(constraints)
    if len(candidate_set.find_origins(name, needs)) > 1:
        return "; a skill comes from one place only"
    which = "both" if len(needs) == 2 else "all of that" if len(needs) > 2 else "that"  # noqa: PLR2004
    return f"; no version of `{name}` fits {which}: {describe_available(name, needs, candidate_set)}"


def _unknown_skill_error(
    name: SkillName, constraints: Constraints, first_causes: FirstCauses, candidate_set: CandidateSet
) -> SkillpmError:
    """Nothing at all is known of a name: whoever was asked says best why."""
    (who, need), options = _sort_constraints(constraints)[0]
    try:
        if need.source is not None:
            candidate_set.provider.pin({name: need.source})
        error: SkillpmError = NotFoundError(f"`{name}` is not there", hint=name_repository_hint(name))
    except NotFoundError as found:
        error = found
    if who is None:
        return error
    return NotFoundError(
        f"{_constraint_message(name, who, need, options, first_causes)}, which is not there: {error.message}",
        hint=f"tell its author, or take it from where you know it: skillpm install owner/repo@{name}",
    )


def _manifest_location(groups: Iterable[Constraints]) -> str:
    """Give the place that a person can change."""
    return next((f"skills.json: skills.{need.name}" for rows in groups for who, need in rows if who is None), "")


def _conflict_hint(
    name: SkillName,
    constraints: Mapping[SkillName, Constraints],
    first_causes: FirstCauses,
    candidate_set: CandidateSet,
) -> str:
    ranges = [need for _, need in constraints[name] if need.source is not None and has_open_version(need.source)]
    value = '"…"' if ranges else "{…}"
    asks = any(who is None for rows in constraints.values() for who, _ in rows)
    narrow = sorted(
        {who for rows in constraints.values() for who, _ in rows if who and _is_constrained(first_causes[who])}
    )
    others = (
        f"allow other versions of {join_words([f'`{who}`' for who in narrow])} in skills.json, or " if narrow else ""
    )
    what = (
        "name the other place"
        if len(candidate_set.find_origins(name, _requirements_in(constraints[name]))) > 1
        else "ask for another version"
    )
    ask = f"{what} in skills.json, or " if asks else others
    return f'{ask}decide yourself, against what they say: "overrides": {{"{name}": {value}}} in skills.json'


def _is_constrained(cause: Cause) -> bool:
    """Tell whether the manifest itself keeps other versions of a skill out."""
    need, parent = cause
    return parent is None and need.range.text != "*"
