"""Where a locked skill may come from: the place that the manifest, or a skill that needs it, names."""

from typing import assert_never

from skillpm.documents.lockfile import Lockfile
from skillpm.documents.names import SkillName
from skillpm.documents.pin import BundledPin, GitPin, IndexPin, PathPin, Pin, UrlPin, describe_shortly
from skillpm.errors import RefusedError
from skillpm.operations.paperwork import Paperwork
from skillpm.operations.scope import Scope
from skillpm.sources.needs import read_needs
from skillpm.sources.source import (
    BundledSource,
    GitSource,
    IndexSource,
    PathSource,
    Source,
    UrlSource,
    requirement_value,
)


def named_sites(papers: Paperwork, lockfile: Lockfile) -> set[tuple[SkillName, str]]:
    """Give the skills whose requirement says itself at which address their index is, with that address."""
    return {
        (name, source.site)
        for name, sources in _named_places(papers, lockfile).items()
        for source in sources
        if isinstance(source, IndexSource)
    }


def check_places(scope: Scope, papers: Paperwork, lockfile: Lockfile, *, only_kept: bool = False) -> None:
    """Refuse a lockfile that lets a skill come from a place that neither the manifest nor a dependency names."""
    sources = _named_places(papers, lockfile)
    for name, locked in lockfile.skills.items():
        asked = papers.requirements.get(name)
        if only_kept and (
            name not in sources or lockfile.requirements.get(name) != (asked and requirement_value(asked))
        ):
            continue  # it will be resolved anew, or dropped
        if not any(allows(source, locked.pin) for source in sources.get(name, ())):
            says = "names another place" if name in sources else "does not name it"
            gone = f"the manifest no longer asks for `{name}`; run `skillpm lock{scope.flag}`"
            other = f"if the manifest was changed, run `skillpm lock{scope.flag}`; if not, see who changed the lockfile"
            raise RefusedError(
                f"`{name}` is locked to {describe_shortly(locked.pin)}, but the manifest {says}",
                where=f"{scope.lockfile}: skills.{name}.source",
                hint=other if name in sources else gone,
            )


def _named_places(papers: Paperwork, lockfile: Lockfile) -> dict[SkillName, list[Source]]:
    """Give where each skill may come from: as the manifest says, else as those say that need it."""
    sources: dict[SkillName, list[Source]] = {name: [source] for name, source in papers.requirements.items()}
    for parent, skill in lockfile.skills.items():
        for name, source in read_needs(skill.dependencies, f"`{parent}`").items() if skill.dependencies else ():
            sources.setdefault(name, []).append(source)
    return sources | {name: [source, *sources.get(name, ())] for name, source in papers.overrides.items()}


def allows(source: Source, pin: Pin) -> bool:
    """Tell whether a pin lies where a source says that the skill comes from."""
    match source:
        case GitSource():
            if not isinstance(pin, GitPin) or pin.url != source.url or (source.path and source.path != pin.path):
                return False
            expected = {"rev": "", "tag": f"refs/tags/{source.ref}", "branch": f"refs/heads/{source.ref}", "": "HEAD"}
            if source.kind == "rev" and pin.commit != source.ref:
                return False
            return source.kind in {"any", "version"} or pin.ref == expected[source.kind]
        case PathSource():
            return isinstance(pin, PathPin) and (pin.path, pin.link) == (source.path, source.link)
        case BundledSource():
            return isinstance(pin, BundledPin) and pin.name == source.name
        case IndexSource():
            return (isinstance(pin, IndexPin) and source.site in {"", pin.index}) or (
                isinstance(pin, BundledPin) and not source.index and pin.name == source.name
            )
        case UrlSource():
            return isinstance(pin, UrlPin) and pin.url == source.url
        case _:
            assert_never(source)
