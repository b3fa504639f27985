"""Require confirmation before a whole repository is installed: a SKILL.md at its top makes all its files one skill."""

from collections.abc import Mapping

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError
from skillpm.formats.lockfile import Lockfile
from skillpm.kinds.git import GitPin
from skillpm.store import Store

MAX_UNCONFIRMED_FILES = 200


class WholeRepository(RefusedError):
    """A skill that is a repository with many files, which the user has not confirmed."""


def find_whole_repositories(store: Store, before: Lockfile, after: Lockfile) -> Mapping[SkillName, str]:
    """Return a message for each skill that is a repository with many files, unless it was locked before."""
    messages = {}
    for name, skill in sorted(after.skills.items()):
        old, pin = before.skills.get(name), skill.pin
        if not isinstance(pin, GitPin) or pin.path != "." or skill.digest is None:
            continue
        known = old.pin if old is not None else None
        if isinstance(known, GitPin) and (known.url, known.path, known.files) == (pin.url, pin.path, pin.files):
            continue
        tree = store.read(skill.digest, pin.store_variant())
        if tree is not None and len(tree.files) > MAX_UNCONFIRMED_FILES:
            messages[name] = f"`{name}` is the whole repository {sanitize(pin.url)}: {len(tree.files)} files"
    return messages


def require_confirmation(store: Store, before: Lockfile, after: Lockfile) -> None:
    """Raise `WholeRepository` for the first skill that has to be confirmed."""
    for name, message in find_whole_repositories(store, before, after).items():
        raise WholeRepository(
            message,
            hint='pass --yes to install all of them, or choose some with "files" in skills.json '
            "(`skillpm install … --files PATTERN`)",
            skills=[name],
        )
