"""What there would be to take, told of a name for which nothing fits: other versions, and those kept back."""

from collections.abc import Sequence

from skillpm.core.exclude_newer import all_yanked_hint, allow_newer_hint
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.resolver.candidates import CandidateSet, ExcludedCandidate
from skillpm.resolver.conflict_phrases import list_versions, name_repository_hint
from skillpm.resolver.search_space import Requirement

MAX_REASONS = 3


def describe_available(name: SkillName, requirements: Sequence[Requirement], candidate_set: CandidateSet) -> str:
    """Say which versions there are, and which there would be if they were not kept back."""
    options = sorted(
        candidate_set.find_candidates(name, requirements), key=lambda option: option.sort_key, reverse=True
    )
    versions = list(dict.fromkeys(sanitize(option.version, 40) or "one without a version" for option in options))
    early = [
        option
        for option in options
        if option.parsed_version is not None
        and option.parsed_version.is_prerelease
        and all(need.range.contains(option.parsed_version, prereleases=True) for need in requirements)
    ]
    verb = "are" if len(versions) > 1 else "is"
    said = [f"there {verb} {list_versions(versions)}"] if versions else []
    said += [f"{sanitize(option.version, 40)} is a pre-release, to be asked for as such" for option in early[:1]]
    said += _exclusion_reasons(_matching_excluded(name, requirements, candidate_set))
    # Where nothing at all is left, what was kept back tells why, whether it would do or not.
    return "; ".join(said or _exclusion_reasons(_sort_excluded(name, candidate_set)) or ["there is none"])


def _matching_excluded(
    name: SkillName, requirements: Sequence[Requirement], candidate_set: CandidateSet
) -> list[ExcludedCandidate]:
    """Give the versions, the newest first, that would do but may not be taken."""
    return [
        item
        for item in _sort_excluded(name, candidate_set)
        if all(need.range.contains(item.candidate.parsed_version, prereleases=True) for need in requirements)
    ]


def _sort_excluded(name: SkillName, candidate_set: CandidateSet) -> list[ExcludedCandidate]:
    return sorted(candidate_set.excluded.get(name, ()), key=lambda item: item.candidate.sort_key, reverse=True)


def _exclusion_reasons(excluded: Sequence[ExcludedCandidate]) -> list[str]:
    """Say why versions may not be taken, all that it holds for in one sentence; of very many reasons the first."""
    said = []
    reasons = [*dict.fromkeys((item.reason, item.is_too_new) for item in excluded)]
    for why, is_young in reasons[:MAX_REASONS]:
        versions = [sanitize(item.candidate.version, 40) for item in excluded if item.reason == why]
        several = len(versions) > 1
        verb = ("are" if several else "is") if is_young else ("were" if several else "was")
        said.append(f"{list_versions(versions)} {verb} {why}")
    if len(reasons) > MAX_REASONS:
        said.append("and so on")
    return said


def too_new_hint(name: SkillName, requirements: Sequence[Requirement], candidate_set: CandidateSet) -> str:
    """Say what to do where a version would do that is only too young."""
    young = [
        item.candidate.version for item in _matching_excluded(name, requirements, candidate_set) if item.is_too_new
    ]
    return allow_newer_hint(young[0]) if young else ""


def alternative_hint(name: SkillName, requirements: Sequence[Requirement], candidate_set: CandidateSet) -> str:
    """Say what to do where no version will do: ask for one that there is, if there is one."""
    if candidate_set.find_candidates(name, requirements) or any(
        item.is_too_new for item in candidate_set.excluded.get(name, ())
    ):
        return "ask for another version, or name the repository it is in"
    return all_yanked_hint(name) if name in candidate_set.excluded else name_repository_hint(name)
