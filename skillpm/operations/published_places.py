"""Where archives and indexes lie: not in a skill that they hold, which would then hold them, too."""

import os
from shlex import join

from skillpm.documents.text import show
from skillpm.documents.tree import Tree
from skillpm.errors import RefusedError
from skillpm.fetching.local import would_be_part
from skillpm.indexes.building import Shelf
from skillpm.operations.drafting import ARCHIVES, Draft
from skillpm.operations.tools import Tools

PACKED = (".skill", *ARCHIVES)


def check_place(draft: Draft, path: str, target: str, base: str) -> None:
    """Refuse to write an archive into the skill: the next one would hold it, and be other content of one version."""
    folder = os.path.normpath(os.path.join(base, draft.place))
    if draft.at or not os.path.isdir(folder) or not would_be_part(folder, target):
        return
    elsewhere = os.path.relpath(os.path.dirname(folder), base)
    way_out = join(["skillpm", "pack", *([] if path == "." else [path]), "--out", elsewhere])
    raise RefusedError(
        f"{show(os.path.relpath(target, base))} would lie in the skill that it packs, and be a part of it from then on",
        hint=f"write it elsewhere: `{show(way_out)}`, or let git ignore it; nothing was written",
    )


def check_out(tools: Tools, draft: Draft, shelf: Shelf) -> None:
    """Refuse an index within a skill that it publishes: the next build would find other content of that version."""
    folder = os.path.normpath(os.path.join(tools.settings.working_directory, draft.place))
    if not draft.at and os.path.isdir(folder) and would_be_part(folder, os.path.join(shelf.folder, "index.json")):
        raise RefusedError(
            f"the index would lie in {show(draft.place)}, a skill that it publishes, and be a part of it",
            hint="give --out a folder outside of it, or let git ignore that folder; nothing was written",
        )


def tell_among(tools: Tools, source: str, shelf: Shelf) -> None:
    """Warn, once, of an index whose files lie among the skills that it is built of."""
    whole = os.path.join(tools.settings.working_directory, source)
    if shelf.is_new and os.path.isdir(whole) and os.path.realpath(whole) == os.path.realpath(shelf.folder):
        tools.reporter.warning(
            f"the index lies among the skills that it is built of, in {show(source)}; --out public keeps them apart"
        )


def tell_archives(tools: Tools, draft: Draft, tree: Tree) -> None:
    """Warn of what looks like an older archive of the skill, and is about to be a part of it."""
    for file in tree.files:
        name = os.path.basename(file.path)
        if draft.is_current and name.endswith(PACKED) and (name.startswith(draft.name) or name.endswith(".skill")):
            tools.reporter.warning(
                f"{show(draft.place)}: {show(file.path)} looks like an older archive of this skill, and is packed with "
                "it; move it away, or let git ignore it"
            )
