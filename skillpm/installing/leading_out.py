"""Hand-made skills of a project that are links out of it: whoever sent the project would name what of ours is shown."""

import os
from collections.abc import Iterable

from skillpm.files import is_below
from skillpm.installing.layout import Layout
from skillpm.installing.skill_file import skill_file_in

LEADS_OUT = "it is a link that leads out of the project; if it is meant, `skillpm install DIR --link` installs it"


def leads_out(layout: Layout, name: str) -> bool:
    """Tell whether a skill's folder, or its SKILL.md, is a link that leads out of the project it lies in.

    In the user's own skills directory no link does: they made it.
    """
    if not layout.fence:
        return False
    folder = layout.skill(name)
    file = f"{folder}/{skill_file_in(folder)}"
    if not (os.path.islink(folder) or os.path.islink(file)):
        return False
    fence = os.path.realpath(layout.fence)
    return not all(is_below(os.path.realpath(path), fence) for path in (folder, file))


def those_leading_out(layout: Layout, names: Iterable[str]) -> set[str]:
    """Give those that lead out of the project."""
    return {name for name in names if leads_out(layout, name)} if layout.fence else set()


def linked_folders(layout: Layout) -> set[str]:
    """Give the names in a project's skills directory that are links; in the user's own they do not matter."""
    if not layout.fence:
        return set()
    try:
        with os.scandir(layout.directory) as entries:
            return {entry.name for entry in entries if entry.is_symlink() and not entry.name.startswith(".")}
    except OSError:
        return set()
