"""Tags that point at another commit or manifest than when they were locked."""

from skillpm.core.digest import shorten_distinct_digests
from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.events import Reporter
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.pin import GitPin, OciPin


def report_moved_tags(before: Lockfile, after: Lockfile, reporter: Reporter) -> None:
    """Warn about each tag that points at something else than is locked."""
    for name, message in find_moved_tags(before, after).items():
        reporter.warn(f"{name}: {message}")


def find_moved_tags(before: Lockfile, after: Lockfile) -> dict[SkillName, str]:
    """Return a message for each skill whose tag points at something else than is locked."""
    messages = {}
    for name, skill in sorted(after.skills.items()):
        match (before.skills[name].pin if name in before.skills else None), skill.pin:
            case GitPin() as old, GitPin() as new if (old.url, old.ref) == (new.url, new.ref):
                tag, moved = new.ref.removeprefix("refs/tags/"), (short_commit(old.commit), short_commit(new.commit))
                is_tag = tag != new.ref
            case OciPin() as old, OciPin() as new if (old.repository, old.tag) == (new.repository, new.tag):
                tag, moved = new.tag, shorten_distinct_digests(old.manifest, new.manifest)
                is_tag = tag != ""
            case _:
                continue
        if is_tag and moved[0] != moved[1]:
            messages[name] = f"tag {tag} moved {moved[0]} → {moved[1]}"
    return messages
