"""Tags that point at another commit or manifest than when they were locked, and signers that changed."""

from skillpm.core.digest import shorten_digest, shorten_distinct_digests
from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.events import Reporter
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.pin import GitPin, OciPin


def report_moved_tags(before: Lockfile, after: Lockfile, reporter: Reporter) -> None:
    """Warn about each tag that no longer points at the locked object, and each changed signer."""
    for name, message in (*find_moved_tags(before, after).items(), *find_changed_signers(before, after).items()):
        reporter.warn(f"{name}: {message}")


def find_moved_tags(before: Lockfile, after: Lockfile) -> dict[SkillName, str]:
    """Return a message for each skill whose tag points at something else than is locked."""
    messages = {}
    for name, skill in sorted(after.skills.items()):
        match (before.skills[name].pin if name in before.skills else None), skill.pin:
            case GitPin(ref=ref) as old, GitPin() as new if ref.startswith("refs/tags/"):
                if (old.url, ref) == (new.url, new.ref) and old.commit != new.commit:
                    messages[name] = describe_move(ref.removeprefix("refs/tags/"), old.commit, new.commit)
            case OciPin(tag=tag) as old, OciPin() as new if tag:
                if (old.repository, tag) == (new.repository, new.tag) and old.manifest != new.manifest:
                    messages[name] = describe_move(tag, old.manifest, new.manifest)
    return messages


def find_changed_signers(before: Lockfile, after: Lockfile) -> dict[SkillName, str]:
    """Return a message for each skill whose signer differs from the locked one, or is missing."""
    old = {name: skill.signer for name, skill in before.skills.items() if skill.signer}
    return {
        name: describe_signers(old[name], skill.signer)
        for name, skill in sorted(after.skills.items())
        if skill.signer != old.get(name, skill.signer)
    }


def describe_signers(old: str, new: str) -> str:
    """Return the message for a changed or a missing signer."""
    if new:
        return "its signer changed {} → {}".format(*shorten_distinct_digests(old, new))
    return f"it has no trusted signature any more; {shorten_digest(old)} signed it before"


def describe_move(tag: str, old: str, new: str) -> str:
    """Return that a tag moved, from and to a commit or the digest of a manifest."""
    is_commit = not old.startswith("sha256:")
    shown = (short_commit(old), short_commit(new)) if is_commit else shorten_distinct_digests(old, new)
    return f"tag {sanitize(tag, 60)} moved {shown[0]} → {shown[1]}"
