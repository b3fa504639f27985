"""Tags that point at another commit than when they were locked."""

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.events import Reporter
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.pin import GitPin


def report_moved_tags(before: Lockfile, after: Lockfile, reporter: Reporter) -> None:
    """Warn about each tag that points at another commit than the locked one."""
    for name, message in find_moved_tags(before, after).items():
        reporter.warn(f"{name}: {message}")


def find_moved_tags(before: Lockfile, after: Lockfile) -> dict[SkillName, str]:
    """Return a message for each skill whose tag points at another commit than the locked one."""
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
