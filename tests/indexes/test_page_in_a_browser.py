"""`catalog.html` in a real Chromium: search, filter, open, copy, by mouse and by keyboard."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from indexes.world import IndexPublisher, serve_index
from kit import GitServer, OciRegistry, Response, Sandbox, make_skill, prefix_paths
from oci.world import publish_collection

if TYPE_CHECKING:
    from indexes.reader import Reader
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

UNRELATED = "skills/unrelated.js"
GUIDE = """# Print a PDF

Use *qpdf*, [its manual](https://qpdf.example/manual) and `scripts/print.py`.

| option | means |
|---|---|
| `--all` | everything |
"""


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    publisher = IndexPublisher(tmp_path_factory.mktemp("public"))
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.write_draft("pdf", "1.1.0", category="office", tags="print, scan", requires="qpdf")
    publisher.write_files(
        prefix_paths(
            "skills/pdf",
            make_skill(
                "pdf",
                description="Use when a PDF has to be printed, split or scanned.",
                body=GUIDE,
                license="MIT",
                metadata={
                    "version": "1.1.0",
                    "category": "office",
                    "tags": "print, scan",
                    "requires": "qpdf",
                    "author": "Ada",
                    "homepage": "https://pdf.example/",
                    "skill-dependencies": "git-basics>=1",
                },
            ),
        )
    )
    publisher.write("../home/.config/skillpm/config.toml", "[audit]\nblock = []\n")  # hidden text is not published else
    publisher.write("skills/pdf/scripts/print all.py", 'print("<b>\u202e</b>")\n')
    (publisher.work / "skills/pdf/scripts/print all.py").chmod(0o755)
    (publisher.work / "skills/pdf/logo.png").write_bytes(b"\x89PNG\0")
    for number in range(14):
        publisher.write(f"skills/pdf/references/{number:02}.md", f"# Reference {number}\n")
    publisher.write_draft("git-basics", "1.0.0", category="code", tags="git", body="Long. " * 2_000)
    publisher.write_draft("git-release", "2.0.0", category="code", tags="git, print")
    publisher.write_draft("table-print", "0.3.0", category="office", tags="print")
    publisher.write_draft("unrelated", "1.0.0")
    publisher.build()
    publisher.write_draft("git-release", "2.1.0", body="Broken.\n", category="code", tags="git, print")
    publisher.build()
    dates = {"pdf": "2026-03-01", "git-basics": "2026-01-01"}
    for file in publisher.index_folder.glob("skills/*.json"):
        releases = json.loads(file.read_text())
        for release in releases["versions"]:
            release["published"] = f"{dates.get(file.stem, '2025-01-01')}T00:00:00Z"
        file.write_text(json.dumps(releases))
    publisher.run("index", "yank", "git-release@2.1.0", "public", "--reason", "tags the wrong commit", check=True)
    return publisher.index_folder


@pytest.fixture
def page(public: Path) -> str:
    return f"file://{public}/catalog.html"


def test_a_page_opened_from_its_folder_loads_a_skill_when_it_is_opened(reader: "Reader", page: str) -> None:
    reader.visit(page)

    reader.wait_for_count("5 skills")
    reader.wait_for_names(["git-basics", "git-release", "pdf", "table-print", "unrelated"])
    reader.page.locator("a.row", has_text="unrelated").click()
    assert reader.text == "Do it well."
    assert [address.partition("?")[0] for address in reader.asked] == [page, page.replace("catalog.html", UNRELATED)]
    assert reader.broken == []


def test_a_served_page_needs_one_request_and_one_for_each_skill(
    reader: "Reader", public: Path, server: GitServer
) -> None:
    serve_index(server, public)

    reader.visit(f"{server.address}/catalog.html")
    for _ in range(2):
        reader.page.locator("a.row", has_text="unrelated").click()
        assert reader.text == "Do it well."
        reader.press("Escape")

    assert [request.path for request in server.requests] == ["/catalog.html", f"/{UNRELATED}"]


def test_search_filters_at_each_key_and_ranks_names_first(reader: "Reader", page: str) -> None:
    reader.visit(page)
    seen = []
    for letter in "print":
        reader.page.locator("#search").press_sequentially(letter)
        seen.append(reader.count)

    assert seen[-1] == "3 of 5 skills"
    reader.wait_for_names(["table-print", "pdf", "git-release"])
    assert reader.page.locator("#results mark").first.text_content() == "print"
    reader.wait_for_announcement("3 skills")
    reader.page.locator("#search").fill("print office")
    reader.wait_for_names(["table-print", "pdf"])
    reader.page.locator("#search").fill("PDF splít")
    reader.wait_for_names(["pdf"])


def test_a_search_with_a_typing_error_lists_similar_names_and_one_without_results_says_so(
    reader: "Reader", page: str
) -> None:
    reader.visit(page)
    reader.page.locator("#search").fill("git-relaese")
    reader.wait_for_count("No skill has these words; 1 with similar names")
    reader.wait_for_names(["git-release"])

    reader.page.locator("#search").fill("zebra")
    no_results = reader.page.locator("#no-results")
    reader.wait_for_count("0 of 5 skills")
    assert no_results.inner_text().splitlines() == ["No skills match this search.", "", "Show all skills"]
    no_results.get_by_text("Show all skills").click()
    reader.wait_for_count("5 skills")


def test_sorting_is_part_of_the_address(reader: "Reader", page: str) -> None:
    reader.visit(page)
    sort = reader.page.get_by_label("Sort by")

    sort.select_option("newest")
    reader.wait_for_names(["pdf", "git-basics", "git-release", "table-print", "unrelated"])
    assert reader.page.locator("#results li").first.locator(".version").all_inner_texts() == ["1.1.0", "2026-03-01"]
    sort.select_option("fewest tokens")
    reader.wait_for_names(["git-release", "table-print", "unrelated", "pdf", "git-basics"])
    assert reader.address == "#/?sort=tokens"
    sort.select_option("smallest archive")
    assert reader.names[-1] == "pdf"
    reader.page.locator("#search").fill("print")
    assert set(reader.names[:2]) == {"git-release", "table-print"}
    sort.select_option("name")
    reader.wait_for_names(["git-release", "pdf", "table-print"])
    assert reader.address == "#/?q=print&sort=name"
    sort.select_option("best match")
    assert (reader.names, reader.address) == (["table-print", "pdf", "git-release"], "#/?q=print")

    reader.visit(f"{page}#/?sort=constructor")
    assert (reader.names[0], sort.input_value()) == ("git-basics", "")
    reader.visit(f"{page}#/?sort=tokens")
    assert (reader.names[0], sort.input_value()) == ("git-release", "tokens")
    reader.press("t")
    assert reader.broken == []


def test_the_files_of_a_skill_can_be_read(reader: "Reader", page: str) -> None:
    from playwright.sync_api import expect  # noqa: PLC0415  (only where there is a browser)

    reader.visit(page)
    reader.page.locator("a.row", has_text="pdf").click()
    files = reader.page.locator(".files li")

    expect(files).to_have_count(12)
    reader.page.get_by_role("button", name="All 17 files").click()
    expect(files).to_have_count(17)
    assert files.last.inner_text().split("\n") == ["scripts/print all.py", "20 B", "executable"]
    files.last.get_by_role("link").click()

    assert reader.address == "#/skill/pdf/scripts/print%20all.py"
    assert reader.page.locator(".file-text").inner_text() == 'print("<b>\\u202e</b>")\n'
    assert reader.page.locator(".file-head").inner_text().split("\n") == ["scripts/print all.py", "Show SKILL.md"]
    assert reader.page.locator(".files [aria-current]").all_inner_texts() == ["scripts/print all.py"]
    assert reader.page.title() == "scripts/print all.py · pdf · acme"
    assert reader.page.evaluate("document.activeElement.className") == "file-title"
    reader.press("Escape")
    assert (reader.address, reader.text.splitlines()[0]) == ("#/skill/pdf", "Print a PDF")
    reader.press("Escape")
    assert (reader.address, reader.focus) == ("#/", "pdf")

    reader.visit(f"{page}#/skill/pdf/logo.png")
    assert reader.text.splitlines()[-1] == "This file is not text; it is only in the archive."
    reader.visit(f"{page}#/skill/pdf/gone.md")
    assert reader.text.splitlines()[-1] == "This skill has no such file."
    reader.press("Escape", "Escape")
    assert reader.address == "#/"
    assert reader.broken == []


def test_a_skill_that_cannot_be_loaded_can_be_tried_again(reader: "Reader", public: Path, server: GitServer) -> None:
    serve_index(server, public)
    server.publish(f"/{UNRELATED}", Response(404, {}, b""))
    reader.visit(f"{server.address}/catalog.html#/skill/unrelated")
    assert reader.text == "The text of this skill could not be loaded. Try again"

    server.publish(f"/{UNRELATED}", Response(200, {}, b"not the file of a skill"))
    reader.page.get_by_role("button", name="Try again").click()
    assert reader.text == "The text of this skill could not be loaded. Try again"

    server.publish(f"/{UNRELATED}", Response(200, {}, (public / UNRELATED).read_bytes()))
    reader.page.get_by_role("button", name="Try again").click()
    assert reader.text == "Do it well."


def test_filters_can_be_combined_and_removed(reader: "Reader", page: str) -> None:
    from playwright.sync_api import expect  # noqa: PLC0415  (only where there is a browser)

    reader.visit(page)
    filters, names = reader.page.locator("#filters"), reader.page.locator("#results .name")
    categories = filters.locator(".choice.category")

    expect(categories).to_have_text(["code2", "office2", "general1"])
    filters.locator(".choice.tag", has_text="print").click()
    expect(names).to_have_text(["git-release", "pdf", "table-print"])
    expect(categories).to_have_text(["office2", "code1"])
    filters.locator(".choice.category", has_text="office").click()
    expect(names).to_have_text(["pdf", "table-print"])
    assert reader.address == "#/?category=office&tag=print"
    expect(filters.locator("[aria-pressed=true]")).to_have_text(["office2", "print2"])
    reader.page.locator("#search").fill("pdf")
    expect(names).to_have_text(["pdf"])
    reader.page.get_by_role("button", name="Remove filter office").click()
    reader.page.get_by_role("button", name="Remove filter print").click()
    reader.page.locator("#search").fill("")
    expect(reader.page.locator("#count")).to_have_text("5 skills")


def test_the_view_of_a_skill_shows_all_metadata(reader: "Reader", page: str) -> None:
    reader.visit(f"{page}#/skill/pdf")

    reader.wait_for_title("pdf 1.1.0")
    assert reader.text.splitlines()[0] == "Print a PDF"
    link = reader.page.locator(".prose a")
    assert link.get_attribute("href") == "https://qpdf.example/manual"
    assert link.get_attribute("rel") == "noopener noreferrer nofollow"
    assert reader.page.locator(".prose td").all_inner_texts() == ["--all", "everything"]
    facts = {
        row.locator("dt").inner_text(): row.locator("dd").inner_text().replace("\n", " ").strip()
        for row in reader.page.locator(".facts dl > div").all()
    }
    assert facts.pop("Archive").startswith("tar.gz, ")
    assert facts.pop("Digest").startswith("sha256:")
    assert facts == {
        "License": "MIT",
        "Author": "Ada",
        "Homepage": "pdf.example",
        "Context": "about 54 tokens",
        "Dependencies": "git-basics >=1",
        "Requires": "programs qpdf",
    }
    assert reader.page.get_by_role("link", name="pdf.example").get_attribute("href") == "https://pdf.example/"
    reader.page.get_by_role("link", name="git-basics").click()
    reader.wait_for_title("git-basics 1.0.0")
    assert reader.page.title() == "git-basics · acme"
    required_by = reader.page.locator(".facts dl > div", has_text="Required by").locator("dd")
    assert required_by.inner_text() == "pdf"


def test_yanked_versions_are_marked_with_their_reason(reader: "Reader", page: str) -> None:
    reader.visit(f"{page}#/skill/git-release")

    reader.wait_for_title("git-release 2.0.0")
    assert reader.text == "Do it well."
    rows = reader.page.locator(".versions li")
    assert rows.first.inner_text().split() == ["2.1.0", "yanked", "tags", "the", "wrong", "commit"]
    assert rows.nth(1).locator(".number").inner_text() == "2.0.0"
    assert rows.evaluate_all("rows => rows.map((row) => row.className)") == ["yanked", ""]


def test_copying_the_install_command(reader: "Reader", page: str, public: Path) -> None:
    reader.visit(page)
    row = reader.page.locator("#results li", has_text="table-print")
    row.hover()
    row.get_by_role("button").click()
    assert reader.clipboard == "skillpm install table-print"
    reader.wait_for_announcement("Copied: skillpm install table-print")

    row.locator("a").click()
    reader.page.locator(".versions .copy").first.click()
    reader.wait_for_announcement("Copied: skillpm install table-print@0.3.0")
    assert reader.clipboard == "skillpm install table-print@0.3.0"
    reader.page.locator("summary").click()
    copies = reader.page.locator(".install details .copy")
    copies.nth(0).click()
    assert reader.clipboard == f"skillpm config set indexes.acme.url file://{public}/"
    copies.nth(1).click()
    assert reader.clipboard == "skillpm install table-print"
    copies.nth(2).click()
    assert reader.clipboard == f'"indexes": [{{"name": "acme", "url": "file://{public}/"}}]'
    copies.nth(3).click()
    assert reader.clipboard == "skillpm install table-print --index acme"


def test_the_copied_command_works(reader: "Reader", page: str, tmp_path: Path) -> None:
    reader.visit(f"{page}#/skill/table-print")
    reader.page.locator("summary").click()
    reader.page.locator(".install details .copy").nth(2).click()
    project = IndexPublisher(tmp_path)
    project.write("skills.json", f'{{"skills": {{}}, {reader.clipboard}}}\n')
    reader.page.locator(".install > .command .copy").click()

    result = project.run(*reader.clipboard.split()[1:], check=True)

    assert result.stdout.splitlines()[0] == " + table-print 0.3.0"


def test_the_commands_for_a_configuration_work(reader: "Reader", page: str, tmp_path: Path) -> None:
    user = Sandbox(tmp_path)
    reader.visit(f"{page}#/skill/table-print")
    reader.page.locator("summary").click()
    for number in range(2):
        reader.page.locator(".install details .copy").nth(number).click()
        result = user.run(*reader.clipboard.split()[1:], check=True)

    assert result.stdout.splitlines()[0] == " + table-print 0.3.0"


def test_the_commands_of_a_served_page_work_for_users_without_any_configuration(
    reader: "Reader", public: Path, server: GitServer, tmp_path: Path
) -> None:
    serve_index(server, public)
    server.publish("/", Response(200, {"Content-Type": "text/html"}, (public / "index.html").read_bytes()))
    user = Sandbox(tmp_path)
    site = f"{server.address}/"

    reader.visit(site)
    row = reader.page.locator("#results li", has_text="table-print")
    row.hover()
    row.get_by_role("button").click()
    assert reader.clipboard == f"skillpm install {site}@table-print"
    installed = user.run(*reader.clipboard.split()[1:], check=True)
    row.locator("a").click()
    reader.page.locator(".install > .command .copy").click()
    assert reader.clipboard == f"skillpm install {site}@table-print"

    reader.visit(f"{site}#/skill/pdf")
    reader.page.locator(".versions .copy").nth(1).click()
    assert reader.clipboard == f"skillpm install {site}@pdf --version 1.0.0"
    older = user.run(*reader.clipboard.split()[1:], check=True)

    assert installed.stdout.splitlines()[0] == " + table-print 0.3.0"
    assert older.stdout.splitlines()[0] == " + pdf 1.0.0"


def test_by_keyboard_alone(reader: "Reader", page: str) -> None:
    reader.visit(page)
    reader.press("/")
    assert reader.focus == "search"
    reader.type("print")
    reader.press("ArrowDown")
    assert reader.focus == "table-print"
    reader.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp")
    assert reader.focus == "pdf"
    reader.press("c")
    assert reader.clipboard == "skillpm install pdf"
    reader.press("Enter")
    reader.wait_for_title("pdf 1.1.0")
    reader.press("c")
    assert reader.clipboard == "skillpm install pdf"
    reader.press("Escape")
    assert (reader.address, reader.focus) == ("#/?q=print", "pdf")
    reader.press("ArrowUp", "ArrowUp")
    assert reader.focus == "search"
    reader.press("Escape")
    reader.wait_for_count("5 skills")
    reader.type("release")
    reader.press("Enter")
    reader.wait_for_title("git-release 2.0.0")
    reader.press("?")
    assert reader.page.locator("dialog[open] h2").inner_text() == "Keyboard shortcuts"
    reader.press("Escape")
    assert reader.page.locator("dialog[open]").count() == 0
    reader.wait_for_title("git-release 2.0.0")
    reader.press("/")
    reader.type("un")
    assert (reader.names, reader.focus) == (["unrelated"], "search")
    assert reader.broken == []


def test_the_focus_is_visible(reader: "Reader", page: str) -> None:
    reader.visit(page)
    outlines = []
    for _ in range(12):
        reader.press("Tab")
        outlines.append(
            reader.page.evaluate(
                "(() => { const look = getComputedStyle(document.activeElement);"
                " return `${look.outlineStyle} ${look.outlineWidth}`; })()"
            )
        )

    assert set(outlines) == {"solid 2px"}


def test_back_and_forward_restore_the_previous_view(reader: "Reader", page: str) -> None:
    reader.visit(page)
    reader.page.locator(".choice", has_text="office").click()
    reader.page.locator("#search").fill("print")
    reader.page.locator("a.row", has_text="pdf").click()
    reader.page.get_by_role("link", name="git-basics").click()
    reader.wait_for_title("git-basics 1.0.0")

    reader.page.go_back()
    reader.wait_for_title("pdf 1.1.0")
    reader.page.go_back()
    reader.wait_for_names(["table-print", "pdf"])
    assert reader.address == "#/?q=print&category=office"
    assert reader.page.locator("#search").input_value() == "print"
    reader.page.go_back()
    reader.wait_for_count("5 skills")
    reader.page.go_forward()
    reader.page.go_forward()
    reader.wait_for_title("pdf 1.1.0")


def test_an_address_can_be_shared(browser: "Browser", page: str) -> None:
    from indexes.reader import reading  # noqa: PLC0415

    with reading(browser) as other:
        other.visit(f"{page}#/?q=print&tag=git")
        assert (other.names, other.page.locator("#search").input_value()) == (["git-release"], "print")
        other.visit(f"{page}#/skill/gti-basics")
        other.wait_for_title("Skill not found")
        assert other.page.locator(".similar a").all_inner_texts() == ["git-basics"]
        other.visit(f"{page}#/skill/%E0%A4%A<img src=x onerror=alert(1)>")
        other.wait_for_title("Skill not found")
        assert other.broken == []


@pytest.mark.parametrize("dark", [False, True])
def test_the_theme_follows_the_system_or_the_choice_of_the_user(browser: "Browser", page: str, *, dark: bool) -> None:
    from indexes.reader import reading  # noqa: PLC0415

    def look() -> str:
        found: str = window.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return found

    light, night = "rgb(251, 250, 247)", "rgb(22, 24, 26)"
    with reading(browser, dark=dark) as window:
        window.visit(page)
        assert look() == (night if dark else light)
        window.press("t")
        assert look() == light
        window.page.locator("#theme").click()
        assert look() == night
        window.reload_until(lambda: look() == night)
        window.press("t")
        assert look() == (night if dark else light)


@pytest.mark.parametrize("width", [320, 390, 768])
def test_narrow_screens_need_no_horizontal_scrolling(browser: "Browser", page: str, width: int) -> None:
    from indexes.reader import reading  # noqa: PLC0415

    with reading(browser, width=width) as window:
        window.visit(page)
        for address in (
            "#/",
            "#/?q=pdf&tag=print&sort=size",
            "#/skill/pdf",
            "#/skill/nothing",
            "#/skill/pdf/references/01.md",
        ):
            window.visit(page + address)
            assert window.page.evaluate("document.documentElement.scrollWidth") <= width, address
        window.visit(f"{page}#/")
        window.page.get_by_role("button", name="Filters").click()
        window.page.locator(".choice", has_text="office").click()
        window.wait_for_names(["pdf", "table-print"])
        assert window.page.evaluate("document.documentElement.scrollWidth") <= width


def test_controls_have_accessible_names_and_headings_are_in_order(reader: "Reader", page: str) -> None:
    for address, selector in (("#/", "#results li"), ("#/skill/pdf", ".prose:not([aria-busy])")):
        reader.visit(page + address)
        reader.page.locator(selector).first.wait_for()
        tree = reader.page.locator("body").aria_snapshot()
        assert re.findall(r"- (?:button|link|searchbox)(?: \[|:|$)", tree, re.MULTILINE) == []
        levels = [int(level) for level in re.findall(r"heading .*\[level=(\d)\]", tree)]
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels) if before >= 1)


def test_a_served_page_shows_how_to_install_by_url(reader: "Reader", public: Path) -> None:
    address = "https://skills.acme.example/team/"
    reader.page.route(
        f"{address}**",
        lambda route: route.fulfill(path=public / route.request.url.removeprefix(address).partition("?")[0]),
    )
    reader.visit(f"{address}catalog.html#/skill/pdf")
    reader.page.locator("summary").click()

    commands = reader.page.locator(".install .command").all_inner_texts()

    assert commands == [
        f"$ skillpm install {address}@pdf",
        f"$ skillpm config set indexes.acme.url {address}",
        "$ skillpm install pdf",
        f'"indexes": [{{"name": "acme", "url": "{address}"}}]',
        "$ skillpm install pdf --index acme",
    ]
    assert [each.partition("?")[0] for each in reader.asked] == [f"{address}catalog.html", f"{address}skills/pdf.js"]
    assert reader.broken == []


def test_the_page_of_a_collection_shows_what_installs_its_skills(reader: "Reader", tmp_path: Path) -> None:
    user = Sandbox(tmp_path)
    with OciRegistry() as registry:
        collection = f"oci://{registry.host}/acme/all:1"
        publish_collection(registry, "acme/all", "1", {"tdd": make_skill("tdd"), "pdf": make_skill("pdf")})
        user.run("index", "page", collection, "--out", "site", check=True)
        reader.visit(f"file://{user.work}/site/index.html#/skill/tdd")
        assert reader.text == "Do it well."
        reader.page.locator(".install .copy").click()
        assert reader.clipboard == f"skillpm install {collection} --skill tdd"
        installed = user.run(*reader.clipboard.split()[1:], check=True)

    assert installed.stdout.splitlines()[0].startswith(" + tdd")
    assert reader.page.locator(".install .command").count() == 1
    source = reader.page.locator(".facts dl > div", has_text="Source").locator("dd").inner_text()
    assert source.startswith(f"oci://{registry.host}/acme/all@sha256:")
    reader.press("Escape")
    reader.wait_for_names(["pdf", "tdd"])
    assert reader.broken == []


def test_what_is_typed_while_the_skills_are_loading_is_searched(reader: "Reader", page: str) -> None:
    reader.page.add_init_script(
        "document.addEventListener('readystatechange', () => { if (document.readyState === 'interactive') "
        "document.getElementById('search').value = 'print'; })"
    )

    reader.visit(page)

    reader.wait_for_count("3 of 5 skills")
    reader.wait_for_announcement("3 skills")
    assert reader.address == "#/?q=print"
