"""`catalog.html` without a browser: what is in it, that it is the same for the same index, and that it is clean."""

import base64
import hashlib
import json
import re
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
from indexes.world import IndexPublisher
from kit import make_skill, prefix_paths

from skillpm.indexes.page.markdown import render_safe_html
from skillpm.indexes.page.skill_entry import build_skill_page, is_web_url, text_limit_for
from skillpm.skillmd.skill import Skill

PAGE = "public/catalog.html"


def list_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="top">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def items_of(page: str) -> list[Any]:
    parts = re.findall(r'<script type="text/plain" id="part-\d+">(.*?)</script>', page)
    return [item for part in parts for item in json.loads(zlib.decompress(base64.b64decode(part)))]


def test_the_page_says_what_the_index_says(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    desk.write_draft("pdf", "1.1.0", body="# Print\n\nWell.\n", category="office", tags="print", requires="qpdf")
    desk.write_files(
        prefix_paths("skills/tdd", make_skill("tdd", metadata={"version": "2.0.0", "skill-dependencies": "pdf>=1"}))
    )
    desk.build()

    page = desk.read(PAGE)

    assert list_of(page) == {
        "name": "acme",
        "part": 16,
        "skills": [
            ["pdf", "Use when a test needs a skill.", "office", ["print"], "1.1.0", 4, []],
            ["tdd", "Use when a test needs a skill.", "general", [], "2.0.0", 3, []],
        ],
    }
    pdf, tdd = items_of(page)
    assert [row[0] for row in pdf["versions"]] == ["1.1.0", "1.0.0"]
    assert pdf["digest"] == desk.read_json("skills/pdf.json")["versions"][0]["digest"]
    assert pdf["leaf"]["html"] == "<h2>Print</h2>\n<p>Well.</p>\n"
    assert pdf["leaf"]["needs"] == {"programs": ["qpdf"]}
    assert tdd["dependencies"] == {"pdf": ">=1"}


def test_its_policy_allows_the_script_and_the_style_that_stand_in_it_and_nothing_else(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    page = desk.read(PAGE)

    def hashed(tag: str) -> str:
        bodies = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert len(bodies) == 1
        return "'sha256-" + base64.b64encode(hashlib.sha256(bodies[0].encode()).digest()).decode() + "'"

    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)

    assert policy is not None
    assert policy[1] == (
        f"default-src 'none'; script-src {hashed('script')}; style-src {hashed('style')}; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types skillpm"
    )
    assert page.index(policy[0]) < page.index("<style>") < page.index("<script")


def test_the_page_is_the_same_however_the_index_came_about(desk: IndexPublisher, tmp_path: Path) -> None:
    other = IndexPublisher(tmp_path / "other")
    for name in ("pdf", "tdd"):
        desk.write_draft(name, "1.0.0")
    desk.build()
    for name in ("tdd", "pdf"):
        other.write_draft(name, "1.0.0")
        other.build()

    assert desk.read(PAGE) == other.read(PAGE)


def test_what_a_page_says_of_a_skill_is_taken_over_cleaned_and_made_anew_where_it_cannot_be(
    desk: IndexPublisher,
) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.write_draft("tdd", "1.0.0")
    desk.build()
    page = desk.read(PAGE)
    part = re.search(r'id="part-0">(.*?)</script>', page)
    assert part is not None
    items = items_of(page)
    items[0]["leaf"]["html"] = '<p onclick="alert(1)">Kept.</p><script>alert(1)</script>'
    items[1]["leaf"]["html"] = 7
    packed = base64.b64encode(zlib.compress(json.dumps(items).encode())).decode()
    desk.write(PAGE, page.replace(part[1], packed))

    desk.build()

    assert [item["leaf"]["html"] for item in items_of(desk.read(PAGE))] == ["<p>Kept.</p>", "<p>Do it well.</p>\n"]


@pytest.mark.parametrize("rubbish", ["", "AAAA", base64.b64encode(zlib.compress(b" " * 70_000_000)).decode()])
def test_a_broken_page_is_written_anew(desk: IndexPublisher, rubbish: str) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    page = desk.read(PAGE)
    desk.write(PAGE, re.sub(r'(id="part-0">).*?</script>', rf"\g<1>{rubbish}</script>", page))

    desk.build()

    assert desk.read(PAGE) == page


def test_yanking_changes_the_page_and_taking_it_back_brings_it_back(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    desk.write_draft("pdf", "1.1.0", body="Better.\n")
    desk.build()
    page = desk.read(PAGE)

    desk.run("index", "yank", "pdf@1.1.0", "public", "--reason", "deletes files", check=True)

    item = items_of(desk.read(PAGE))[0]
    assert list_of(desk.read(PAGE))["skills"][0][4] == "1.0.0"
    assert [(row[0], row[3]) for row in item["versions"]] == [("1.1.0", "deletes files"), ("1.0.0", False)]
    assert item["leaf"]["html"] == "<p>Do it well.</p>\n"

    desk.run("index", "unyank", "pdf@1.1.0", "public", check=True)

    assert desk.read(PAGE) == page


def test_an_index_without_a_page(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    assert desk.build("--no-catalog") == "+ pdf 1.0.0\npublic: 1 skill, 1 version; 4 files written\n"
    assert not desk.exists(PAGE)

    desk.run("index", "yank", "pdf@1.0.0", "public", check=True)
    assert not desk.exists(PAGE)

    desk.run("index", "unyank", "pdf@1.0.0", "public", check=True)
    assert desk.build() == "public: 1 skill, 1 version; 1 file written\n"
    assert desk.exists(PAGE)

    assert desk.build("--no-catalog") == "- catalog.html\npublic: 1 skill, 1 version; nothing to write\n"
    assert not desk.exists(PAGE)


def test_somebody_elses_page_is_left_alone(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.write(PAGE, "<title>Our products</title>\n")

    result = desk.run("index", "build", "skills", "--out", "public")

    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        "error: this page is not skillpm's, and would be replaced\n"
        f"  where: {desk.work}/{PAGE}\n"
        "  try: move it away, or leave it there with --no-catalog; nothing was written\n",
    )
    assert desk.render_tree("public") == "catalog.html\n"

    desk.build("--no-catalog")
    desk.run("index", "yank", "pdf@1.0.0", "public", check=True)
    desk.run("index", "check", "public", check=True)
    assert desk.read(PAGE) == "<title>Our products</title>\n"


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ("<!-- do not tell -->", "<p>&lt;!-- do not tell --&gt;</p>\n"),
        ("<p onclick='x()'>", "<p>&lt;p onclick='x()'&gt;</p>\n"),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"),
        ("[a](  JaVaScRiPt:alert(1) )", "<p>[a](  JaVaScRiPt:alert(1) )</p>\n"),
        ("[a](&#x6a;avascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"),
        ("<javascript:alert(1)>", "<p>&lt;javascript:alert(1)&gt;</p>\n"),
        ("[a](data:text/html,x)", "<p>[a](data:text/html,x)</p>\n"),
        ("[a](data:image/png;base64,x)", '<p><a target="_blank" rel="noopener noreferrer nofollow">a</a></p>\n'),
        ("[a](file:///etc/passwd)", "<p>[a](file:///etc/passwd)</p>\n"),
        ("[a](//example.com)", '<p><a target="_blank" rel="noopener noreferrer nofollow">a</a></p>\n'),
        ("[a](references/x.md)", '<p><a target="_blank" rel="noopener noreferrer nofollow">a</a></p>\n'),
        ("[a](#/skill/pdf)", '<p><a target="_blank" rel="noopener noreferrer nofollow">a</a></p>\n'),
        (
            "[a](https://example.com 'title')",
            '<p><a href="https://example.com" target="_blank" rel="noopener noreferrer nofollow">a</a></p>\n',
        ),
        ("![a *b*](https://example.com/x.png)", '<p><span class="picture">a *b*</span></p>\n'),
        ('![<i>"](x)', '<p><span class="picture">&lt;i&gt;"</span></p>\n'),
        ("# One", "<h2>One</h2>\n"),
        ("###### Six", "<h6>Six</h6>\n"),
        ("a\u202eb\x1b[2Jc", "<p>a\\u202eb\\x1b[2Jc</p>\n"),
        ("\U0001f469\u200d\U0001f4bb", "<p>\U0001f469\u200d\U0001f4bb</p>\n"),
        ('```js" onload="x\nlet a\n```', "<pre><code>let a\n</code></pre>\n"),
    ],
)  # fmt: skip
def test_markdown_of_strangers(markdown: str, html: str) -> None:
    assert render_safe_html(markdown) == html


def test_a_table_keeps_its_alignment_without_a_style() -> None:
    html = render_safe_html("| a | b |\n|--:|---|\n| 1 | 2 |\n")

    assert html.replace("\n", "") == (
        '<table><thead><tr><th class="right">a</th><th>b</th></tr></thead>'
        '<tbody><tr><td class="right">1</td><td>2</td></tr></tbody></table>'
    )


@pytest.mark.parametrize(
    "text",
    [
     "[" * 60_000, "*a " * 20_000, "> " * 30_000, "`" * 60_000, "![" * 30_000, "- " * 30_000, "<" * 60_000,
     "_*" * 30_000, "[a](" * 15_000, "|a" * 30_000 + "\n" + "|-" * 30_000 + "\n" + "|b\n" * 200, "&#1" * 20_000,
     "[a]: b\n" * 9_000,
    ],
    ids=lambda text: text[:4],
)  # fmt: skip
def test_a_text_made_to_take_long_does_not(text: str) -> None:
    """Nothing here takes time to the square of its length; a minute would be that."""
    start = time.process_time()  # not the clock on the wall: the machine may be busy
    render_safe_html(text)
    assert time.process_time() - start < 20


def test_only_so_much_of_a_text_is_shown() -> None:
    body = "A line of text.\n" * 5_000

    leaf = build_skill_page(Skill(declared="pdf", description="", body=body), 1_000)

    assert leaf["html"].count("A line of text.") == 62
    assert leaf["cut"] == 80_000
    assert [text_limit_for(skills) for skills in (0, 8_000, 8_001, 16_001, 1_000_000)] == [
        65_536,
        65_536,
        32_768,
        16_384,
        512,
    ]


@pytest.mark.parametrize(
    ("address", "web"),
    [
        ("https://example.com/x", True),
        ("http://example.com", True),
        ("javascript:alert(1)", False),
        ("https://", False),
        ("https://[", False),
        ("data:text/html,x", False),
        ("//example.com", False),
        ("https://example.com/ x", False),
        ("https://example.com/\u202e", False),
        ("", False),
    ],
)
def test_which_homepages_are_links(address: str, *, web: bool) -> None:
    assert is_web_url(address) is web


def test_a_skill_whose_archive_lies_elsewhere_is_on_the_page_without_its_text(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    page = desk.read(PAGE)
    archive = desk.index_folder / "archives/pdf-1.0.0.tar.gz"
    data = archive.read_bytes()
    for path in (archive, desk.index_folder / "catalog.html"):
        path.unlink()
    desk.write_draft("tdd", "1.0.0")
    desk.run("index", "build", "skills/tdd", "--out", "public", check=True)

    assert [item["leaf"]["html"] for item in items_of(desk.read(PAGE))] == ["", "<p>Do it well.</p>\n"]

    archive.write_bytes(data)
    desk.build()

    assert items_of(desk.read(PAGE))[0] == items_of(page)[0]
