"""The message and hint of an unsolvable resolution: which requirements conflict, and how to resolve that."""

from collections.abc import Iterable, Mapping, Sequence

from skillpm.core.names import SkillName
from skillpm.errors import ConflictError, NotFoundError, SkillpmError
from skillpm.resolver.candidates import CandidateSet
from skillpm.resolver.conflict_phrases import (
    alternative_hint,
    describe_available,
    format_versions,
    join_words,
    name_repository_hint,
    no_version_message,
    too_new_hint,
)
from skillpm.resolver.search_space import Candidate, Requirement

MAX_NAMES = 4
MAX_SENTENCES = 5
# A requirement and the candidate that has it; None for the manifest.
Cause = tuple[Requirement, Candidate | None]


# The requirements on one name by who has them (None for the manifest), with the candidates of that skill.
Constraints = Mapping[tuple[SkillName | None, Requirement], list[Candidate]]
FirstCauses = Mapping[SkillName, Cause]


def conflict_error(causes: Sequence[Cause], first_causes: FirstCauses, candidate_set: CandidateSet) -> SkillpmError:
    """Return the error for requirements without a solution.

    `causes` are the requirements that could not be satisfied; `first_causes` is what required each name first, to
    explain how a skill that the manifest does not name became part of the resolution.
    """
    by_name: dict[SkillName, dict[tuple[SkillName | None, Requirement], list[Candidate]]] = {}
    for requirement, parent in causes:
        requirer = None if parent is None else parent.name
        candidates = by_name.setdefault(requirement.name, {}).setdefault((requirer, requirement), [])
        if parent is not None:
            candidates.append(parent)
    # Names of which every candidate failed to be fetched, or contradicts itself: no requirement on them is at fault.
    unusable = [name for name, rows in by_name.items() if any(requirement.source is None for _, requirement in rows)]
    conflicts = {name: rows for name, rows in by_name.items() if name not in unusable}
    if not conflicts:
        name = unusable[0]
        return NotFoundError(f"no version of `{name}` can be fetched", hint=name_repository_hint(name))
    name, rows = next(iter(conflicts.items()))
    requirements = _requirements_in(rows)
    if (
        len(conflicts) == 1
        and [requirer for requirer, _ in rows] == [None]
        and (candidate_set.find_candidates(name, requirements) or name in candidate_set.excluded)
    ):
        available = describe_available(name, requirements, candidate_set)
        return NotFoundError(
            f"{no_version_message(name, requirements[0].source)}; {available}",
            hint=too_new_hint(name, requirements, candidate_set) or alternative_hint(name, requirements, candidate_set),
        )
    for name, rows in conflicts.items():
        if (
            name not in candidate_set.excluded
            and not candidate_set.find_candidates(name, _requirements_in(rows))
            and len(candidate_set.find_origins(name, _requirements_in(rows))) == 1
        ):
            return _unknown_skill_error(name, rows, first_causes, candidate_set)
    messages = [_conflict_message(name, rows, first_causes, candidate_set) for name, rows in conflicts.items()]
    name, rows = next(iter(conflicts.items()))
    hints = (
        too_new_hint(name, _requirements_in(rows), candidate_set),
        _conflict_hint(name, conflicts, first_causes, candidate_set),
    )
    return ConflictError(
        "; also, ".join(messages[:MAX_NAMES]),
        where=_manifest_location(conflicts.values()),
        hint="; or ".join(filter(None, hints)),
    )


def _conflict_message(
    name: SkillName, constraints: Constraints, first_causes: FirstCauses, candidate_set: CandidateSet
) -> str:
    ordered = _sort_constraints(constraints)
    sentences = [
        _constraint_message(name, requirer, requirement, candidates, first_causes)
        for (requirer, requirement), candidates in ordered[:MAX_SENTENCES]
    ]
    if len(ordered) > MAX_SENTENCES:
        sentences.append(f"{len(ordered) - MAX_SENTENCES} more have other requirements")
    return join_words(sentences) + _conflict_summary(name, constraints, candidate_set)


def _requirements_in(constraints: Constraints) -> list[Requirement]:
    return list(dict.fromkeys(requirement for _, requirement in constraints))


def _sort_constraints(
    constraints: Constraints,
) -> list[tuple[tuple[SkillName | None, Requirement], list[Candidate]]]:
    """Sort requirements: the manifest's first, then by the skill that has them, newest version first."""
    ordered = sorted(constraints.items(), key=lambda row: max((it.sort_key for it in row[1]), default=()), reverse=True)
    return sorted(ordered, key=lambda row: row[0][0] or "")


