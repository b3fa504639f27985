"""The HTML catalog of an index (`catalog.html`): rendered at every build, checked by `index check`."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from skillpm.core.names import SkillName
from skillpm.formats.index_catalog import SkillSummary
from skillpm.formats.index_releases import Release, SkillReleases
from skillpm.indexes.page.header import compute_index_digest, read_header
from skillpm.indexes.page.renderer import PageEntry, generator_id, render_page
from skillpm.indexes.page.skill_entry import build_skill_page, text_limit_for
from skillpm.skillmd.skill import Skill


def build_page(
    name: str,
    skills: Sequence[tuple[SkillSummary, SkillReleases]],
    read_skill: Callable[[SkillName, Release], Skill],
) -> bytes:
    """Render the page of the index `name`; `read_skill` returns the SKILL.md of a skill's newest release.

    Entries are rendered one after the other, so that few texts are in memory at a time.
    """
    text_limit = text_limit_for(len(skills))

    def entries() -> Iterator[PageEntry]:
        for summary, releases in sorted(skills, key=lambda pair: pair[0].name):
            latest = next(release for release in releases.versions if release.version == summary.latest)
            page = build_skill_page(read_skill(summary.name, latest), text_limit)
            yield PageEntry(summary=summary, releases=releases, page=page)

    return render_page(name, entries(), text_limit)


def find_page_problem(
    page: bytes,
    name: str,
    skills: Sequence[tuple[SkillSummary, SkillReleases]],
    skills_by_name: Mapping[SkillName, Skill],
) -> str | None:
    """Return what is wrong with a page, or None where it is fine or was not written by skillpm.

    A page by another version of skillpm or of its libraries is accepted when its header names this state of the
    index; one by the same versions must be the same bytes. `skills_by_name` holds the newest SKILL.md of each skill.
    """
    header = read_header(page)
    if header is None:
        return None
    if header.index_digest != compute_index_digest(name, skills):
        return "it shows another state of this index; run `skillpm index build` to write it again"
    is_same_writer = (header.generator, header.text_limit) == (generator_id(), text_limit_for(len(skills)))
    if is_same_writer and page != build_page(name, skills, lambda skill, _: skills_by_name[skill]):
        return "its bytes were changed after it was written; remove it and run `skillpm index build`"
    return None
