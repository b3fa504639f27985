"""Who asks for which versions of a skill, and whose word keeps it from being newer."""

from collections.abc import Mapping, Sequence

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.suggestions import guess
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.core.versions import ANY, range_of, version_of
from skillpm.errors import NotFoundError
from skillpm.formats.lockfile import Lockfile
from skillpm.operations.context.project_files import Paperwork
from skillpm.requirements.dependency_spec import is_range_of, range_text, read_needs
from skillpm.requirements.source import GitSource, Source


class Asker(Value):
    """Somebody who asks for a skill: `who` as a sentence names it, and the source that is asked for."""

    who: str
    source: Source


Askers = Mapping[SkillName, Sequence[Asker]]


def chosen(papers: Paperwork, names: Sequence[str]) -> list[SkillName]:
    """Give the requirements meant: all where none is named."""
    known = {**dict.fromkeys(papers.requirements), **dict.fromkeys(papers.lockfile.skills)}
    for name in names:
        if name not in known:
            hint = guess(name, known, "`skillpm list` shows what is there")
            raise NotFoundError(f"the manifest has no skill `{show(name)}`", hint=hint, where=papers.manifest.file)
    return [name for name in known if not names or name in names]


def askers_of(papers: Paperwork, lockfile: Lockfile) -> Askers:
    """Give who asks for each locked skill: the manifest and skills that need it, or the overrides in their place."""
    found: dict[SkillName, list[Asker]] = {}
    for name, source in papers.requirements.items():
        found.setdefault(name, []).append(Asker(who="skills.json", source=source))
    for parent, skill in sorted(lockfile.skills.items()):
        for name, source in read_needs(skill.dependencies, f"`{parent}`").items() if skill.dependencies else ():
            found.setdefault(name, []).append(Asker(who=f"`{parent}`", source=source))
    for name, source in papers.overrides.items():
        found[name] = [Asker(who="an override in skills.json", source=source)]
    return {name: asks for name, asks in found.items() if name in lockfile.skills}


def pinned_by(asks: Sequence[Asker]) -> str:
    """Say who pins a skill to a tag or a commit; nothing where nobody does."""
    for ask in asks:
        if isinstance(ask.source, GitSource) and ask.source.kind in {"tag", "rev"}:
            what = f"tag {show(ask.source.ref, 60)}" if ask.source.kind == "tag" else short_commit(ask.source.ref)
            return f"{ask.who} pins it to {what}"
    return ""


def kept_from(version: str, asks: Sequence[Asker]) -> str:
    """Say whose range a version does not lie in, or who pins the skill; nothing where nobody's word is against it."""
    if pinned := pinned_by(asks):
        return pinned
    parsed = version_of(version)
    for ask in asks:
        wanted = range_text(ask.source)
        if is_range_of(ask.source) and wanted != ANY and not range_of(wanted).holds(parsed, early=True):
            return f"{ask.who} asks for {show(wanted, 60)}"
    return ""
