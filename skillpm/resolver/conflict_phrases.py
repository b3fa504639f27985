"""Phrases of conflict messages: requirements, available and excluded versions, and hints."""

from collections.abc import Sequence

from skillpm.core.exclude_newer import all_yanked_hint
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.kinds.base import Source
from skillpm.resolver.candidates import CandidateSet, ExcludedCandidate
from skillpm.resolver.search_space import Candidate, Requirement

MAX_VERSIONS = 6
MAX_REASONS = 3


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
