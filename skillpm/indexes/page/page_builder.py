"""The HTML catalog of an index: rendered at every build, checked by `index check`."""

from skillpm.core.file_tree import FileTree
from skillpm.formats.index_catalog import CatalogSkill
from skillpm.formats.index_releases import SkillReleases
from skillpm.indexes.page.header import PageHeader, compute_index_digest
from skillpm.indexes.page.renderer import PageRow, generator_id, render_page, render_skill_file
from skillpm.indexes.page.skill_entry import build_skill_page
from skillpm.skillmd.skill import Skill, read_skill


class PageBuilder:
    """Renders the page of an index and the files of its skills, one skill at a time: only rows are kept in memory."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._rows: list[PageRow] = []

    def add(self, summary: CatalogSkill, releases: SkillReleases, tree: FileTree | None, spec: str = "") -> bytes:
        """Add a skill with the files of its latest version, None if they are elsewhere; return its file.

        `spec` is what installs it, if that is not its name in this index.
        """
        files = tree or FileTree(files=())
        text = files.read(files.skill_file)
        skill = Skill(declared=summary.name, description="", body="") if text is None else read_skill(text)
        row, file = render_skill_file(summary, releases, build_skill_page(skill, files), spec)
        self._rows.append(row)
        return file

    def render(self) -> bytes:
        """Return the page of all skills that were added."""
        return render_page(self.name, self._sorted_rows())

    def find_problem(self, page: bytes, header: PageHeader) -> str | None:
        """Return what is wrong with an existing page that skillpm wrote.

        A page by another version of skillpm or of its libraries is accepted when its header names this state of the
        index; one by the same versions must be the same bytes.
        """
        rows = self._sorted_rows()
        if header.index_digest != compute_index_digest(self.name, [(row.summary, row.releases) for row in rows]):
            return "it shows another state of this index; run `skillpm index build` to write it again"
        if is_same_generator(header) and page != render_page(self.name, rows):
            return CHANGED
        return None

    def _sorted_rows(self) -> list[PageRow]:
        return sorted(self._rows, key=lambda row: row.summary.name)


CHANGED = "its bytes were changed after it was written; remove it and run `skillpm index build`"


def is_same_generator(header: PageHeader) -> bool:
    """Return whether this skillpm would write a page with the same bytes."""
    return header.generator == generator_id()
