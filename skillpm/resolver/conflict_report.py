"""The message and hint of an unsolvable resolution: which requirements conflict, and how to resolve that."""

from collections.abc import Iterable, Mapping, Sequence

from skillpm.core.exclude_newer import all_yanked_hint
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import ConflictError, NotFoundError, SkillpmError
from skillpm.kinds.base import Source
from skillpm.resolver.candidates import CandidateSet, ExcludedCandidate
from skillpm.resolver.search_space import Candidate, Requirement

MAX_NAMES = 4
MAX_SENTENCES = 5
# A requirement and the candidate that has it; None for the manifest.
Cause = tuple[Requirement, Candidate | None]


# The requirements on one name by who has them (None for the manifest), with the candidates of that skill.
Constraints = Mapping[tuple[SkillName | None, Requirement], list[Candidate]]
FirstCauses = Mapping[SkillName, Cause]
MAX_VERSIONS = 6
MAX_REASONS = 3


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


def format_versions(candidates: Sequence[Candidate]) -> str:
    """Return the versions of candidates for one skill, oldest first; of many, the first and the last."""
    versioned = [candidate for candidate in candidates if candidate.version]
    ordered = [sanitize(it.version, 40) for it in sorted(versioned, key=lambda candidate: candidate.sort_key)]
    unique = list(dict.fromkeys(ordered))
    if len(unique) > MAX_VERSIONS:
        return f"{unique[0]} to {unique[-1]} ({len(unique)} versions)"
    return join_words(unique)


def join_words(words: Sequence[str]) -> str:
    """Join words or clauses: `a, b and c`."""
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1] if words else ""


def list_versions(versions: Sequence[str]) -> str:
    """Join the first versions of a list, and say how many more there are."""
    more = [f"{len(versions) - MAX_VERSIONS} more"] if len(versions) > MAX_VERSIONS else []
    return join_words([*versions[:MAX_VERSIONS], *more])


def name_repository_hint(name: SkillName) -> str:
    """Return how to install a skill that no index has."""
    return f"name its repository: skillpm install owner/repo@{name}"


def no_version_message(name: SkillName, source: Source | None) -> str:
    """Return "no version of `pdf` from acme satisfies ^2" for what the manifest requires."""
    origin = "" if source is None else source.without_range().phrase()
    version_range = "*" if source is None else source.version_range
    satisfies = "can be installed" if version_range == "*" else f"satisfies {sanitize(version_range, 60)}"
    return f"no version of `{name}`{origin} {satisfies}"


def describe_available(name: SkillName, requirements: Sequence[Requirement], candidate_set: CandidateSet) -> str:
    """Return which versions are available, and which would satisfy the requirements but are excluded."""
    candidates = sorted(
        candidate_set.find_candidates(name, requirements), key=lambda candidate: candidate.sort_key, reverse=True
    )
    versions = list(dict.fromkeys(sanitize(it.version, 40) or "one without a version" for it in candidates))
    prereleases = [
        candidate
        for candidate in candidates
        if candidate.parsed_version is not None
        and candidate.parsed_version.is_prerelease
        and all(it.range.contains(candidate.parsed_version, prereleases=True) for it in requirements)
    ]
    clauses = [f"available: {list_versions(versions)}"] if versions else []
    clauses += [f"{sanitize(it.version, 40)} is a pre-release, which a range must name" for it in prereleases[:1]]
    clauses += _exclusion_reasons(_matching_excluded(name, requirements, candidate_set))
    # If nothing is left, all excluded versions explain it, not only those that satisfy the requirements.
    return "; ".join(clauses or _exclusion_reasons(_sort_excluded(name, candidate_set)) or ["none is available"])


def _matching_excluded(
    name: SkillName, requirements: Sequence[Requirement], candidate_set: CandidateSet
) -> list[ExcludedCandidate]:
    """Return the excluded versions, newest first, that satisfy the requirements."""
    return [
        item
        for item in _sort_excluded(name, candidate_set)
        if all(it.range.contains(item.candidate.parsed_version, prereleases=True) for it in requirements)
    ]


def _sort_excluded(name: SkillName, candidate_set: CandidateSet) -> list[ExcludedCandidate]:
    return sorted(candidate_set.excluded.get(name, ()), key=lambda item: item.candidate.sort_key, reverse=True)


def _exclusion_reasons(excluded: Sequence[ExcludedCandidate]) -> list[str]:
    """Return a clause for each of the first reasons, with all versions that it excludes."""
    clauses = []
    reasons = [*dict.fromkeys((item.reason, item.is_too_new) for item in excluded)]
    for reason, is_too_new in reasons[:MAX_REASONS]:
        versions = [sanitize(item.candidate.version, 40) for item in excluded if item.reason == reason]
        is_plural = len(versions) > 1
        verb = ("are" if is_plural else "is") if is_too_new else ("were" if is_plural else "was")
        clauses.append(f"{list_versions(versions)} {verb} {reason}")
    if len(reasons) > MAX_REASONS:
        clauses.append("and more")
    return clauses


def too_new_hint(name: SkillName, requirements: Sequence[Requirement], candidate_set: CandidateSet) -> str:
    """Return how to allow the newest version that is excluded only by its age; empty if there is none."""
    versions = [
        item.candidate.version for item in _matching_excluded(name, requirements, candidate_set) if item.is_too_new
    ]
    return candidate_set.request.cutoff.allow_hint(versions[0]) if versions else ""


def alternative_hint(name: SkillName, requirements: Sequence[Requirement], candidate_set: CandidateSet) -> str:
    """Return what to do when no version satisfies the manifest: require one that is available, if any is."""
    if candidate_set.find_candidates(name, requirements) or any(
        item.is_too_new for item in candidate_set.excluded.get(name, ())
    ):
        return f"require another version, or name its repository: skillpm install owner/repo@{name}"
    return all_yanked_hint(name) if name in candidate_set.excluded else name_repository_hint(name)
