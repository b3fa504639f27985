"""Malicious skills on the page: no scripts run, no requests are made, and their content is shown as text.

`index build` refuses half of these attacks, so the page is also rendered directly, without its checks.
"""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from indexes.world import IndexPublisher, serve_index
from kit import GitServer, make_skill, prefix_paths

from skillpm.core.digest import parse_digest
from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.core.names import SkillName
from skillpm.core.system_requirements import SystemRequirements
from skillpm.formats.index_catalog import CatalogSkill
from skillpm.formats.index_releases import Release, SkillReleases
from skillpm.indexes.page.renderer import render_page, render_skill_file
from skillpm.indexes.page.skill_entry import build_skill_page
from skillpm.skillmd.skill import Skill

if TYPE_CHECKING:
    from indexes.reader import Reader

pytestmark = pytest.mark.slow

# Which of these a browser reports for markup that it parses but does not show differs between versions.
FORBIDDEN_BY = {
    *("base-uri", "connect-src", "font-src", "form-action", "frame-src", "img-src", "manifest-src", "media-src"),
    *("object-src", "prefetch-src", "script-src", "script-src-attr", "script-src-elem", "style-src", "style-src-attr"),
    *("style-src-elem", "require-trusted-types-for", "trusted-types"),
}
BREAK_OUT = "</script></textarea></title><script>ran()</script><img src=x onerror=ran()>\"'`--><svg onload=ran()>"


def attack(host: str) -> str:
    """Return a text with all kinds of attacks; any that succeeds makes a request to `host`."""
    return f"""
<script>ran()</script><script src="{host}/script.js"></script>
<img src="{host}/picture.png" onerror="ran()"> ![picture]({host}/picture.png "title") ![]({host}/x.svg)
<style>@import "{host}/style.css"; body {{ background: url({host}/back.png) }}</style>
<link rel="stylesheet" href="{host}/style.css"><link rel="prefetch" href="{host}/next">
<meta http-equiv="refresh" content="0; url={host}/refresh"><base href="{host}/">
<svg onload="ran()"><use href="{host}/x.svg#a"/><script>ran()</script></svg><math><mtext><img src=x onerror=ran()>
<iframe src="{host}/frame" srcdoc="<script>parent.ran()</script>"></iframe><object data="{host}/o"></object>
<video src="{host}/v" autoplay></video>
<form action="{host}/f"><input autofocus onfocus="ran()"><button>x</button></form>
<a href="javascript:ran()">html</a> <details open ontoggle="ran()">x</details> <div style="background:url({host}/y)">

[script](javascript:ran()) [tab](java\tscript:ran()) [entity](&#106;avascript:ran()) [vb](vbscript:x) [blob](blob:x)
[data](data:text/html;base64,PHNjcmlwdD5yYW4oKTwvc2NyaXB0Pg==) [file](file:///etc/passwd) [frame](/catalog.html)
<javascript:ran()> <https://example.com/"onmouseover="ran()> [quote](https://example.com/"onmouseover="ran())

```html" onmouseover="ran()
</code></pre><script>ran()</script>
```

| <img src=x onerror=ran()> |
|:--|
| {BREAK_OUT} |

[r]: javascript:ran()
[r] \u202eright to left\u202c zero\u200bwidth \x1b[31mred
"""


def write_hostile_page(folder: Path, name: str, host: str) -> None:
    evil = SkillName("evil")
    digest = parse_digest("sha256:" + "0" * 64, where="here")
    text = BREAK_OUT + "\u202e"
    releases = SkillReleases(
        name=evil,
        versions=tuple(
            Release(version=version, url="javascript:ran()", digest=digest, sha256="0" * 64, size=1, published="<b>",
                    dependencies={text: text}, yanked=yanked, reason=text)
            for version, yanked in (("2.0.0", True), ("1.0.0", False))
        ),
    )  # fmt: skip
    read = Skill(
        declared="evil", description=text, body=attack(host), license=text, author=text, homepage="javascript:ran()",
        compatibility=text, triggers=(text,), requires=SystemRequirements(bins=(text,), notes=(text,)),
    )  # fmt: skip
    summary = CatalogSkill(name=evil, description=text, category=text, tags=(text, "__proto__"), latest="1.0.0")
    script = attack(host).encode()
    files = (TreeFile(path="SKILL.md", data=b""), TreeFile(path=f"{BREAK_OUT}.sh", data=script, executable=True))
    row, data = render_skill_file(summary, releases, build_skill_page(read, FileTree(files=files)))
    (folder / "skills").mkdir()
    (folder / "skills/evil.js").write_bytes(data)
    (folder / "catalog.html").write_bytes(render_page(name, [row]))


