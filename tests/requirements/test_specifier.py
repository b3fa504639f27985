"""All forms of a SPEC, and the errors for invalid ones."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.core.text import HIDDEN
from skillpm.errors import UsageError
from skillpm.kinds.archive import UrlSource
from skillpm.kinds.base import Source
from skillpm.kinds.bundled import BundledSource
from skillpm.kinds.git import GitSource
from skillpm.kinds.index import IndexSource
from skillpm.kinds.local import PathSource
from skillpm.kinds.package import PackageSource
from skillpm.requirements.specifier import Specifier, parse_specifier

COMMIT = "9d2f1ae1" * 5
GITHUB = GitSource(url="https://github.com/o/r")
GITLAB = GitSource(url="https://gitlab.com/g/r")
HOST = GitSource(url="https://host.example/x.git")


def index(name: str, version: str = "*") -> IndexSource:
    return IndexSource(name=name, version=version)


NAMES: list[tuple[str, Source]] = [
    ("code-review", index("code-review")),
    ("code-review@1.2.0", index("code-review", "1.2.0")),
    ("code-review@v1.2.0", index("code-review", "v1.2.0")),
    ("code-review@^1.2", index("code-review", "^1.2")),
    ("code-review@~1.2", index("code-review", "~1.2")),
    ("code-review@==1.*", index("code-review", "==1.*")),
    ("code-review@*", index("code-review", "*")),
    ("code-review@ ^1 ", index("code-review", "^1")),
    ("code-review>=1,<2", index("code-review", ">=1,<2")),
    ("code-review~=1.4", index("code-review", "~=1.4")),
    ("code-review^1.2", index("code-review", "^1.2")),
    ("code-review!=1.5", index("code-review", "!=1.5")),
    ("  pdf\n", index("pdf")),
    ("bundled:code-review", BundledSource(name="code-review")),
]
SHORTHANDS: list[tuple[str, Source]] = [
    ("o/r", GITHUB),
    ("O.w-n_e-r/R.e_p-o", GitSource(url="https://github.com/O.w-n_e-r/R.e_p-o")),
    ("o/r.git", GITHUB),
    ("o/r@pdf", GITHUB.replace(skill="pdf")),
    ("o/r#v1.2", GITHUB.replace(kind="any", ref="v1.2")),
    ("o/r#feature/x", GITHUB.replace(kind="any", ref="feature/x")),
    (f"o/r#{COMMIT}", GITHUB.replace(kind="rev", ref=COMMIT)),
    (f"o/r#{COMMIT[:12]}", GITHUB.replace(kind="any", ref=COMMIT[:12])),
    ("o/r#v1@pdf", GITHUB.replace(kind="any", ref="v1", skill="pdf")),
    ("o/r#our-lib@1.1.0@pdf", GITHUB.replace(kind="any", ref="our-lib@1.1.0", skill="pdf")),
    ("o/r#our-lib@1.1.0", GITHUB.replace(kind="any", ref="our-lib@1.1.0")),
    ("o/r#@pdf", GITHUB.replace(skill="pdf")),
    ("o/r#HEAD@pdf", GITHUB.replace(skill="pdf")),
    ("o/r/path/to/skill", GITHUB.replace(path="path/to/skill")),
    ("o/r/path/to/skill/", GITHUB.replace(path="path/to/skill")),
    ("o/r/path/SKILL.md", GITHUB.replace(path="path")),
    ("o/r/SKILL.md", GITHUB.replace(path=".")),
    ("o/r/a%20b", GITHUB.replace(path="a b")),
    ("o/r/path#v1", GITHUB.replace(path="path", kind="any", ref="v1")),
    ("o/r#v1&path:/skills/pdf", GITHUB.replace(path="skills/pdf", kind="any", ref="v1")),
    ("o/r#path:/skills/pdf", GITHUB.replace(path="skills/pdf")),
    ("github:o/r", GITHUB),
    ("github:o/r#v1@pdf", GITHUB.replace(kind="any", ref="v1", skill="pdf")),
    ("github:o/r/src/skills/pdf", GITHUB.replace(path="src/skills/pdf")),
    ("gitlab:g/r", GITLAB),
    ("gitlab:g/r@pdf", GITLAB.replace(skill="pdf")),
]
FORGES: list[tuple[str, Source]] = [
    ("https://github.com/o/r", GITHUB),
    ("https://github.com/o/r/", GITHUB),
    ("http://github.com/o/r", GITHUB),
    ("https://GitHub.com/o/r", GITHUB),
    ("https://github.com/o/r.git", GITHUB),
    ("https://github.com/o/r?tab=readme-ov-file", GITHUB),
    ("https://github.com/o/r#v1", GITHUB.replace(kind="any", ref="v1")),
    ("https://github.com/o/r@pdf", GITHUB.replace(skill="pdf")),
    ("https://github.com/o/r#v1@pdf", GITHUB.replace(kind="any", ref="v1", skill="pdf")),
    ("https://github.com/o/r.git#v2&path:/skills/pdf", GITHUB.replace(path="skills/pdf", kind="any", ref="v2")),
    ("https://ann:secret@github.com/o/r", GITHUB),
    ("https://gitlab.com/g/r", GITLAB),
    ("https://gitlab.com/g/sub/r", GitSource(url="https://gitlab.com/g/sub/r")),
    ("https://codeberg.org/o/r", GitSource(url="https://codeberg.org/o/r")),
    ("https://bitbucket.org/o/r", GitSource(url="https://bitbucket.org/o/r")),
    ("https://huggingface.co/o/r", GitSource(url="https://huggingface.co/o/r")),
]
GIT: list[tuple[str, Source]] = [
    ("https://host.example/x.git", HOST),
    ("https://host.example/x.git/", HOST),
    ("https://ann:secret@host.example/x.git", HOST),
    ("https://host.example/x.git@pdf", HOST.replace(skill="pdf")),
    ("https://host.example/x.git#v1@pdf", HOST.replace(kind="any", ref="v1", skill="pdf")),
    ("https://host.example/x#v1", GitSource(url="https://host.example/x", kind="any", ref="v1")),
    ("https://host.example/x@pdf", GitSource(url="https://host.example/x", skill="pdf")),
    ("http://127.0.0.1:8000/x.git", GitSource(url="http://127.0.0.1:8000/x.git")),
    ("git+https://host.example/x.git", HOST),
    ("git+https://host.example/x.git@v1", HOST.replace(kind="any", ref="v1")),
    ("git+https://host.example/x.git@feature/x", HOST.replace(kind="any", ref="feature/x")),
    (f"git+https://host.example/x.git@{COMMIT}#subdirectory=a/b", HOST.replace(kind="rev", ref=COMMIT, path="a/b")),
    ("git+https://host.example/x.git#egg=x&subdirectory=a/b", HOST.replace(path="a/b")),
    ("git+https://host.example/x.git#v1@pdf", HOST.replace(kind="any", ref="v1", skill="pdf")),
    ("git+https://token@host.example/x.git@v1", HOST.replace(kind="any", ref="v1")),
    ("git+ssh://git@host.example/x.git@v1", GitSource(url="ssh://git@host.example/x.git", kind="any", ref="v1")),
    ("git+file:///srv/x.git@v1", GitSource(url="file:///srv/x.git", kind="any", ref="v1")),
    ("ssh://git@host.example/x", GitSource(url="ssh://git@host.example/x")),
    ("ssh://git@host.example/x#v1", GitSource(url="ssh://git@host.example/x", kind="any", ref="v1")),
    ("ssh://git@host.example/x@pdf", GitSource(url="ssh://git@host.example/x", skill="pdf")),
    ("git@host.example:o/r.git", GitSource(url="git@host.example:o/r.git")),
    ("git@host.example:o/r.git@pdf", GitSource(url="git@host.example:o/r.git", skill="pdf")),
    ("git@host.example:o/r.git/skills/pdf", GitSource(url="git@host.example:o/r.git", path="skills/pdf")),
    ("git@host.example:o/r.git/lib@pdf", GitSource(url="git@host.example:o/r.git", path="lib", skill="pdf")),
    ("git@host.example:o/r.git/sub.git", GitSource(url="git@host.example:o/r.git/sub.git")),
    ("https://host.example/x.git/skills/pdf", HOST.replace(path="skills/pdf")),
    ("https://host.example/x.git/skills/pdf#v1", HOST.replace(path="skills/pdf", kind="any", ref="v1")),
    ("file:///srv/x.git/y", GitSource(url="file:///srv/x.git/y")),
    ("git@host.example:r.git@pdf", GitSource(url="git@host.example:r.git", skill="pdf")),
    ("git@host.example:o/r#v1@pdf", GitSource(url="git@host.example:o/r", kind="any", ref="v1", skill="pdf")),
    ("file:///srv/x.git", GitSource(url="file:///srv/x.git")),
    ("file:///srv/x", GitSource(url="file:///srv/x")),
    ("file:///srv/x.git#main@pdf", GitSource(url="file:///srv/x.git", kind="any", ref="main", skill="pdf")),
]
FOLDERS: list[tuple[str, Source]] = [
    ("./dir", PathSource(path="./dir")),
    ("../dir", PathSource(path="../dir")),
    ("/dir", PathSource(path="/dir")),
    ("~/dir", PathSource(path="~/dir")),
    (".", PathSource(path=".")),
    ("..", PathSource(path="..")),
    ("~", PathSource(path="~")),
    ("./a b/#1@2", PathSource(path="./a b/#1@2")),
    (".\\dir", PathSource(path=".\\dir")),
    ("C:\\dir", PathSource(path="C:\\dir")),
    ("link:./dir", PathSource(path="./dir", link=True)),
    ("link:~/dir", PathSource(path="~/dir", link=True)),
]
PACKAGES: list[tuple[str, Source]] = [
    ("env:", PackageSource(kind="env", package="")),
    ("env:Fast_API", PackageSource(kind="env", package="fast-api")),
    ("env:fastapi@api", PackageSource(kind="env", package="fastapi", skill="api")),
    ("npm:", PackageSource(kind="npm", package="")),
    ("npm:ui", PackageSource(kind="npm", package="ui")),
    ("npm:@acme/ui", PackageSource(kind="npm", package="@acme/ui")),
    ("npm:@acme/ui@button", PackageSource(kind="npm", package="@acme/ui", skill="button")),
]
ADDRESSES: list[tuple[str, Source]] = [
    ("https://host.example/x.tar.gz", UrlSource(url="https://host.example/x.tar.gz")),
    ("https://host.example/x.tgz", UrlSource(url="https://host.example/x.tgz")),
    ("https://Host.example/X.zip", UrlSource(url="https://host.example/X.zip")),
    ("https://ann:secret@host.example/x.zip", UrlSource(url="https://host.example/x.zip")),
    (
        "https://github.com/o/r/releases/download/v1/x.tar.gz",
        UrlSource(url="https://github.com/o/r/releases/download/v1/x.tar.gz"),
    ),
    ("./x.tar.gz", UrlSource(url="./x.tar.gz")),
    ("https://site.example@pdf", IndexSource(name="pdf", index="https://site.example/")),
    ("https://site.example:8443@pdf", IndexSource(name="pdf", index="https://site.example:8443/")),
    ("http://localhost:8000@pdf", IndexSource(name="pdf", index="http://localhost:8000/")),
    ("https://site.example/@pdf", IndexSource(name="pdf", index="https://site.example/")),
    ("https://Site.example/a/b/@pdf", IndexSource(name="pdf", index="https://site.example/a/b/")),
    ("https://ann:secret@site.example/@pdf", IndexSource(name="pdf", index="https://site.example/")),
    (
        "https://site.example/.well-known/agent-skills/index.json/@pdf",
        IndexSource(name="pdf", index="https://site.example/"),
    ),
    ("https://token@intranet/skills", UrlSource(url="https://intranet/skills")),
    ("https://host.example/a/SKILL.md", UrlSource(url="https://host.example/a/SKILL.md")),
    ("https://host.example", UrlSource(url="https://host.example")),
    ("https://host.example:8443/skills", UrlSource(url="https://host.example:8443/skills")),
    ("https://acme.github.io", UrlSource(url="https://acme.github.io")),
    ("https://acme.github.io/skills", UrlSource(url="https://acme.github.io/skills")),
    ("https://token@host.example/skills", UrlSource(url="https://host.example/skills")),
    ("http://localhost:8000/", UrlSource(url="http://localhost:8000/")),
]


@pytest.mark.parametrize(
    ("spec", "source"),
    [*NAMES, *SHORTHANDS, *FORGES, *GIT, *FOLDERS, *PACKAGES, *ADDRESSES],
    ids=lambda part: str(part)[:60],
)
def test_a_spec_means_a_source(spec: str, source: Source) -> None:
    assert parse_specifier(spec) == Specifier(text=spec.strip(), source=source)


@pytest.mark.parametrize(
    ("spec", "source", "browser"),
    [
        ("https://github.com/o/r/tree/main/skills/pdf", GITHUB, "main/skills/pdf"),
        ("https://github.com/o/r/tree/feature/x/skills/pdf/", GITHUB, "feature/x/skills/pdf"),
        ("https://github.com/o/r/tree/main", GITHUB, "main"),
        ("https://github.com/o/r/blob/v1.2/skills/pdf/SKILL.md", GITHUB, "v1.2/skills/pdf"),
        ("https://github.com/o/r/blob/main/skills/pdf/skill.md", GITHUB, "main/skills/pdf"),
        ("https://github.com/o/r/blob/main/SKILL.md", GITHUB, "main"),
        ("https://github.com/o/r/raw/main/skills/pdf/SKILL.md", GITHUB, "main/skills/pdf"),
        ("https://github.com/o/r/raw/refs/heads/main/skills/pdf/SKILL.md", GITHUB, "refs/heads/main/skills/pdf"),
        ("https://github.com/o/r/blob/main/a/SKILL.md?plain=1#L10-L20", GITHUB, "main/a"),
        ("https://github.com/o/r/tree/main/a%20b", GITHUB, "main/a b"),
        ("https://github.com/o/r/tree/main/a#readme", GITHUB, "main/a"),
        ("https://ann:secret@github.com/o/r/tree/main/a", GITHUB, "main/a"),
        ("https://gitlab.com/g/r/-/tree/main/skills/pdf", GITLAB, "main/skills/pdf"),
        ("https://gitlab.com/g/r/-/blob/main/a/SKILL.md?ref_type=heads", GITLAB, "refs/heads/main/a"),
        ("https://gitlab.com/g/sub/r/-/tree/main/a", GitSource(url="https://gitlab.com/g/sub/r"), "main/a"),
        ("https://gitlab.com/g/r/tree/main/a", GITLAB, "main/a"),
        (
            "https://codeberg.org/o/r/src/branch/main/a",
            GitSource(url="https://codeberg.org/o/r"),
            "refs/heads/main/a",
        ),
        ("https://bitbucket.org/o/r/src/main/a", GitSource(url="https://bitbucket.org/o/r"), "main/a"),
        ("https://huggingface.co/o/r/tree/main/a", GitSource(url="https://huggingface.co/o/r"), "main/a"),
        ("github:o/r/tree/main/a", GITHUB, "main/a"),
        ("gitlab:g/r/-/tree/main/a", GITLAB, "main/a"),
    ],
)
def test_a_page_of_a_forge_leaves_open_where_the_ref_ends(spec: str, source: Source, browser: str) -> None:
    assert parse_specifier(spec) == Specifier(text=spec, source=source, page_path=browser)


EXAMPLES = "e.g. code-review, owner/repo@skill, https://github.com/owner/repo, ./folder"
INSTALLED = "e.g. {0}:PACKAGE or {0}:PACKAGE@SKILL; the version is the installed one"
RANGES = 'e.g. `name@^1.2`, `name@1.2.0` or `"name>=1.2,<2"`'
SCHEMES = "use one of https, ssh, http, file"
ADDRESS = "e.g. https://host.example/skill.tar.gz"
PASTE = "use the URL of the folder, or https://github.com/o/r"


@pytest.mark.parametrize(
    ("spec", "expected", "hint"),
    [
        ("", "the SPEC is empty", EXAMPLES),
        (" \n", "the SPEC is empty", EXAMPLES),
        ("code review", "invalid SPEC {}", EXAMPLES),
        ("code_review", "invalid SPEC {}", "names have hyphens instead of `_`: code-review"),
        ("pdf@", "invalid SPEC {}", EXAMPLES),
        ("-pdf", "{}: invalid skill name {}", EXAMPLES),
        ("a--b", "{}: invalid skill name {}", EXAMPLES),
        ("con@1.0", "{}: invalid skill name `con`", EXAMPLES),
        ("x" * 65, "{}: invalid skill name `" + "x" * 65 + "`", EXAMPLES),
        ("\u212aelvin", "invalid SPEC {}", EXAMPLES),
        ("pdf\u0661", "invalid SPEC {}", EXAMPLES),
        ("env:fastapi>=1", "{}: invalid package name `fastapi>=1`", INSTALLED.format("env")),
        ("pypi:fastapi@api", "invalid SPEC {}", "for a package that is installed: env:fastapi@api"),
        ("env:../x", "{}: invalid package name `../x`", INSTALLED.format("env")),
        ("env:fastapi@../x", "{}: invalid skill name `../x`", EXAMPLES),
        ("npm:@acme", "{}: invalid package name `@acme`", INSTALLED.format("npm")),
        ("npm:a/b/c", "{}: invalid package name `a/b/c`", INSTALLED.format("npm")),
        ("npm:.pnpm", "{}: invalid package name `.pnpm`", INSTALLED.format("npm")),
        ("bundled:", "{}: invalid skill name ``", EXAMPLES),
        ("bundled:../x", "{}: invalid skill name `../x`", EXAMPLES),
        ("link:", "invalid SPEC {}", EXAMPLES),
        ("code-review@>=1 <2", "invalid version range `>=1 <2`", RANGES),
        ("code-review@1 || 2", "invalid version range `1 || 2`", RANGES),
        ("code-review@1.2.3-1", "invalid version range `1.2.3-1`", RANGES),
        ("code-review=1.2", "invalid version range `=1.2`", RANGES),
        ("pdf\x00", "invalid SPEC `pdf\\x00`", EXAMPLES),
        ("o/r\x1b[2J", "invalid SPEC `o/r\\x1b[2J`", EXAMPLES),
        ("./a\nb", "invalid SPEC `./a\\nb`", EXAMPLES),
        ("./\udcff", "invalid SPEC `./\\udcff`", EXAMPLES),
        ("o/", "invalid SPEC {}", EXAMPLES),
        ("o/..", "invalid SPEC {}", EXAMPLES),
        ("-o/r", "invalid SPEC {}", EXAMPLES),
        ("o/r x", "invalid SPEC {}", EXAMPLES),
        ("o/r@a/b", "invalid SPEC {}", EXAMPLES),
        ("~ann/x", "invalid SPEC {}", EXAMPLES),
        ("C:/dir", "invalid SPEC {}", EXAMPLES),
        ("github:o", "invalid SPEC {}", EXAMPLES),
        ("o/r#", "{}: missing ref or skill at the end", EXAMPLES),
        ("o/r@", "{}: missing ref or skill at the end", EXAMPLES),
        ("o/r#main@", "{}: missing ref or skill at the end", EXAMPLES),
        ("https://host.example/x.git#", "{}: missing ref or skill at the end", EXAMPLES),
        ("o/r/../x", "{}: the path has an empty, `.` or `..` part", ""),
        ("o/r/a/%2e%2e/x", "{}: the path has an empty, `.` or `..` part", ""),
        ("o/r/.git/x", "{}: the path is a .git folder or file", ""),
        ("o/r/a%00", "{}: the path has a control, hidden or undecodable character", ""),
        ("o/r#v1&path:/../x", "{}: the path has an empty, `.` or `..` part", ""),
        ("o/r#-x", "{}: invalid ref `-x`", ""),
        ("o/r#a..b", "{}: invalid ref `a..b`", ""),
        ("o/r#--upload-pack=x", "{}: invalid ref `--upload-pack=x`", ""),
        ("git+https://host.example/x.git@-x", "{}: invalid ref `-x`", ""),
        ("https://github.com/", "{} names no repository", EXAMPLES),
        ("https://github.com/o", "{} names no repository", EXAMPLES),
        ("https://github.com/o/r/issues/1", "{} is a page of a forge that shows no folder", PASTE),
        (
            "https://ann:secret@github.com/o/r/wiki",
            "`https://***@github.com/o/r/wiki` is a page of a forge that shows no folder",
            PASTE,
        ),
        ("https://github.com/o/r/tree", "{} is a page of a forge that shows no folder", PASTE),
        ("https://github.com/o/r/tree/main/../x", "{}: the path has an empty, `.` or `..` part", ""),
        ("https://github.com/o/r/tree/main/%0a", "{}: the path has a control, hidden or undecodable character", ""),
        ("https://host.example/x.tar.gz#v1", "invalid web address {}", ADDRESS),
        ("https://host.example/a b", "invalid web address {}", ADDRESS),
        ("https:///x", "invalid web address {}", ADDRESS),
        ("host.example/o/r", "invalid SPEC {}", "for other hosts: https://host.example/o/r"),
        ("github.com", "invalid SPEC {}", EXAMPLES),
        ("github.com/o", "`https://github.com/o` names no repository", EXAMPLES),
        ("ftp://host.example/x", "`ftp://` is not supported", EXAMPLES),
        ("data://x/y", "`data://` is not supported", EXAMPLES),
        ("git://host.example/x", "`git://` is not supported", SCHEMES),
        ("ext::sh -c 'touch pwned'", "invalid SPEC {}", EXAMPLES),
        ("git+ext::sh -c x", "unsafe git URL `ext::sh -c x`", ""),
        ("ssh://-oProxyCommand=x/y", "unsafe git URL {}", ""),
        ("ssh://host.example", "{} names no repository", ""),
        ("file://host/x.git", "{}: a file URL has the form file:///path", ""),
    ],
)
def test_an_invalid_spec_is_rejected(spec: str, expected: str, hint: str) -> None:
    """In the message, `{}` is the SPEC as it was typed."""
    with pytest.raises(UsageError) as caught:
        parse_specifier(spec)
    assert (caught.value.message, caught.value.hint) == (expected.replace("{}", f"`{spec}`"), hint)


PIECES = st.sampled_from(
    [
        *("o/r", "pdf", "@", "#", "v1", "/", "..", ":", "://", "https", "github.com", "git+", "-", "&path:", ".git"),
        *("link:", "bundled:", "ssh", "git", "file", "host.example", "ann:secret@", "%2e", "\n", "*", ">=1", ",", "~"),
        *("tree", "blob", ".", ".zip"),
    ]
)


def outcome(text: str) -> str:
    """Return what is stored of a SPEC, or its error."""
    try:
        source = parse_specifier(text).source
    except UsageError as error:
        return error.message
    return "" if isinstance(source, PathSource) else "\v".join(str(part) for part in vars(source).values())


@settings(max_examples=250)
@given(st.lists(PIECES | st.text(max_size=2), max_size=8).map("".join))
def test_any_text_is_parsed_or_rejected_without_leaking_secrets(text: str) -> None:
    output = outcome(text)

    assert not HIDDEN.search(output.replace("\v", ""))
    assert "://ann:secret@" not in output


@pytest.mark.parametrize("host", ["github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "huggingface.co"])
@pytest.mark.parametrize(
    "rest", ["o/r", "o/r.git", "o/r@pdf", "o/r#v1@pdf", "o/r/tree/main/skills/pdf", "o/r/src/branch/x/y"]
)
def test_a_forge_needs_no_scheme(host: str, rest: str) -> None:
    spec = f"{host}/{rest}"
    with_scheme = outcome_whole(f"https://{spec}")

    assert outcome_whole(spec) == with_scheme


def outcome_whole(spec: str) -> object:
    """Return the source of a SPEC, or its error."""
    try:
        found = parse_specifier(spec)
    except UsageError as error:
        return error.message.removeprefix("`https://").removeprefix("`")
    return found.source, found.page_path
