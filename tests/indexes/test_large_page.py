"""A page of 5,000 skills: only visible rows are created, and every skill is found."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skillpm.core.digest import parse_digest
from skillpm.core.names import SkillName
from skillpm.formats.index_catalog import SkillSummary
from skillpm.formats.index_releases import Release, SkillReleases
from skillpm.indexes.page.renderer import PageEntry, render_page
from skillpm.indexes.page.skill_entry import MAX_TEXT_LENGTH, build_skill_page
from skillpm.skillmd.skill import Skill

if TYPE_CHECKING:
    from indexes.reader import Reader

pytestmark = pytest.mark.slow

TOPICS = ["deploy", "review", "test", "write", "read", "browse", "draft", "release", "convert", "measure"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    digest = parse_digest("sha256:" + "0" * 64, where="here")
    release = Release(version="1.0.0", url="archives/x.tar.gz", digest=digest, sha256="0" * 64, size=1)
    entries = []
    for number in range(5_000):
        topic, name = TOPICS[number % 10], SkillName(f"{TOPICS[number % 10]}-{number:04}")
        summary = SkillSummary(
            name=name,
            description=f"Use when asked to {topic} things of kind {number}, with all the care that they need.",
            category=f"kind-{number % 7}",
            tags=(topic, f"tag-{number % 40}"),
            latest="1.0.0",
        )
        read = Skill(declared=name, description="", body=f"# {topic}\n\nThis is text {number}.\n")
        releases = SkillReleases(name=name, versions=(release,))
        entries.append(PageEntry(summary=summary, releases=releases, page=build_skill_page(read, MAX_TEXT_LENGTH)))
    entries.sort(key=lambda entry: entry.summary.name)
    file = tmp_path_factory.mktemp("large") / "catalog.html"
    file.write_bytes(render_page("large", entries, MAX_TEXT_LENGTH))
    return f"file://{file}"


def row_count(reader: "Reader") -> int:
    count: int = reader.page.locator("#results li").count()
    return count


def test_only_visible_rows_are_created(reader: "Reader", page: str) -> None:
    reader.visit(page)
    assert (reader.count, row_count(reader)) == ("5,000 skills", 50)

    reader.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    reader.page.locator("#results li").nth(50).wait_for(state="attached")
    assert row_count(reader) == 200

    reader.page.locator("#search").fill("release")
    assert (reader.count, row_count(reader)) == ("500 of 5,000 skills", 50)
    assert reader.page.evaluate("scrollY") == 0


def test_every_skill_is_found_and_has_its_own_text(reader: "Reader", page: str) -> None:
    reader.visit(page)
    for number in (0, 15, 16, 4_999):
        name = f"{TOPICS[number % 10]}-{number:04}"
        reader.press("/")
        reader.page.locator("#search").fill(name)
        assert reader.names == [name]
        reader.press("Enter")
        assert reader.title == f"{name} 1.0.0"
        assert reader.text.split("\n")[-1] == f"This is text {number}."
    assert (reader.asked, reader.broken) == ([page], [])


def test_returning_to_the_list_restores_the_scroll_position(reader: "Reader", page: str) -> None:
    reader.visit(page)
    for count in (200, 350):
        reader.page.evaluate("scrollTo(0, document.body.scrollHeight)")
        reader.page.locator("#results li").nth(count - 1).wait_for(state="attached")
    row = reader.page.locator("a.row").nth(300)
    name = row.get_attribute("data-name")
    row.focus()
    reader.settle()
    before = row.bounding_box()
    reader.press("Enter")
    assert reader.title == f"{name} 1.0.0"

    reader.press("Escape")
    reader.page.locator("#list-view").wait_for()
    reader.settle()

    after = reader.page.locator(f"a[data-name={name}]").bounding_box()
    assert reader.focus == name
    assert before is not None
    assert after is not None
    assert abs(after["y"] - before["y"]) <= 1


def test_a_page_that_is_still_loading_shows_its_list(reader: "Reader", page: str, tmp_path: Path) -> None:
    whole = Path(page.removeprefix("file://")).read_text(encoding="utf-8")
    cut = tmp_path / "catalog.html"
    cut.write_text(whole[: whole.index('id="part-3"')], encoding="utf-8")

    reader.visit(f"file://{cut}")

    assert reader.count == "5,000 skills"
    reader.page.locator("a.row").first.click()
    assert reader.text.endswith("This is text 5.")
    reader.visit(f"file://{cut}#/skill/write-4993")
    assert reader.text == (
        "The text of this skill cannot be shown: the browser is too old, or the page was not loaded completely."
    )
