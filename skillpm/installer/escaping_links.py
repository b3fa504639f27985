"""Skills of a project that are links out of it: whoever sent the project would name what of ours is shown.

What it sent besides, a receipt too, is no leave to do so. Only its manifest is: it says where skills may come from.
"""

import os
from collections.abc import Collection, Iterable

from skillpm.core.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError
from skillpm.files import is_below
from skillpm.formats.manifest import Manifest, read_manifest
from skillpm.installer.consistent_view import ReadView, open_view
from skillpm.installer.layout import Layout
from skillpm.installer.skill_file import find_skill_file

ESCAPING_LINK_MESSAGE = (
    "it is a link that leads out of the project; if it is meant, `skillpm install DIR --link` installs it"
)


def boundary_of(root: str, home: str) -> str:
    """Give what no skill of a project may lead out of: the git repository it lies in, which was sent as a whole.

    A repository that is somebody's home, or the root of everything, was not: there it is the project alone.
    """
    folder = find_repository_root(root)
    return root if os.path.realpath(folder) in {os.path.realpath(home), os.path.realpath(os.sep)} else folder


def find_repository_root(root: str) -> str:
    """Give the git root a folder lies in; outside of git, the folder itself."""
    folder = root
    while not os.path.lexists(os.path.join(folder, ".git")):
        if os.path.dirname(folder) == folder:
            return root
        folder = os.path.dirname(folder)
    return folder


def has_escaping_link(layout: Layout, name: str) -> bool:
    """Tell whether a skill's folder, or its SKILL.md, is a link out of the fence that its manifest does not ask for.

    In the user's own skills directory no link does: they made it.
    """
    return bool(find_escaping_links(layout, [name]))


def find_escaping_links(layout: Layout, names: Iterable[str]) -> set[str]:
    """Give those that lead out of the project, and are no live link that its manifest asks for."""
    if not layout.boundary:
        return set()
    seen, fence = open_view(layout), os.path.realpath(layout.boundary)
    outside = {name for name in names if _is_outside(seen, name, fence)}
    return outside - _find_requested_links(seen, outside) if outside else outside


def list_linked_folders(layout: Layout) -> set[str]:
    """Give the names in a project's skills directory that are links; in the user's own they do not matter."""
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
    # Where a change goes on, a live link is seen where it leads; else what is no link is where it lies.
    if folder == read_view.layout.skill_path(name) and not (os.path.islink(folder) or os.path.islink(file)):
        return False
    return not all(is_below(os.path.realpath(path), boundary) for path in (folder, file))


def _find_requested_links(read_view: ReadView, names: Collection[str]) -> set[str]:
    """Give those that the manifest asks for as live links, and that lead where it says."""
    root = os.path.dirname(read_view.layout.directory)
    path = os.path.join(root, "skills.json")
    try:
        text = read_view.read_document("manifest", path)
        manifest = None if text is None else read_manifest(text, path)
    except DocumentError:  # told by whoever reads it for itself
        manifest = None
    if manifest is None:
        return set()
    return {
        name
        for name in names
        if os.path.realpath(read_view.skill_path(name)) in _live_link_targets(manifest, name, root)
    }


def _live_link_targets(manifest: Manifest, name: str, root: str) -> set[str]:
    """Give where a manifest says that a live link of this name leads."""
    from skillpm.requirements.manifest_requirements import read_requirement  # noqa: PLC0415
    from skillpm.requirements.source import PathSource  # noqa: PLC0415  (only who has links out pays for it)

    found = set()
    for key, table in (("overrides", manifest.overrides), ("skills", manifest.skills)):
        try:
            value = table.get(SkillName(name))
            source = value and read_requirement(SkillName(name), JsonNode(value, manifest.file, (key, name)))
        except DocumentError:
            continue
        if isinstance(source, PathSource) and source.link:
            found.add(os.path.realpath(os.path.join(root, os.path.expanduser(source.path))))
    return found
