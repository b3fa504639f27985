"""An index in memory, as a `Provider` for tests. It counts how often each name is queried."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from skillpm.core.digest import Digest
from skillpm.core.exclude_newer import parse_cutoff
from skillpm.core.names import SkillName
from skillpm.errors import NotFoundError, SkillpmError
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.kinds.base import Pin, Source
from skillpm.kinds.git import GitPin, GitSource
from skillpm.kinds.index import IndexPin, IndexSource
from skillpm.requirements.manifest_requirements import parse_locked_requirement
from skillpm.resolver.candidates import ResolutionRequest
from skillpm.resolver.provider import AvailableVersion
from skillpm.resolver.resolution import resolve

Versions = Mapping[str, Any]
"""By version: its dependencies, or `{"needs": …, "yanked": …, "published": …}`."""


class Catalogue:
    """Skills by name, each with its versions. A name like `git: https://h/r` is a repository, its versions tags."""

    def __init__(self, skills: Mapping[str, Versions]) -> None:
        self.skills = {name: {at: _entry(output) for at, output in found.items()} for name, found in skills.items()}
        self.asked: Counter[str] = Counter()
        self.calls = 0

    def versions(
        self,
        wanted: Mapping[SkillName, Source],
        *,
        dated: bool = False,
    ) -> dict[SkillName, Sequence[AvailableVersion]]:
        self.calls += 1
        found: dict[SkillName, Sequence[AvailableVersion]] = {}
        for name, source in wanted.items():
            key = _key(name, source)
            self.asked[key] += 1
            if key in self.skills:
                found[name] = [
                    AvailableVersion(
                        version=version,
                        source=_exactly(source, version),
                        # What a tag needs is only known when it is fetched.
                        dependencies=None if isinstance(source, GitSource) else entry["needs"],
                        yanked=entry.get("yanked", False),
                        published=entry.get("published", "") if dated else "",
                    )
                    for version, entry in self.skills[key].items()
                ]
        return found

    def pin(self, wanted: Mapping[SkillName, Source]) -> dict[SkillName, FetchedSkill]:
        return {name: self._pinned(name, source) for name, source in wanted.items()}

    def pin_siblings(self, pin: Pin, names: Sequence[SkillName]) -> dict[SkillName, FetchedSkill]:  # noqa: ARG002
        return {}

    def _pinned(self, name: SkillName, source: Source) -> FetchedSkill:
        key = _key(name, source)
        if key not in self.skills:
            raise NotFoundError(f"no index knows `{name}`", hint=f"name its repository: owner/repo@{name}")
        versions = self.skills[key]
        version = source.version.removeprefix("==") if isinstance(source, IndexSource) else getattr(source, "ref", "")
        version = version if version in versions else next(iter(versions))
        if versions[version].get("gone"):
            raise NotFoundError(f"`{name}` {version} is gone")
        pin: Pin = IndexPin(
            index="https://index.example/", url=f"https://index.example/{name}-{version}", sha256="0" * 64
        )
        if isinstance(source, GitSource):
            pin = GitPin(url=source.url, commit="1" * 40, tree="2" * 40, ref=f"refs/tags/{version}")
        output = "" if version == "HEAD" else version
        return FetchedSkill(
            pin=pin, digest=Digest("sha256:" + "0" * 64), version=output, dependencies=versions[version]["needs"]
        )

    def lockfile(self, requirements: Mapping[str, Any], taken: Mapping[str, str]) -> Lockfile:
        """Return an earlier lockfile with these requirements and versions."""
        skills = {}
        for name, version in taken.items():
            source = parse_locked_requirement(SkillName(name), requirements.get(name, "*"))
            found = self._pinned(SkillName(name), _exactly(source, version))
            skills[SkillName(name)] = LockedSkill(
                pin=found.pin, digest=found.digest, version=version, dependencies=found.dependencies
            )
        return Lockfile(requirements={SkillName(name): value for name, value in requirements.items()}, skills=skills)


def _entry(value: Any) -> dict[str, Any]:
    return dict(value) if {"needs"} & value.keys() else {"needs": value}


def _key(name: SkillName, source: Source) -> str:
    if isinstance(source, GitSource):
        return f"git: {source.url}"
    index = source.index if isinstance(source, IndexSource) else ""
    return f"{index}: {name}" if index else name


def _exactly(source: Source, version: str) -> Source:
    if isinstance(source, GitSource):
        return source.replace(kind="tag", ref=version)
    assert isinstance(source, IndexSource)
    return source.replace(version=f"=={version}")


def answer(
    catalogue: Catalogue, asked: Mapping[str, Any], locked: Lockfile, **more: Any
) -> dict[str, str] | SkillpmError:
    """Resolve; return the version of each name, or the error."""
    overrides = {
        SkillName(name): parse_locked_requirement(SkillName(name), value)
        for name, value in more.pop("overrides", {}).items()
    }
    requirements = {SkillName(name): parse_locked_requirement(SkillName(name), value) for name, value in asked.items()}
    if day := more.pop("exclude-newer", ""):
        more["cutoff"] = parse_cutoff(day, 0)
    try:
        resolution = resolve(
            ResolutionRequest(requirements=requirements, overrides=overrides, **more), catalogue, locked
        )
    except SkillpmError as error:
        return error
    return {name: skill.version for name, skill in resolution.lockfile.skills.items()}
