"""A page of 5,000 skills: only visible rows are created, and every skill is found."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skillpm.core.digest import parse_digest
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.formats.index_catalog import CatalogSkill
from skillpm.formats.index_releases import Release, SkillReleases
from skillpm.indexes.page.renderer import render_page, render_skill_file
from skillpm.indexes.page.skill_entry import build_skill_page
from skillpm.skillmd.skill import Skill

if TYPE_CHECKING:
    from indexes.reader import Reader

pytestmark = pytest.mark.slow

TOPICS = ["deploy", "review", "test", "write", "read", "browse", "draft", "release", "convert", "measure"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    digest = parse_digest("sha256:" + "0" * 64, where="here")
    release = Release(version="1.0.0", url="archives/x.tar.gz", digest=digest, sha256="0" * 64, size=1)
    folder = tmp_path_factory.mktemp("large")
    (folder / "skills").mkdir()
    rows = []
    for number in range(5_000):
        topic, name = TOPICS[number % 10], SkillName(f"{TOPICS[number % 10]}-{number:04}")
        summary = CatalogSkill(
            name=name,
            description=f"Use when asked to {topic} things of kind {number}, with all the care that they need.",
            category=f"kind-{number % 7}",
            tags=(topic, f"tag-{number % 40}"),
            latest="1.0.0",
        )
        read = Skill(declared=name, description="", body=f"# {topic}\n\nThis is text {number}.\n")
        releases = SkillReleases(name=name, versions=(release,))
        row, data = render_skill_file(summary, releases, build_skill_page(read, FileTree(files=())))
        (folder / f"skills/{name}.js").write_bytes(data)
        rows.append(row)
    rows.sort(key=lambda row: row.summary.name)
    (folder / "catalog.html").write_bytes(render_page("large", rows))
    return f"file://{folder}/catalog.html"


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
        reader.wait_for_names([name])
        reader.press("Enter")
        reader.wait_for_title(f"{name} 1.0.0")
        assert reader.text.split("\n")[-1] == f"This is text {number}."
    assert (len(reader.asked), reader.broken) == (5, [])


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
    reader.wait_for_title(f"{name} 1.0.0")

    reader.press("Escape")
    reader.page.locator("#list-view").wait_for()
    reader.settle()

    after = reader.page.locator(f"a[data-name={name}]").bounding_box()
    assert reader.focus == name
    assert before is not None
    assert after is not None
    assert abs(after["y"] - before["y"]) <= 1


def test_a_page_that_was_not_loaded_completely_says_so(reader: "Reader", page: str, tmp_path: Path) -> None:
    whole = Path(page.removeprefix("file://")).read_text(encoding="utf-8")
    start = whole.index('id="top">')
    cut = tmp_path / "catalog.html"
    cut.write_text(whole[: start + 1_000] + whole[whole.index("</script>", start) :], encoding="utf-8")

    reader.page.goto(f"file://{cut}")

    message = "The skills cannot be shown: the browser is too old, or the page was not loaded completely."
    reader.page.get_by_text(message).wait_for()
    assert reader.broken == []
