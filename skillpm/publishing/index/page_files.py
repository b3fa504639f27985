"""Write the files of an HTML catalog into a folder, and remove those that show no skill any more."""

import os
from collections.abc import Collection, Iterable, Iterator

from skillpm.core.file_tree import FileTree
from skillpm.core.values import Value
from skillpm.files import translate_os_errors
from skillpm.formats.index_catalog import CatalogSkill
from skillpm.formats.index_releases import SkillReleases
from skillpm.publishing.index.output_dir import (
    PAGE_FILE,
    START_FILE,
    find_page_files,
    owns_start_page,
    skill_page_path,
)


class ShownSkill(Value):
    """A skill of the page."""

    summary: CatalogSkill
    releases: SkillReleases
    # The files of its latest version; None if they are elsewhere.
    tree: FileTree | None
    # What follows `skillpm install`; empty if the page is that of an index.
    spec: str = ""


def render_page_files(folder: str, name: str, skills: Iterable[ShownSkill]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the page: those of the skills first, since the page loads them."""
    from skillpm.indexes.page.page_builder import PageBuilder  # noqa: PLC0415  (imports jinja2)

    builder = PageBuilder(name)
    for skill in skills:
        file = builder.add(skill.summary, skill.releases, skill.tree, skill.spec)
        yield skill_page_path(skill.summary.name), file
    page = builder.render()
    yield PAGE_FILE, page
    if owns_start_page(folder):
        yield START_FILE, page


def find_stale_page_files(folder: str, names: Collection[str] | None) -> list[str]:
    """Return the files of a page that shows only the skills with these names; all of them for None."""
    current = set() if names is None else {PAGE_FILE, START_FILE, *map(skill_page_path, names)}
    return [path for path in find_page_files(folder) if path not in current]


def remove_stale_page_files(folder: str, names: Collection[str] | None) -> tuple[str, ...]:
    """Remove the files that `find_stale_page_files` finds, and return them."""
    stale = find_stale_page_files(folder, names)
    for path in stale:
        with translate_os_errors("remove a page", os.path.join(folder, path)):
            os.unlink(os.path.join(folder, path))
    return tuple(stale)
