"""The requirements of a manifest: each value form means one source, and each source has one value form."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from requirements.source_strategies import sources

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError
from skillpm.formats.manifest import read_manifest
from skillpm.kinds.archive import UrlSource
from skillpm.kinds.base import Source
from skillpm.kinds.bundled import BundledSource
from skillpm.kinds.git import GitSource
from skillpm.kinds.index import IndexSource
from skillpm.kinds.local import PathSource
from skillpm.kinds.package import PackageSource
from skillpm.requirements.manifest_requirements import read_requirement, read_requirements, requirement_values

PDF = SkillName("pdf")
COMMIT = "9d2f1ae1" * 5
DIGEST = "sha256:" + "0123456789abcdef" * 4
GIT = GitSource(url="https://github.com/acme/skills")
URL = "https://github.com/acme/skills"


def read(value: Any) -> Source:
    return read_requirement(PDF, JsonNode(value, "skills.json", ("skills", "pdf")))


@pytest.mark.parametrize(
    ("value", "source"),
    [
        ("^1.2", IndexSource(name="pdf", version="^1.2")),
        (" >=1,<2 ", IndexSource(name="pdf", version=">=1,<2")),
        ("1.2.0", IndexSource(name="pdf", version="1.2.0")),
        ("*", IndexSource(name="pdf")),
        ({"version": "*"}, IndexSource(name="pdf")),
        ({"version": "^1", "index": "acme"}, IndexSource(name="pdf", version="^1", index="acme")),
        ({"bundled": True}, BundledSource(name="pdf")),
        ({"path": "../house-style"}, PathSource(path="../house-style")),
        ({"path": "../x", "link": True}, PathSource(path="../x", link=True)),
        ({"path": "../x", "link": False}, PathSource(path="../x")),
        ({"git": URL}, GIT),
        ({"git": URL + ".git/"}, GIT),
        ({"git": "https://ann:secret@github.com/acme/skills"}, GIT),
        ({"git": URL, "path": "skills/pdf"}, GIT.replace(path="skills/pdf")),
        ({"git": URL, "path": "./skills/pdf/"}, GIT.replace(path="skills/pdf")),
        ({"git": URL, "path": "/"}, GIT.replace(path=".")),
        ({"git": URL, "path": "."}, GIT.replace(path=".")),
        ({"git": URL, "path": ""}, GIT),
        ({"git": URL, "skill": "pdf"}, GIT.replace(skill="pdf")),
        ({"git": URL, "rev": COMMIT}, GIT.replace(kind="rev", ref=COMMIT)),
        ({"git": URL, "tag": "v1.2"}, GIT.replace(kind="tag", ref="v1.2")),
        ({"git": URL, "branch": "feature/x"}, GIT.replace(kind="branch", ref="feature/x")),
        ({"git": URL, "version": " >=2,<3 "}, GIT.replace(kind="version", ref=">=2,<3")),
        ({"url": "https://host.example/x.tar.gz"}, UrlSource(url="https://host.example/x.tar.gz")),
        (
            {"url": "https://ann:secret@host.example/x.tar.gz", "digest": DIGEST},
            UrlSource(url="https://host.example/x.tar.gz", digest=DIGEST),
        ),
        ({"url": "../x.tar.gz"}, UrlSource(url="../x.tar.gz")),
        ("acme/skills#v2@pdf", GIT.replace(kind="any", ref="v2", skill="pdf")),
        (
            "https://github.com/acme/skills.git#v2&path:/skills/pdf",
            GIT.replace(kind="any", ref="v2", path="skills/pdf"),
        ),
        ("link:./skills/mine", PathSource(path="./skills/mine", link=True)),
        ("./skills/mine", PathSource(path="./skills/mine")),
        ("~/skills/mine", PathSource(path="~/skills/mine")),
        ("4chan/skills", GitSource(url="https://github.com/4chan/skills")),
        ("bundled:pdf", BundledSource(name="pdf")),
        ({"env": "Fast_API.Skills"}, PackageSource(kind="env", package="fast-api-skills")),
        ({"env": "streamlit", "skill": "apps"}, PackageSource(kind="env", package="streamlit", skill="apps")),
        ({"npm": "@acme/UI"}, PackageSource(kind="npm", package="@acme/UI")),
        ("env:fastapi", PackageSource(kind="env", package="fastapi")),
        ("npm:@acme/ui@button", PackageSource(kind="npm", package="@acme/ui", skill="button")),
        ("https://host.example/x.zip", UrlSource(url="https://host.example/x.zip")),
    ],
)
def test_a_value_means_a_source(value: Any, source: Source) -> None:
    assert read(value) == source


EXAMPLES = "e.g. code-review, owner/repo@skill, https://github.com/owner/repo, ./folder"
COMMAS = "e.g. `^1.2`, `~1.2`, `>=1.2,<2` or `1.2.0`, with commas between its parts"
RANGE_OR_OBJECT = "write a range like `^1.2`, or an object with git and path"
HTTP = "e.g. https://host.example/skill.tar.gz"
FORMS = "a requirement with git, path, bundled, url, oci, version, env or npm"


@pytest.mark.parametrize(
    ("value", "message", "where", "hint"),
    [
        (3, "expected an object, got 3", "", ""),
        (None, "expected an object, got null", "", ""),
        (["^1"], "expected an object, got an array", "", ""),
        ({}, f"expected {FORMS}, got an object", "", ""),
        ({"index": "acme"}, f"expected {FORMS}, got an object", "", ""),
        ({"gti": URL}, "unknown key `gti`; did you mean `git`?", ".gti", ""),
        (">=1 <2", "invalid version range `>=1 <2`", "", COMMAS),
        ("^1 || ^2", "invalid version range `^1 || ^2`", "", COMMAS),
        ("1.2 - 2.0", "invalid version range `1.2 - 2.0`", "", COMMAS),
        ("=1.2", "invalid version range `=1.2`", "", COMMAS),
        ("1.2.3-1", "invalid version range `1.2.3-1`", "", COMMAS),
        ("v2.x\x1b", "invalid version range `v2.x\\x1b`", "", COMMAS),
        ("latest", "expected a version range or a source, got `latest`", "", RANGE_OR_OBJECT),
        ("code-review@^1", "expected a version range or a source, got `code-review@^1`", "", RANGE_OR_OBJECT),
        (
            f"{URL}/tree/main/pdf",
            f"expected a version range or a source, got `{URL}/tree/main/pdf`",
            "",
            RANGE_OR_OBJECT,
        ),
        (
            "bundled:code-review",
            "a bundled skill cannot be renamed: `code-review`",
            "",
            "use the key `code-review`",
        ),
        ("env:", "expected a version range or a source, got `env:`", "", RANGE_OR_OBJECT),
        ({"env": "a/b"}, 'expected the name of a package, got "a/b"', ".env", ""),
        ({"npm": ".."}, 'expected the name of a package, got ".."', ".npm", ""),
        ({"env": "a", "version": "1"}, "unknown key `version`; known keys: env, skill", ".version", ""),
        ("", "the SPEC is empty", "", EXAMPLES),
        ("Code Review", "invalid SPEC `Code Review`", "", EXAMPLES),
        ("a\0b", "invalid SPEC `a\\x00b`", "", EXAMPLES),
        ("ext::sh", "invalid SPEC `ext::sh`", "", EXAMPLES),
        ({"version": ">=1 <2"}, "invalid version range `>=1 <2`", ".version", COMMAS),
        ({"version": 1.2}, "expected a string, got 1.2", ".version", ""),
        ({"version": "^1", "index": 1}, "expected a string, got 1", ".index", ""),
        ({"version": "^1", "rev": COMMIT}, "unknown key `rev`; known keys: version, index", ".rev", ""),
        ({"bundled": False}, "expected true, got false", ".bundled", ""),
        ({"bundled": "pdf"}, 'expected true, got "pdf"', ".bundled", ""),
        ({"bundled": True, "version": "1"}, "unknown key `version`; known keys: bundled", ".version", ""),
        ({"path": 1}, "expected a string, got 1", ".path", ""),
        ({"path": ""}, 'expected a path, got ""', ".path", ""),
        ({"path": "a\0b"}, 'expected a path, got "a\\u0000b"', ".path", ""),
        ({"path": "a", "link": "yes"}, 'expected true or false, got "yes"', ".link", ""),
        ({"path": "a", "tag": "v1"}, "unknown key `tag`; known keys: path, link", ".tag", ""),
        ({"git": 3}, "expected a string, got 3", ".git", ""),
        ({"git": None}, "expected a string, got null", ".git", ""),
        ({"git": "ext::sh"}, "unsafe git URL `ext::sh`", ".git", ""),
        ({"git": "skills"}, "invalid git URL `skills`", ".git", "e.g. https://github.com/owner/repository"),
        (
            {"git": URL, "tagg": "v1"},
            "unknown key `tagg`; did you mean `tag`?",
            ".tagg",
            "",
        ),
        (
            {"git": URL, "any": "v1"},
            "unknown key `any`; known keys: git, path, skill, rev, tag, branch, version, files",
            ".any",
            "",
        ),
        ({"git": URL, "rev": COMMIT, "tag": "v1"}, "rev, tag cannot be combined", "", ""),
        ({"git": URL, "tag": "v1", "branch": "x", "version": "1"}, "tag, branch, version cannot be combined",
         "", ""),
        ({"git": URL, "rev": "main"}, 'expected a full commit id (40 hex digits), got "main"', ".rev", ""),
        ({"git": URL, "rev": COMMIT[:12]}, f'expected a full commit id (40 hex digits), got "{COMMIT[:12]}"', ".rev",
         ""),
        ({"git": URL, "tag": "-x"}, 'expected the name of a tag, got "-x"', ".tag", ""),
        ({"git": URL, "tag": ""}, 'expected the name of a tag, got ""', ".tag", ""),
        ({"git": URL, "branch": "a..b"}, 'expected the name of a branch, got "a..b"', ".branch", ""),
        ({"git": URL, "version": "main"}, "invalid version range `main`", ".version", COMMAS),
        ({"git": URL, "path": "../x"}, "the path has an empty, `.` or `..` part", ".path", ""),
        ({"git": URL, "path": "a/.git"}, "the path is a .git folder or file", ".path", ""),
        ({"git": URL, "path": 1}, "expected a string, got 1", ".path", ""),
        ({"url": "ftp://host/x.zip"}, "invalid web address `ftp://host/x.zip`", ".url", HTTP),
        ({"url": "file:///etc/passwd"}, "invalid web address `file:///etc/passwd`", ".url", HTTP),
        ({"url": "./a\0"}, 'expected a path, got "./a\\u0000"', ".url", ""),
        ({"url": URL, "digest": ""}, "expected sha256: and 64 hex digits, got ''", ".digest", ""),
        ({"url": URL, "digest": None}, "expected sha256: and 64 hex digits, got None", ".digest", ""),
        ({"url": URL, "digest": "md5:abc"}, "expected sha256: and 64 hex digits, got 'md5:abc'", ".digest", ""),
    ],
)  # fmt: skip
def test_an_invalid_value_is_reported_with_its_key(value: Any, message: str, where: str, hint: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(value)
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        message,
        f"skills.json: skills.pdf{where}",
        hint,
    )


# Round trips


@settings(max_examples=120)
@given(sources)
def test_a_source_round_trips_through_its_value(source: Source) -> None:
    value = source.to_json()

    assert read(value) == source
    assert json.loads(json.dumps(value)) == value
    assert read(value).to_json() == value


@settings(max_examples=120)
@given(sources, sources)
def test_equal_values_mean_equal_sources(one: Source, other: Source) -> None:
    assert (one.to_json() == other.to_json()) == (one == other)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (
            GIT.replace(path="skills/pdf", skill="pdf", kind="tag", ref="v1"),
            {"git": URL, "path": "skills/pdf", "skill": "pdf", "tag": "v1"},
        ),
        (GIT, {"git": URL}),
        (GIT.replace(kind="any", ref="v2"), {"git": URL, "any": "v2"}),
        (PathSource(path="../x"), {"path": "../x"}),
        (PathSource(path="../x", link=True), {"path": "../x", "link": True}),
        (BundledSource(name="pdf"), {"bundled": True}),
        (IndexSource(name="pdf", version="^1"), "^1"),
        (IndexSource(name="pdf", index="acme"), {"version": "*", "index": "acme"}),
        (UrlSource(url="https://h.example/x.zip"), {"url": "https://h.example/x.zip"}),
        (UrlSource(url="https://h.example", digest=DIGEST), {"url": "https://h.example", "digest": DIGEST}),
    ],
)
def test_a_source_has_one_value_form(source: Source, value: Any) -> None:
    assert source.to_json() == value


def test_a_whole_manifest_is_parsed() -> None:
    manifest = read_manifest(
        json.dumps({"skills": {"pdf": {"git": URL, "path": "skills/pdf"}, "tdd": "acme/skills#v2@tdd", "x": "^1"}}),
        "skills.json",
    )
    meant = {
        "pdf": GIT.replace(path="skills/pdf"),
        "tdd": GIT.replace(kind="any", ref="v2", skill="tdd"),
        "x": IndexSource(name="x", version="^1"),
    }

    assert read_requirements(manifest) == meant
    assert requirement_values(read_requirements(manifest)) == {
        "pdf": {"git": URL, "path": "skills/pdf"},
        "tdd": {"git": URL, "skill": "tdd", "any": "v2"},
        "x": "^1",
    }


def test_an_error_in_a_manifest_names_file_and_key() -> None:
    manifest = read_manifest('{"skills": {"pdf": {"git": 3}}}', "/somewhere/skills.json")
    with pytest.raises(DocumentError) as caught:
        read_requirements(manifest)
    assert (caught.value.where, caught.value.message) == (
        "/somewhere/skills.json: skills.pdf.git",
        "expected a string, got 3",
    )
