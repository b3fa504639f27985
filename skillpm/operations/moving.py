"""Which tags do not mean what they meant."""

from skillpm.documents.git_words import short_commit
from skillpm.documents.lockfile import Lockfile
from skillpm.documents.names import SkillName
from skillpm.documents.pin import GitPin


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
