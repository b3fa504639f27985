"""Find skills of a project that are symlinks to places outside it.

A cloned project could otherwise show the user's private files to an agent: a link `notes -> ~/.ssh` is enough. Nothing
the project ships permits such a link, not even a receipt, except its manifest: that is the document that declares where
skills come from, and the one that people review.
"""

import os
from collections.abc import Collection, Iterable

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError
from skillpm.files import find_link_out, is_below
from skillpm.formats.manifest import Manifest, read_manifest
from skillpm.installer.consistent_view import ReadView, open_view
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.skill_file import find_skill_file

ESCAPING_LINK_MESSAGE = "it is a link that points outside the project; to allow it, run `skillpm install DIR --link`"


def boundary_of(root: str, home: str) -> str:
    """Return the folder that no link of a project may leave: its git repository, because that is cloned as a whole.

    A repository that is the user's home or the file system root was not cloned from anywhere (dotfiles are often
    tracked that way), so there the boundary is the project itself.
    """
    folder = find_repository_root(root)
    return root if os.path.realpath(folder) in {os.path.realpath(home), os.path.realpath(os.sep)} else folder


def find_repository_root(root: str) -> str:
    """Return the root of the git repository that contains a folder, or the folder itself outside of git."""
    folder = root
    while not os.path.lexists(os.path.join(folder, ".git")):
        if os.path.dirname(folder) == folder:
            return root
        folder = os.path.dirname(folder)
    return folder


def has_escaping_link(layout: Layout, name: str) -> bool:
    """Return whether one skill is an unrequested link to outside the project; see `find_escaping_links`."""
    return bool(find_escaping_links(layout, [name]))


def find_escaping_links(layout: Layout, names: Iterable[str]) -> set[str]:
    """Return the skills whose folder or SKILL.md is a link to outside the project and not a live link in its manifest.

    Empty for the user's own skills directory: its links were made by the user.
    """
    if not layout.boundary:
        return set()
    view, boundary = open_view(layout), os.path.realpath(layout.boundary)
    outside = {name for name in names if _is_outside(view, name, boundary)}
    return outside - _find_requested_links(view, outside) if outside else outside


def list_linked_folders(layout: Layout) -> set[str]:
    """Return the names in a project's skills directory that are links; empty for the user's own directory."""
    if not layout.boundary:
        return set()
    try:
        with os.scandir(layout.directory) as entries:
            return {entry.name for entry in entries if entry.is_symlink() and not entry.name.startswith(".")}
    except OSError:
        return set()


def _is_outside(read_view: ReadView, name: str, boundary: str) -> bool:
    folder = read_view.skill_path(name)
    file = f"{folder}/{find_skill_file(folder)}"
    # `realpath` for ten thousand skills is slow, and a real folder in its place cannot lead anywhere else. During
    # a change, however, the view may already have replaced a staged live link by its target: that is always resolved.
    if folder == read_view.layout.skill_path(name) and not (os.path.islink(folder) or os.path.islink(file)):
        return False
    return not all(is_below(os.path.realpath(path), boundary) for path in (folder, file))


def _find_requested_links(read_view: ReadView, names: Collection[str]) -> set[str]:
    """Return the skills that the manifest declares as live links and that point where it says."""
    root = os.path.dirname(read_view.layout.directory)
    path = os.path.join(root, "skills.json")
    try:
        text = read_view.read_document("manifest", path)
        manifest = None if text is None else read_manifest(text, path)
    except DocumentError:  # reported by the command that needs the manifest
        manifest = None
    if manifest is None:
        return set()
    return {
        name
        for name in names
        if os.path.realpath(read_view.skill_path(name))
        in _live_link_targets(manifest, name, root, read_view.layout.boundary)
    }


def _live_link_targets(manifest: Manifest, name: str, root: str, boundary: str) -> set[str]:
    """Return the resolved targets that a manifest declares for a live link of this name.

    Not those to which a path leads by a link of the checkout: there, nobody who reads the manifest sees it.
    """
    from skillpm.requirements.manifest_requirements import read_requirement  # noqa: PLC0415

    targets = set()
    for key, table in (("overrides", manifest.overrides), ("skills", manifest.skills)):
        try:
            value = table.get(SkillName(name))
            source = value and read_requirement(SkillName(name), JsonNode(value, manifest.file, (key, name)))
        except DocumentError:
            continue
        if source and source.is_live_link:
            path = os.path.join(root, os.path.expanduser(source.local_path))
            if not find_link_out(path, boundary):
                targets.add(os.path.realpath(path))
    return targets
