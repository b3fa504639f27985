"""`update`: the newest that the manifest allows: branch heads, moved tags, the bundled version."""

from collections.abc import Collection, Sequence

from skillpm.documents.git_words import short_commit
from skillpm.documents.lockfile import Lockfile
from skillpm.documents.names import SkillName
from skillpm.documents.pin import GitPin
from skillpm.documents.spelling import near
from skillpm.errors import NotFoundError
from skillpm.operations.change import Changed, Options, change
from skillpm.operations.paperwork import Paperwork, read_paperwork
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools


def update(scope: Scope, tools: Tools, names: Sequence[str], options: Options) -> Changed:
    """Lock the newest of these skills, or of all, and install it. One that is to be kept stays locked as it is."""
    before = read_paperwork(scope, tools).lockfile
    touched = options.but(
        wishes=options.wishes.but(touched=names or None, inexact=bool(names), leaves_edits=not options.wishes.force)
    )

    def upgraded(papers: Paperwork) -> Collection[SkillName]:
        return [name for name in chosen(papers, names) if name not in options.wishes.keep]

    result = change(scope, tools, touched, lambda papers: papers, upgraded)
    after = before if options.dry_run else read_paperwork(scope, tools).lockfile
    moved = tuple(moved_tags(before, after))
    for message in moved:
        tools.reporter.warning(message)
    return result.but(warnings=tuple(tools.reporter.warnings))


def chosen(papers: Paperwork, names: Sequence[str]) -> list[SkillName]:
    """Give the requirements meant: all where none is named."""
    known = {**dict.fromkeys(papers.requirements), **dict.fromkeys(papers.lockfile.skills)}
    for name in names:
        if name not in known:
            similar = near(name, known)
            hint = f"did you mean {', '.join(similar)}?" if similar else "`skillpm list` shows what is there"
            raise NotFoundError(f"the manifest has no skill `{name}`", hint=hint, where=papers.manifest.file)
    return [name for name in known if not names or name in names]


def moved_tags(before: Lockfile, after: Lockfile) -> list[str]:
    """Say which tags do not mean what they meant: a tag is a promise, and somebody broke it."""
    return [f"{name}: {said}" for name, said in tags_that_moved(before, after).items()]


def tags_that_moved(before: Lockfile, after: Lockfile) -> dict[SkillName, str]:
    """Give what is to be said of each skill whose tag moved."""
    messages = {}
    for name, skill in sorted(after.skills.items()):
        old = before.skills.get(name)
        if (
            old is not None
            and isinstance(old.pin, GitPin)
            and isinstance(skill.pin, GitPin)
            and old.pin.ref == skill.pin.ref
            and old.pin.url == skill.pin.url
            and old.pin.commit != skill.pin.commit
            and skill.pin.ref.startswith("refs/tags/")
        ):
            tag = skill.pin.ref.removeprefix("refs/tags/")
            moved = f"{short_commit(old.pin.commit)} → {short_commit(skill.pin.commit)}"
            messages[name] = f"tag {tag} moved {moved}"
    return messages
