"""Render the HTML catalog: `catalog.html`, with script, style sheet and the list of skills, and a file for each skill.

The list is compressed, since not every server does it: it decides when the page can first be used. The file of a skill
is a script that passes on compressed data, which the page can load from a folder, too. The same index gives the same
bytes.
"""

import hashlib
import json
import os
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any
from zlib import compress

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from skillpm import __version__
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.formats.index_catalog import MAX_DESCRIPTION_LENGTH, CatalogSkill
from skillpm.formats.index_releases import Release, SkillReleases
from skillpm.indexes.page.header import SKILL_FILE_START, compute_index_digest
from skillpm.indexes.page.skill_entry import SkillPage

PAGE_VERSION = 5  # raised whenever the same SKILL.md gives another page
# Concatenated in this order: each file uses only what is defined above it while it is loaded.
SCRIPTS = ("dom.js", "theme.js", "data.js", "search.js", "list.js", "text.js", "skill.js", "keys.js", "start.js")
TEMPLATE_DIR = os.path.join(os.path.dirname(__file__), "parts")
MAX_TAGS = 40
INDENT_OR_COMMENT = lazy_pattern(r"^ *(?://.*\n)?", re.MULTILINE)


class PageRow(Value):
    """One skill in the list of the page."""

    summary: CatalogSkill
    releases: SkillReleases
    # In the order that `data.js` expects.
    fields: tuple[Any, ...]


def generator_id() -> str:
    """Return the versions of everything that renders pages: the same generator gives the same bytes."""
    libraries = "; ".join(f"{name} {version(name)}" for name in ("markdown-it-py", "nh3"))
    return f"skillpm {__version__}; page {PAGE_VERSION}; {libraries}"


def render_skill_file(
    summary: CatalogSkill, releases: SkillReleases, page: SkillPage, spec: str = ""
) -> tuple[PageRow, bytes]:
    """Render the file of a skill, which the page loads when the skill is opened; return it with the skill's row.

    `spec` is what installs the skill, if that is not its name in this index.
    """
    latest = next(release for release in releases.versions if release.version == summary.latest)
    details = {
        "digest": latest.digest,
        "url": latest.url,
        "dependencies": dict(sorted(latest.dependencies.items())),
        "versions": [_version_row(release) for release in releases.versions],
        "page": page,
    }
    # Names and base64 need no escaping, regardless of the content of the skill.
    file = SKILL_FILE_START + f'"{summary.name}","{_compress_json(details)}");\n'.encode()
    fields = (
        summary.name,
        sanitize(summary.description, MAX_DESCRIPTION_LENGTH),
        sanitize(summary.category, 60),
        [sanitize(tag, 60) for tag in summary.tags[:MAX_TAGS]],
        summary.latest,
        page["tokens"],
        page["triggers"],
        latest.published[:10],
        latest.size,
        hashlib.sha256(file).hexdigest()[:8],  # part of the address, so that no cache returns an older file
        spec,
        sorted(latest.dependencies),
    )
    return PageRow(summary=summary, releases=releases, fields=fields), file


def render_page(name: str, rows: Sequence[PageRow]) -> bytes:
    """Render the page of the index `name`. `rows` must be sorted by name."""
    style, script = _style(), _script()
    page = _template().render(
        title=sanitize(name),
        count=len(rows),
        generator=generator_id(),
        index_digest=compute_index_digest(name, [(row.summary, row.releases) for row in rows]),
        style=Markup(style),  # noqa: S704  (a file of this package)
        script=Markup(script),  # noqa: S704
        style_hash=_csp_hash(style),
        script_hash=_csp_hash(script),
        top=_compress_json({"name": sanitize(name), "skills": [row.fields for row in rows]}),
    )
    return page.encode()


def _version_row(release: Release) -> list[Any]:
    yanked = sanitize(release.reason) or True if release.yanked else False
    return [release.version, release.published[:10], release.size, yanked]


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
    body = INDENT_OR_COMMENT.sub("", "\n".join(_read(name) for name in SCRIPTS))
    return f'\n(async () => {{\n"use strict";\n{body}}})();\n'


def _read(name: str) -> str:
    with open(os.path.join(TEMPLATE_DIR, name), encoding="utf-8", newline="\n") as file:
        return file.read()