def look_at_everything(reader: "Reader", address: str) -> None:
    """Open, filter, search, hover and copy everything."""
    reader.visit(address)
    for choice in reader.page.locator(".choice").all():
        choice.click()
    reader.page.locator("#search").fill("</script><img")
    reader.page.locator("#search").fill("")
    reader.page.locator("a.row").first.click()
    assert reader.text
    for link in reader.page.locator(".prose a, .facts a").all():
        link.hover()
    for copy in reader.page.locator("#skill-view .copy:visible").all():
        copy.click()
    for file in range(reader.page.locator(".files a").count()):
        reader.page.locator(".files a").nth(file).click()
        assert reader.text
    reader.page.locator(".files a").first.click()


def test_a_published_malicious_skill_runs_no_scripts_and_makes_no_requests(
    publisher: IndexPublisher, reader: "Reader", server: GitServer
) -> None:
    body = re.sub("[\u200b-\u202e\x1b]", "", attack(server.address))
    metadata = {"version": "1.0.0", "category": BREAK_OUT, "tags": BREAK_OUT, "author": BREAK_OUT}
    files = make_skill("evil", description=BREAK_OUT, body=body, license=BREAK_OUT, metadata=metadata)
    publisher.write_files(prefix_paths("skills/evil", files))
    publisher.write("../home/.config/skillpm/config.toml", "[audit]\nblock = []\n")
    publisher.build()
    serve_index(server, publisher.index_folder)

    look_at_everything(reader, f"{server.address}/catalog.html")

    assert reader.broken == []
    assert [request.path for request in server.requests] == ["/catalog.html", "/skills/evil.js"]
    assert reader.page.locator("#skill-view .lead").inner_text() == BREAK_OUT


def test_content_that_no_build_would_accept_is_shown_as_text(
    reader: "Reader", server: GitServer, tmp_path: Path
) -> None:
    write_hostile_page(tmp_path, f"</title>{BREAK_OUT}", server.address)
    page = f"file://{tmp_path}/catalog.html"

    look_at_everything(reader, page)

    assert reader.broken == []
    assert [each.partition("?")[0] for each in reader.asked] == [page, f"file://{tmp_path}/skills/evil.js"]
    assert server.requests == []
    assert reader.page.locator("#skill-view .lead").inner_text() == f"{BREAK_OUT}\\u202e"
    assert "\\u202eright to left" in reader.text
    allowed = {"https://example.com/%22onmouseover=%22ran()"}
    links = reader.page.locator(".prose a, .facts dl a").evaluate_all(
        "links => links.map((link) => link.getAttribute('href'))"
    )
    assert {link for link in links if link} == allowed
    tags = reader.page.locator(".prose *").evaluate_all("all => [...new Set(all.map((one) => one.localName))].sort()")
    assert set(tags) <= {"p", "a", "span", "pre", "code", "div", "table", "thead", "tbody", "tr", "th", "td", "em"}


def test_the_page_is_safe_even_if_the_sanitizer_fails(
    publisher: IndexPublisher, reader: "Reader", server: GitServer
) -> None:
    publisher.write_draft("evil", "1.0.0")
    publisher.build()
    file = publisher.read("public/skills/evil.js")
    packed = file.split('"')[3]
    details = json.loads(zlib.decompress(base64.b64decode(packed)))
    details["page"]["html"] = attack(server.address)
    forged = base64.b64encode(zlib.compress(json.dumps(details).encode())).decode()
    publisher.write("public/skills/evil.js", file.replace(packed, forged))

    reader.visit(f"file://{publisher.index_folder}/catalog.html")
    reader.page.locator("a.row").first.click()
    assert reader.text.startswith("![picture]")

    # A script that ran, or an error, would not begin with the name of a directive.
    assert {line.split()[0] for line in reader.broken} <= FORBIDDEN_BY
    assert reader.page.evaluate("document.querySelectorAll('base, link[rel=stylesheet]').length") == 0
    assert (reader.alarms, server.requests) == ([], [])
    assert len(reader.asked) == 2  # the page and the file of the skill
    assert reader.page.locator(".prose").evaluate("(text) => text.querySelectorAll('script, img, meta').length") == 0


def test_the_page_loads_no_other_scripts(publisher: IndexPublisher, reader: "Reader") -> None:
    publisher.write_draft("evil", "1.0.0")
    publisher.build()
    publisher.write("public/skills/evil.js", "ran();\n")
    page = publisher.read("public/catalog.html")
    packed = page.split('id="top">')[1].split("<")[0]
    forged = json.loads(zlib.decompress(base64.b64decode(packed)))
    forged["skills"][0][0] = "../skills/evil"
    forged = base64.b64encode(zlib.compress(json.dumps(forged).encode())).decode()
    publisher.write("public/catalog.html", page.replace(packed, forged))

    reader.visit(f"file://{publisher.index_folder}/catalog.html#/skill/..%2Fskills%2Fevil")

    assert reader.text == "The text of this skill could not be loaded. Try again"
    assert reader.broken == []
