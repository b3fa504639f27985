"""Tags that point at another commit or manifest than when they were locked, branches that went back, and signers."""

from skillpm.core.digest import shorten_digest, shorten_distinct_digests
from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.events import Reporter
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import Lockfile
from skillpm.kinds.git import GitPin


def report_moved_tags(before: Lockfile, after: Lockfile, fetchers: FetcherDispatcher, reporter: Reporter) -> None:
    """Warn about each tag that no longer points at the locked object, each branch that went back, each new signer."""
    found = (
        find_moved_tags(before, after),
        find_reset_branches(before, after, fetchers),
        find_changed_signers(before, after),
    )
    for name, message in (item for messages in found for item in messages.items()):
        reporter.warn(f"{name}: {message}")


def find_reset_branches(before: Lockfile, after: Lockfile, fetchers: FetcherDispatcher) -> dict[SkillName, str]:
    """Return a message for each skill whose branch has an older commit than is locked, as after a force-push.

    Both commits are compared by their dates, as far as they are cached: their history would be one more request.
    """
    pins: dict[SkillName, tuple[GitPin, GitPin]] = {}
    for name, skill in sorted(after.skills.items()):
        match (before.skills[name].pin if name in before.skills else None), skill.pin:
            case GitPin(follows_branch=True) as old, GitPin() as new if (old.url, old.ref) == (new.url, new.ref):
                if old.commit != new.commit:
                    pins[name] = old, new
    if not pins:
        return {}
    old_times, new_times = (
        fetchers.read_commit_times({name: pair[side] for name, pair in pins.items()}) for side in (0, 1)
    )
    return {
        name: f"{old.branch_label} went back {short_commit(old.commit)} → {short_commit(new.commit)}, an older commit"
        for name, (old, new) in pins.items()
        if (was := old_times[name]) and (now := new_times[name]) and now < was
    }


def find_moved_tags(before: Lockfile, after: Lockfile) -> dict[SkillName, str]:
    """Return a message for each skill whose tag points at something else than is locked."""
    messages = {}
    for name, skill in sorted(after.skills.items()):
        if name in before.skills:
            old, new = before.skills[name].pin, skill.pin
            (tag, locked), (new_tag, found) = old.tagged(), new.tagged()
            if tag and tag == new_tag and locked != found and old.origin() == new.origin():
                messages[name] = describe_move(tag, locked, found)
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
    return f"it no longer has a trusted signature; {shorten_digest(old)} signed it before"


def describe_move(tag: str, old: str, new: str) -> str:
    """Return that a tag moved, from and to a commit or the digest of a manifest."""
    is_commit = not old.startswith("sha256:")
    shown = (short_commit(old), short_commit(new)) if is_commit else shorten_distinct_digests(old, new)
    return f"tag {sanitize(tag, 60)} moved {shown[0]} → {shown[1]}"
