"""`catalog.html` without a browser: its content, reproducibility and sanitizing."""

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


def read_list(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="top">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def read_items(page: str) -> list[Any]:
    parts = re.findall(r'<script type="text/plain" id="part-\d+">(.*?)</script>', page)
    return [item for part in parts for item in json.loads(zlib.decompress(base64.b64decode(part)))]


def test_the_page_shows_the_data_of_the_index(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.write_draft("pdf", "1.1.0", body="# Print\n\nWell.\n", category="office", tags="print", requires="qpdf")
    publisher.write_files(
        prefix_paths("skills/tdd", make_skill("tdd", metadata={"version": "2.0.0", "skill-dependencies": "pdf>=1"}))
    )
    publisher.build()

    page = publisher.read(PAGE)

    assert read_list(page) == {
        "name": "acme",
        "part": 16,
        "skills": [
            ["pdf", "Use when a test needs a skill.", "office", ["print"], "1.1.0", 4, []],
            ["tdd", "Use when a test needs a skill.", "general", [], "2.0.0", 3, []],
        ],
    }
    pdf, tdd = read_items(page)
    assert [row[0] for row in pdf["versions"]] == ["1.1.0", "1.0.0"]
    assert pdf["digest"] == publisher.read_json("skills/pdf.json")["versions"][0]["digest"]
    assert pdf["leaf"]["html"] == "<h2>Print</h2>\n<p>Well.</p>\n"
    assert pdf["leaf"]["needs"] == {"programs": ["qpdf"]}
    assert tdd["dependencies"] == {"pdf": ">=1"}


def test_the_csp_allows_only_the_script_and_the_style_of_the_page(
    publisher: IndexPublisher,
) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    page = publisher.read(PAGE)

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


def test_the_page_does_not_depend_on_the_order_of_builds(publisher: IndexPublisher, tmp_path: Path) -> None:
    other = IndexPublisher(tmp_path / "other")
    for name in ("pdf", "tdd"):
        publisher.write_draft(name, "1.0.0")
    publisher.build()
    for name in ("tdd", "pdf"):
        other.write_draft(name, "1.0.0")
        other.build()

    assert publisher.read(PAGE) == other.read(PAGE)


def test_a_page_that_was_tampered_with_is_rendered_again_from_the_archives(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    page = publisher.read(PAGE)
    part = re.search(r'id="part-0">(.*?)</script>', page)
    assert part is not None
    items = read_items(page)
    items[0]["leaf"]["html"] = '<p onclick="alert(1)">Forged.</p>'
    packed = base64.b64encode(zlib.compress(json.dumps(items).encode())).decode()
    publisher.write(PAGE, page.replace(part[1], packed))

    publisher.build()

    assert publisher.read(PAGE) == page


def test_yanking_changes_the_page_and_unyanking_restores_it(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.write_draft("pdf", "1.1.0", body="Better.\n")
    publisher.build()
    page = publisher.read(PAGE)

    publisher.run("index", "yank", "pdf@1.1.0", "public", "--reason", "deletes files", check=True)

    item = read_items(publisher.read(PAGE))[0]
    assert read_list(publisher.read(PAGE))["skills"][0][4] == "1.0.0"
    assert [(row[0], row[3]) for row in item["versions"]] == [("1.1.0", "deletes files"), ("1.0.0", False)]
    assert item["leaf"]["html"] == "<p>Do it well.</p>\n"

    publisher.run("index", "unyank", "pdf@1.1.0", "public", check=True)

    assert publisher.read(PAGE) == page


def test_an_index_without_a_page(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    assert publisher.build("--no-catalog") == "+ pdf 1.0.0\npublic: 1 skill, 1 version; 4 files written\n"
    assert not publisher.exists(PAGE)

    publisher.run("index", "yank", "pdf@1.0.0", "public", check=True)
    assert not publisher.exists(PAGE)

    publisher.run("index", "unyank", "pdf@1.0.0", "public", check=True)
    assert publisher.build() == "public: 1 skill, 1 version; 1 file written\n"
    assert publisher.exists(PAGE)

    assert publisher.build("--no-catalog") == "- catalog.html\npublic: 1 skill, 1 version; nothing to write\n"
    assert not publisher.exists(PAGE)


def test_a_page_of_another_tool_is_not_overwritten(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.write(PAGE, "<title>Our products</title>\n")

    result = publisher.run("index", "build", "skills", "--out", "public")

    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        "error: refusing to overwrite a page that skillpm did not write\n"
        f"  where: {publisher.work}/{PAGE}\n"
        "  hint: move it away, or keep it with --no-catalog; nothing was written\n",
    )
    assert publisher.render_tree("public") == "catalog.html\n"

    publisher.build("--no-catalog")
    publisher.run("index", "yank", "pdf@1.0.0", "public", check=True)
    publisher.run("index", "check", "public", check=True)
    assert publisher.read(PAGE) == "<title>Our products</title>\n"


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
def test_untrusted_markdown(markdown: str, html: str) -> None:
    assert render_safe_html(markdown) == html


def test_a_table_keeps_its_alignment_without_a_style() -> None:
    html = render_safe_html("| a | b |\n|--:|---|\n| 1 | 2 |\n")

    assert html.replace("\n", "") == (
        '<table><thead><tr><th class="right">a</th><th>b</th></tr></thead>'
        '<tbody><tr><td class="right">1</td><td>2</td></tr></tbody></table>'
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
     "[" * 60_000, "*a " * 20_000, "> " * 30_000, "`" * 60_000, "![" * 30_000, "- " * 30_000, "<" * 60_000,
     "_*" * 30_000, "[a](" * 15_000, "|a" * 30_000 + "\n" + "|-" * 30_000 + "\n" + "|b\n" * 200, "&#1" * 20_000,
     "[a]: b\n" * 9_000,
    ],
    ids=lambda text: text[:4],
)  # fmt: skip
def test_malicious_markdown_is_rendered_in_linear_time(text: str) -> None:
    """Quadratic time would take minutes."""
    start = time.process_time()  # not wall-clock time: the machine may be busy
    render_safe_html(text)
    assert time.process_time() - start < 20


def test_long_texts_are_cut() -> None:
    body = "A line of text.\n" * 5_000

    entry = build_skill_page(Skill(declared="pdf", description="", body=body), 1_000)

    assert entry["html"].count("A line of text.") == 62
    assert entry["cut"] == 80_000
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
def test_only_web_urls_of_homepages_are_links(address: str, *, web: bool) -> None:
    assert is_web_url(address) is web


def test_a_skill_with_a_remote_archive_is_shown_without_its_text(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    page = publisher.read(PAGE)
    archive = publisher.index_folder / "archives/pdf-1.0.0.tar.gz"
    data = archive.read_bytes()
    for path in (archive, publisher.index_folder / "catalog.html"):
        path.unlink()
    publisher.write_draft("tdd", "1.0.0")
    publisher.run("index", "build", "skills/tdd", "--out", "public", check=True)

    assert [item["leaf"]["html"] for item in read_items(publisher.read(PAGE))] == ["", "<p>Do it well.</p>\n"]

    archive.write_bytes(data)
    publisher.build()

    assert read_items(publisher.read(PAGE))[0] == read_items(page)[0]
