"""Find the versions of an index that cannot be installed from it, with the resolver of its clients.

Only what is certain counts: a dependency on a skill that the index does not have may come from elsewhere.
"""

from collections.abc import Iterable, Mapping, Sequence

from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, SkillpmError
from skillpm.fetchers.bundled_paths import bundled_names
from skillpm.formats.index_releases import Release, SkillReleases
from skillpm.formats.lockfile import Lockfile
from skillpm.kinds.base import Pin, Source
from skillpm.kinds.index import IndexSource
from skillpm.resolver.candidates import CandidateSet, ResolutionRequest
from skillpm.resolver.provider import AvailableVersion, PinnedSkill
from skillpm.resolver.solver import solve


class UninstallableRelease(Value):
    """A version that is not yanked, and whose dependencies no versions of the index satisfy."""

    name: SkillName
    version: str
    reason: str


def find_uninstallable(releases: Mapping[SkillName, SkillReleases]) -> list[UninstallableRelease]:
    """Return the versions that cannot be installed, yanked ones excepted."""
    found = []
    for name, release in _unyanked(releases.values()):
        if any(dependency in releases for dependency in release.dependencies):
            provider = _IndexProvider(releases, name, release)
            request = ResolutionRequest(requirements={name: IndexSource(name=name)})
            try:
                solve(CandidateSet(request, provider, Lockfile()))
            except SkillpmError as error:
                found.append(UninstallableRelease(name=name, version=release.version, reason=error.message))
    return found


def find_external_dependencies(releases: Mapping[SkillName, SkillReleases]) -> dict[SkillName, list[str]]:
    """Return the skills that neither the index has nor skillpm bundles, and which versions require them."""
    external: dict[SkillName, list[str]] = {}
    for name, release in _unyanked(releases.values()):
        for dependency in map(SkillName, release.dependencies):
            if dependency not in releases and dependency not in bundled_names() and is_skill_name(dependency):
                external.setdefault(dependency, []).append(f"{name} {release.version}")
    return dict(sorted(external.items()))


def external_dependency_message(name: SkillName, requirers: Sequence[str], known: Iterable[SkillName]) -> str:
    """Return the warning about a dependency that users need from elsewhere; it may be one of `known`, mistyped."""
    suggestion = suggestion_hint(name, known)
    who = f"{requirers[0]} and {len(requirers) - 1} more require" if len(requirers) > 1 else f"{requirers[0]} requires"
    return f"{who} `{name}`, which is not in this index: {suggestion or 'users need it from elsewhere'}"


def _unyanked(skills: Iterable[SkillReleases]) -> Iterable[tuple[SkillName, Release]]:
    return ((skill.name, release) for skill in skills for release in skill.versions if not release.yanked)


class _IndexProvider:
    """The versions of an index, of which one is the only version of its skill."""

    def __init__(self, releases: Mapping[SkillName, SkillReleases], name: SkillName, release: Release) -> None:
        self._releases = {**releases, name: SkillReleases(name=name, versions=(release,))}

    def versions(
        self,
        wanted: Mapping[SkillName, Source],
        *,
        dated: bool = False,  # noqa: ARG002  (no version is too new)
    ) -> Mapping[SkillName, Sequence[AvailableVersion]]:
        """Return all versions of skills."""
        return {
            name: [
                AvailableVersion(
                    version=release.version,
                    source=IndexSource(name=name, version=f"=={release.version}"),
                    dependencies={key: value for key, value in release.dependencies.items() if key in self._releases},
                    yanked=release.yanked,
                    reason=release.reason,
                )
                for release in self._releases[name].versions
            ]
            for name in wanted
        }

    def pin(self, wanted: Mapping[SkillName, Source]) -> Mapping[SkillName, PinnedSkill]:
        """Raise `NotFoundError`: nothing is fetched."""
        raise NotFoundError(f"no version of `{min(wanted)}` can be installed")

    def pin_siblings(self, pin: Pin, names: Sequence[SkillName]) -> Mapping[SkillName, PinnedSkill]:  # noqa: ARG002
        """Return nothing: an index has no repositories."""
        return {}