def _constraint_message(
    name: SkillName,
    requirer: SkillName | None,
    requirement: Requirement,
    candidates: Sequence[Candidate],
    first_causes: FirstCauses,
) -> str:
    required = f"`{name}`{requirement.phrase}"
    if requirer is None:
        return f"{requirement.requirer} {required}"
    versions = format_versions(candidates)
    verb = "requires" if len({candidate.version for candidate in candidates}) == 1 else "require"
    reason = _inclusion_reason(requirer, first_causes)
    return f"`{requirer}`{f' {versions}' if versions else ''}{reason} {verb} {required}"


def _inclusion_reason(name: SkillName, first_causes: FirstCauses) -> str:
    """Return why a skill is part of the resolution; empty if the manifest requires any version of it."""
    requirement, parent = first_causes[name]
    if parent is not None:
        return f" (required by `{parent.name}`)"
    source = requirement.phrase
    return f" ({requirement.requirer} `{name}`{source})" if source else ""


def _conflict_summary(name: SkillName, constraints: Constraints, candidate_set: CandidateSet) -> str:
    requirements = _requirements_in(constraints)
    if len(candidate_set.find_origins(name, requirements)) > 1:
        return "; a skill can have only one source"
    which = "both" if len(requirements) == 2 else "all of them" if len(requirements) > 2 else "it"  # noqa: PLR2004
    return f"; no version of `{name}` satisfies {which}; {describe_available(name, requirements, candidate_set)}"


def _unknown_skill_error(
    name: SkillName, constraints: Constraints, first_causes: FirstCauses, candidate_set: CandidateSet
) -> SkillpmError:
    """Return the error for a name without any version, with the provider's own reason."""
    (requirer, requirement), candidates = _sort_constraints(constraints)[0]
    # `versions` only omits unknown names. `pin` raises for them, with the places searched and similar names.
    try:
        if requirement.source is not None:
            candidate_set.provider.pin({name: requirement.source})
        error: SkillpmError = NotFoundError(f"`{name}` was not found", hint=name_repository_hint(name))
    except NotFoundError as not_found:
        error = not_found
    if requirer is None:
        return error
    message = _constraint_message(name, requirer, requirement, candidates, first_causes)
    hint = f"report it to its author, or install `{name}` from elsewhere: skillpm install owner/repo@{name}"
    return NotFoundError(f"{message}, which was not found: {error.message}", hint=hint)


def _manifest_location(groups: Iterable[Constraints]) -> str:
    """Return the key of the first conflicting requirement in the manifest, which the user can edit; or empty."""
    roots = (requirement for rows in groups for requirer, requirement in rows if requirer is None)
    requirements = (requirement for requirement in roots if not requirement.is_new)
    return next((f"{requirement.manifest}: skills.{requirement.name}" for requirement in requirements), "")


def _conflict_hint(
    name: SkillName,
    constraints: Mapping[SkillName, Constraints],
    first_causes: FirstCauses,
    candidate_set: CandidateSet,
) -> str:
    requirements = _requirements_in(constraints[name])
    has_two_sources = len(candidate_set.find_origins(name, requirements)) > 1
    is_range = not has_two_sources and any(it.source and it.source.has_open_version for it in requirements)
    requirers = {requirer for rows in constraints.values() for requirer, _ in rows}
    constrained = sorted(requirer for requirer in requirers if requirer and _is_constrained(first_causes[requirer]))
    if None in requirers:
        roots = [it for rows in constraints.values() for requirer, it in rows if requirer is None]
        manifests = {it.manifest for it in roots if not it.is_new}
        place = "one of these manifests" if len(manifests) > 1 else "".join(manifests)
        advice = "use the other source" if has_two_sources else "require another version"
        advice += f" in {place}, or " if place else ", or "
    elif constrained:
        names = join_words([f"`{requirer}`" for requirer in constrained])
        is_in_manifest = any(not first_causes[requirer][0].is_new for requirer in constrained)
        advice = f"allow other versions of {names}{' in skills.json' if is_in_manifest else ''}, or "
    else:
        advice = ""
    value = '"…"' if is_range else "{…}"
    return f'{advice}override what the skills require: "overrides": {{"{name}": {value}}} in skills.json'


def _is_constrained(cause: Cause) -> bool:
    """Return whether the manifest itself excludes other versions of a skill."""
    requirement, parent = cause
    return parent is None and requirement.range.text != "*"
