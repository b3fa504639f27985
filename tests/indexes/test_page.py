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

from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.indexes.page.skill_entry import build_skill_page, is_web_url, render_safe_html
from skillpm.skillmd.skill import Skill

PAGE = "public/catalog.html"
USE = "Use when a test needs a skill."


def read_list(page: str) -> Any:
    found = re.search(r'<script type="text/plain" id="top">(.*?)</script>', page)
    assert found is not None
    return unpack(found[1])


def read_item(publisher: IndexPublisher, name: str) -> Any:
    found = re.fullmatch(
        r'skillpmPage\("([a-z0-9-]+)","([A-Za-z0-9+/=]+)"\);\n', publisher.read(f"public/skills/{name}.js")
    )
    assert found is not None
    assert found[1] == name
    return unpack(found[2])


def unpack(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text)))


def test_the_page_shows_the_data_of_the_index(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.write_draft("pdf", "1.1.0", body="# Print\n\nWell.\n", category="office", tags="print", requires="qpdf")
    publisher.write_files(
        prefix_paths("skills/tdd", make_skill("tdd", metadata={"version": "2.0.0", "skill-dependencies": "pdf>=1"}))
    )
    publisher.build()

    page = publisher.read(PAGE)

    keys = {name: hashlib.sha256((publisher.index_folder / f"skills/{name}.js").read_bytes()).hexdigest()[:8]
            for name in ("pdf", "tdd")}  # fmt: skip
    day = publisher.read_json("skills/pdf.json")["versions"][0]["published"][:10]
    sizes = {name: publisher.read_json(f"skills/{name}.json")["versions"][0]["size"] for name in ("pdf", "tdd")}
    assert read_list(page) == {
        "name": "acme",
        "skills": [
            ["pdf", USE, "office", ["print"], "1.1.0", 4, [], day, sizes["pdf"], keys["pdf"], "", []],
            ["tdd", USE, "general", [], "2.0.0", 3, [], day, sizes["tdd"], keys["tdd"], "", ["pdf"]],
        ],
    }
    pdf, tdd = read_item(publisher, "pdf"), read_item(publisher, "tdd")
    assert [row[0] for row in pdf["versions"]] == ["1.1.0", "1.0.0"]
    assert pdf["digest"] == publisher.read_json("skills/pdf.json")["versions"][0]["digest"]
    assert pdf["page"]["html"] == "<h2>Print</h2>\n<p>Well.</p>\n"
    assert pdf["page"]["needs"] == {"programs": ["qpdf"]}
    assert tdd["dependencies"] == {"pdf": ">=1"}
    assert publisher.read("public/index.html") == page


def test_the_files_of_a_skill_are_listed_with_their_texts(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.write("../home/.config/skillpm/config.toml", "[audit]\nblock = []\n")  # hidden text is not published else
    publisher.write("skills/pdf/scripts/run.sh", "#!/bin/sh\necho \u202ehidden\n")
    (publisher.work / "skills/pdf/scripts/run.sh").chmod(0o755)
    (publisher.work / "skills/pdf/logo.png").write_bytes(b"\x89PNG\0")
    publisher.write("skills/pdf/bom.txt", "\ufeffText.\n")
    publisher.write("skills/pdf/long.md", "A line of text.\n" * 5_000)
    publisher.build()

    page = read_item(publisher, "pdf")["page"]

    size = len(publisher.read("skills/pdf/SKILL.md"))
    assert page["files"] == [
        ["SKILL.md", size, 0],
        ["bom.txt", 9, 0, "Text.\n"],
        ["logo.png", 5, 0],
        ["long.md", 80_000, 0, ("A line of text.\n" * 4_096)[:-1], 80_000],
        ["scripts/run.sh", 25, 1, "#!/bin/sh\necho \\u202ehidden\n"],
    ]
    assert page["more"] == 0


def test_if_not_all_texts_can_be_shown_the_longest_are_omitted() -> None:
    text = "A line of text.\n" * 4_096
    names = [f"{number:04}.md" for number in range(1_002)]
    tree = FileTree(files=tuple(TreeFile(path=name, data=text.encode()) for name in names[:5])
                    + tuple(TreeFile(path=name, data=b"Short.\n") for name in names[5:]))  # fmt: skip

    page = build_skill_page(Skill(declared="pdf", description="", body=""), tree)

    assert [row[3] for row in page["files"]] == [text] * 3 + [0, 0] + ["Short.\n"] * 995
    assert page["more"] == 2


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
        f"default-src 'none'; script-src {hashed('script')} 'strict-dynamic'; style-src {hashed('style')}; "
        "img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types skillpm"
    )
    assert page.index(policy[0]) < page.index("<style>") < page.index("<script")


def test_the_page_does_not_depend_on_the_order_of_builds(publisher: IndexPublisher, tmp_path: Path) -> None:
    other = IndexPublisher(tmp_path / "other")
    for name in ("pdf", "tdd"):
        publisher.write_draft(name, "1.0.0")
    publisher.build("--published", "2026-01-31")
    for name in ("tdd", "pdf"):
        other.write_draft(name, "1.0.0")
        other.build("--published", "2026-01-31")

    for path in (PAGE, "public/index.html", "public/skills/pdf.js"):
        assert publisher.read(path) == other.read(path)


@pytest.mark.parametrize("path", ["catalog.html", "index.html", "skills/pdf.js"])
def test_a_page_that_was_tampered_with_is_rendered_again_from_the_archives(
    publisher: IndexPublisher, path: str
) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    page = publisher.read(f"public/{path}")
    publisher.write(f"public/{path}", page + "Forged.\n")

    publisher.build()

    assert publisher.read(f"public/{path}") == page


def test_yanking_changes_the_page_and_unyanking_restores_it(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.write_draft("pdf", "1.1.0", body="Better.\n")
    publisher.build()
    page, item = publisher.read(PAGE), publisher.read("public/skills/pdf.js")

    publisher.run("index", "yank", "pdf@1.1.0", "public", "--reason", "deletes files", check=True)

    yanked = read_item(publisher, "pdf")
    assert read_list(publisher.read(PAGE))["skills"][0][4] == "1.0.0"
    assert [(row[0], row[3]) for row in yanked["versions"]] == [("1.1.0", "deletes files"), ("1.0.0", False)]
    assert yanked["page"]["html"] == "<p>Do it well.</p>\n"

    publisher.run("index", "unyank", "pdf@1.1.0", "public", check=True)

    assert (publisher.read(PAGE), publisher.read("public/skills/pdf.js")) == (page, item)


def test_a_skill_without_a_version_left_has_no_page(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.write_draft("tdd", "1.0.0")
    publisher.build()
    publisher.write("public/skills/notes.js", "// Not by skillpm.\n")

    done = publisher.run("index", "yank", "pdf@1.0.0", "public", "--json", check=True)

    assert done.json["removed"] == ["skills/pdf.js"]
    assert sorted(path.name for path in publisher.index_folder.glob("skills/*.js")) == ["notes.js", "tdd.js"]


def test_prune_removes_files_of_skills_that_are_gone(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.write("public/skills/gone.js", publisher.read("public/skills/pdf.js"))

    listed = publisher.run("index", "prune", "public", "--dry-run", check=True)
    assert listed.stdout == "would remove skills/gone.js\nwould remove 1 file\n"
    assert publisher.exists("public/skills/gone.js")

    assert publisher.run("index", "prune", "public", check=True).stdout == "removed skills/gone.js\n"
    assert not publisher.exists("public/skills/gone.js")
    assert publisher.exists("public/skills/pdf.js")


def test_an_index_without_a_page(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    assert publisher.build("--no-catalog") == "+ pdf 1.0.0\npublic: 1 skill, 1 version; 4 files written\n"
    assert not publisher.exists(PAGE)

    publisher.run("index", "yank", "pdf@1.0.0", "public", check=True)
    assert not publisher.exists(PAGE)

    publisher.run("index", "unyank", "pdf@1.0.0", "public", check=True)
    assert publisher.build() == "public: 1 skill, 1 version; 3 files written\n"
    assert publisher.exists(PAGE)

    assert publisher.build("--no-catalog") == (
        "removed catalog.html\nremoved index.html\nremoved skills/pdf.js\n"
        "public: 1 skill, 1 version; nothing to write\n"
    )
    assert not publisher.exists(PAGE)


@pytest.mark.parametrize("is_link", [False, True])
def test_a_start_page_of_the_user_is_left_alone(publisher: IndexPublisher, *, is_link: bool) -> None:
    start = publisher.index_folder / "index.html"
    publisher.write("public/products.html", "<title>Our products</title>\n")
    start.symlink_to("products.html") if is_link else publisher.write(
        "public/index.html", "<title>Our products</title>\n"
    )
    publisher.write_draft("pdf", "1.0.0")

    publisher.build()
    publisher.run("index", "check", "public", check=True)
    publisher.build("--no-catalog")

    assert start.is_symlink() is is_link
    assert start.read_text() == "<title>Our products</title>\n"


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


def test_a_reference_that_is_repeated_does_not_multiply_the_page() -> None:
    """30,000 characters 10,000 times would be 300 MB, in the memory of the build and of each reader."""
    html = render_safe_html(f'[a]: https://example.com/{"x" * 30_000} "{"y" * 10_000}"\n\n{"[a] " * 8_000}')

    assert html.count("https://example.com/") == 8
    assert html.count(">a</a>") == 8_000
    assert len(html) < 800_000


def test_a_file_of_the_user_is_not_overwritten_by_the_page_of_a_skill(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.write("public/skills/pdf.js", "// ours\n")

    result = publisher.run("index", "build", "skills", "--out", "public")

    assert (result.code, result.stderr) == (
        1,
        "error: refusing to overwrite a file that skillpm did not write\n"
        f"  where: {publisher.work}/public/skills/pdf.js\n"
        "  hint: move it away, or build without the page (--no-catalog)\n",
    )
    assert not publisher.exists("public/index.json")
    publisher.build("--no-catalog")
    assert publisher.read("public/skills/pdf.js") == "// ours\n"


def test_a_link_in_place_of_the_page_of_a_skill_is_not_replaced(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.write("own.js", publisher.read("public/skills/pdf.js"))
    (publisher.work / "public/skills/pdf.js").unlink()
    (publisher.work / "public/skills/pdf.js").symlink_to("../../own.js")

    assert publisher.run("index", "build", "skills", "--out", "public").code == 1


def test_long_texts_are_cut() -> None:
    body = "A line of text.\n" * 5_000

    entry = build_skill_page(Skill(declared="pdf", description="", body=body), FileTree(files=()))

    assert entry["html"].count("A line of text.") == 4_096
    assert entry["cut"] == 80_000


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
    item = read_item(publisher, "pdf")
    archive = publisher.index_folder / "archives/pdf-1.0.0.tar.gz"
    data = archive.read_bytes()
    for path in (archive, publisher.index_folder / "catalog.html"):
        path.unlink()
    publisher.write_draft("tdd", "1.0.0")
    publisher.run("index", "build", "skills/tdd", "--out", "public", check=True)

    assert (read_item(publisher, "pdf")["page"]["html"], read_item(publisher, "pdf")["page"]["files"]) == ("", [])
    assert read_item(publisher, "tdd")["page"]["html"] == "<p>Do it well.</p>\n"

    archive.write_bytes(data)
    publisher.build()

    assert read_item(publisher, "pdf") == item
