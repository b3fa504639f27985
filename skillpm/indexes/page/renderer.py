"""Render `catalog.html`: one file with a template, a script, a style sheet, and the data of the index.

The list of skills comes first, so that it is usable while the rest is loading. The texts follow in compressed parts,
which the script decompresses when one of their skills is opened. The same index gives the same bytes.
"""

import hashlib
import json
import os
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from typing import Any
from zlib import compress

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from skillpm import __version__
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.formats.index_catalog import MAX_DESCRIPTION_LENGTH, SkillSummary
from skillpm.formats.index_releases import Release, SkillReleases
from skillpm.indexes.page.header import compute_index_digest
from skillpm.indexes.page.skill_entry import SkillPage

PAGE_VERSION = 2  # raised whenever the same SKILL.md gives another page
SKILLS_PER_PART = 16  # few enough to decompress at once, enough to compress well
# Concatenated in this order: each file uses only what is defined above it while it is loaded.
SCRIPTS = ("dom.js", "data.js", "search.js", "list.js", "text.js", "skill.js", "keys.js", "start.js")
TEMPLATE_DIR = os.path.join(os.path.dirname(__file__), "parts")
MAX_TAGS = 40


class PageEntry(Value):
    """One skill of the page."""

    summary: SkillSummary
    releases: SkillReleases
    page: SkillPage


def generator_id() -> str:
    """Return the versions of everything that renders entries: the same generator gives the same bytes."""
    libraries = "; ".join(f"{name} {version(name)}" for name in ("markdown-it-py", "nh3"))
    return f"skillpm {__version__}; page {PAGE_VERSION}; {libraries}"


def render_page(name: str, entries: Iterable[PageEntry], text_limit: int) -> bytes:
    """Render the page of the index `name`. `entries` must be sorted by name, and their texts cut to `text_limit`."""
    skills, rows, parts = [], [], []
    for part in _split_parts(entries):
        skills += [(entry.summary, entry.releases) for entry in part]
        rows += [_list_row(entry) for entry in part]
        parts.append(_compress_json([_detail_item(entry) for entry in part]))
    style, script = _style(), _script()
    chunks = _template().generate(
        title=sanitize(name),
        count=len(rows),
        generator=generator_id(),
        text_limit=text_limit,
        index_digest=compute_index_digest(name, skills),
        style=Markup(style),  # noqa: S704  (a file of this package)
        script=Markup(script),  # noqa: S704
        style_hash=_csp_hash(style),
        script_hash=_csp_hash(script),
        top=_embed_json({"name": sanitize(name), "part": SKILLS_PER_PART, "skills": rows}),
        parts=parts,
    )
    # Encoded in chunks: a single emoji in a `str` of the whole page would make it four bytes per character.
    return b"".join(chunk.encode() for chunk in chunks)


def _split_parts(entries: Iterable[PageEntry]) -> Iterator[list[PageEntry]]:
    """Yield the entries in lists of `SKILLS_PER_PART` (`itertools.batched` needs Python 3.12)."""
    part: list[PageEntry] = []
    for entry in entries:
        part.append(entry)
        if len(part) == SKILLS_PER_PART:
            yield part
            part = []
    if part:
        yield part


def _list_row(entry: PageEntry) -> list[Any]:
    """Return what the list and the search need of a skill, in the order that `data.js` expects."""
    summary = entry.summary
    return [
        summary.name,
        sanitize(summary.description, MAX_DESCRIPTION_LENGTH),
        sanitize(summary.category, 60),
        [sanitize(tag, 60) for tag in summary.tags[:MAX_TAGS]],
        summary.latest,
        entry.page["tokens"],
        entry.page["triggers"],
    ]


def _detail_item(entry: PageEntry) -> dict[str, Any]:
    """Return what the view of a skill needs in addition to its row."""
    latest = next(release for release in entry.releases.versions if release.version == entry.summary.latest)
    return {
        "name": entry.summary.name,
        "digest": latest.digest,
        "url": latest.url,
        "dependencies": dict(sorted(latest.dependencies.items())),
        "versions": [_version_row(release) for release in entry.releases.versions],
        "leaf": entry.page,
    }


def _version_row(release: Release) -> list[Any]:
    yanked = sanitize(release.reason) or True if release.yanked else False
    return [release.version, release.published[:10], release.size, yanked]


def _embed_json(value: Any) -> Markup:
    """Return JSON for a `<script>` element. Without any `<`, it cannot contain `</script` or `<!--`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(text)  # noqa: S704


def _compress_json(value: Any) -> str:
    return b64encode(compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), 9)).decode()


def _csp_hash(text: str) -> str:
    """Return the hash of a text in the syntax of Content-Security-Policy."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _template() -> Template:
    loader = FileSystemLoader(TEMPLATE_DIR, encoding="utf-8")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.get_template("page.html")


@cache
def _style() -> str:
    return _read("style.css")


@cache
def _script() -> str:
    body = "\n".join(_read(name) for name in SCRIPTS)
    return f'\n(() => {{\n"use strict";\n{body}}})();\n'


def _read(name: str) -> str:
    with open(os.path.join(TEMPLATE_DIR, name), encoding="utf-8", newline="\n") as file:
        return file.read()
