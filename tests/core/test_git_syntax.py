"""URLs, refs and commits: which are accepted for a git command line, and how they are normalized."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.core.git_syntax import (
    has_credentials,
    host_of,
    is_commit,
    is_insecure,
    is_ref,
    normalize_git_url,
    normalize_web_url,
)
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.text import HIDDEN
from skillpm.errors import DocumentError, UsageError
from skillpm.kinds.git import read_git_url


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://github.com/o/r", "https://github.com/o/r"),
        ("https://github.com/o/r.git", "https://github.com/o/r"),
        ("https://github.com/o/r.git/", "https://github.com/o/r"),
        ("https://codeberg.org/o/r.git", "https://codeberg.org/o/r"),
        ("  https://github.com/o/r\n", "https://github.com/o/r"),
        ("HTTPS://GitHub.com/O/R", "https://github.com/O/R"),
        ("https://host.example/x.git", "https://host.example/x.git"),
        ("https://host.example/a/b/", "https://host.example/a/b"),
        ("https://host.example:8443/x", "https://host.example:8443/x"),
        ("https://[::1]:8443/x", "https://[::1]:8443/x"),
        ("https://ann:secret@host.example/x", "https://host.example/x"),
        ("https://token@github.com/o/r.git", "https://github.com/o/r"),
        ("https://ann:p@ss@host.example/x", "https://host.example/x"),
        ("https://evil.example\\@host.example/x", "https://host.example/x"),
        ("https://host.example/x@y", "https://host.example/x@y"),
        ("http://127.0.0.1:8000/x.git", "http://127.0.0.1:8000/x.git"),
        ("ssh://git@host.example/x.git", "ssh://git@host.example/x.git"),
        ("ssh://git@host.example:22/~/x", "ssh://git@host.example:22/~/x"),
        ("ssh://git:secret@host.example/x", "ssh://git@host.example/x"),
        ("ssh://host.example/x", "ssh://host.example/x"),
        ("ssh://git@GitHub.com/o/r.git", "ssh://git@github.com/o/r"),
        ("git@github.com:o/r.git", "git@github.com:o/r.git"),
        ("git@host.example:~ann/r/", "git@host.example:~ann/r"),
        ("git@host.example:/srv/r.git", "git@host.example:/srv/r.git"),
        ("host.example:r.git", "host.example:r.git"),
        ("file:///srv/skills.git", "file:///srv/skills.git"),
        ("file:///srv/a%20b.git", "file:///srv/a%20b.git"),
        ("file:///srv/skills/", "file:///srv/skills"),
    ],
)
def test_a_url_is_stored_without_user_info_slash_and_a_forges_suffix(url: str, kept: str) -> None:
    assert normalize_git_url(url) == kept
    assert normalize_git_url(kept) == kept


UNSAFE = "unsafe git URL `{}`"
INVALID = "invalid git URL `{}`"
NO_HOST = "`{}` has no host"
NO_REPOSITORY = "`{}` names no repository"


@pytest.mark.parametrize(
    ("url", "shown", "message"),
    [
        ("ext::sh -c touch% pwned", "ext::sh -c touch% pwned", UNSAFE),
        ("ext::touch", "ext::touch", UNSAFE),
        ("EXT::touch", "EXT::touch", UNSAFE),
        ("fd::17", "fd::17", UNSAFE),
        ("http::https://host/x", "http::https://host/x", UNSAFE),
        ("git+ext::touch", "git+ext::touch", UNSAFE),
        ("-oProxyCommand=touch", "-oProxyCommand=touch", UNSAFE),
        ("--upload-pack=touch", "--upload-pack=touch", UNSAFE),
        ("https://host/a b", "https://host/a b", UNSAFE),
        ("https://host/a\nb", "https://host/a\\nb", UNSAFE),
        ("https://host/a\0b", "https://host/a\\x00b", UNSAFE),
        ("https://host/\x1b[2J", "https://host/\\x1b[2J", UNSAFE),
        ("https://host/\u202ex", "https://host/\\u202ex", UNSAFE),
        ("https://ho\u200bst/x", "https://ho\\u200bst/x", UNSAFE),
        ("https://host/\udcff", "https://host/\\udcff", UNSAFE),
        ("ssh://-oProxyCommand=touch/x", "ssh://-oProxyCommand=touch/x", UNSAFE),
        ("ssh://git@-oProxyCommand=touch/x", "ssh://git@-oProxyCommand=touch/x", UNSAFE),
        ("ssh://-o@host/x", "ssh://-o@host/x", UNSAFE),
        ("https://host/-x", "https://host/-x", UNSAFE),
        ("https://ann:secret@host/a b", "https://***@host/a b", UNSAFE),
        ("https:///x", "https:///x", NO_HOST),
        ("https://:80/x", "https://:80/x", NO_HOST),
        ("https://ann@/x", "https://***@/x", NO_HOST),
        ("https://[]/x", "https://[]/x", NO_HOST),
        ("https://host", "https://host", NO_REPOSITORY),
        ("https://github.com/", "https://github.com/", NO_REPOSITORY),
        ("ssh://git@host//", "ssh://git@host//", NO_REPOSITORY),
        ("", "", INVALID),
        ("skills", "skills", INVALID),
        ("/srv/skills.git", "/srv/skills.git", INVALID),
        ("./skills", "./skills", INVALID),
        ("owner/repo", "owner/repo", INVALID),
        ("git@host", "git@host", INVALID),
        ("git@host:", "git@host:", INVALID),
        ("git@host:-x", "git@host:-x", INVALID),
        ("git@-host:x", "git@-host:x", INVALID),
        ("h\u00f6st:x", "h\u00f6st:x", INVALID),
    ],
)
def test_an_invalid_url_is_rejected(url: str, shown: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        normalize_git_url(url)
    assert caught.value.message == message.format(shown)


@pytest.mark.parametrize("scheme", ["git", "ftp", "data", "git+https", "svn+ssh", "javascript", "git@host", ""])
def test_only_four_schemes_are_accepted(scheme: str) -> None:
    with pytest.raises(UsageError) as caught:
        normalize_git_url(f"{scheme}://host/x")
    assert (caught.value.message, caught.value.hint) == (
        f"`{scheme}://` is not supported",
        "use one of https, ssh, http, file",
    )


@pytest.mark.parametrize("url", ["file://host/share.git", "file://", "file:///", "file:////", "file://localhost/x"])
def test_a_file_url_has_a_path_and_no_host(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        normalize_git_url(url)
    assert caught.value.message == f"`{url}`: a file URL has the form file:///path"


def test_in_a_document_the_error_has_a_location() -> None:
    with pytest.raises(DocumentError) as caught:
        read_git_url(JsonNode("ext::sh", "skills.json", ("skills", "pdf", "git")))
    assert (caught.value.message, caught.value.where) == (
        "unsafe git URL `ext::sh`",
        "skills.json: skills.pdf.git",
    )


@settings(max_examples=200)
@given(
    st.sampled_from(["https://", "ssh://", "http://", "file://", "git@", "", "ext::", "HTTPS://"]),
    st.text("ab@:/.-[]\\%\u0430\u200b \n\0?#~", max_size=16),
)
def test_an_accepted_url_is_safe_and_normalized(start: str, rest: str) -> None:
    try:
        kept = normalize_git_url(start + rest)
    except UsageError:
        return
    scheme, separator, after = kept.partition("://")
    authority = after.split("/")[0]
    assert not HIDDEN.search(kept)
    assert " " not in kept
    assert not kept.startswith("-")
    assert separator == "" or scheme in {"https", "ssh", "http", "file"}
    assert scheme == "ssh" or "@" not in authority or not separator
    assert not authority.rpartition("@")[2].startswith("-")
    assert normalize_git_url(kept) == kept


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        ("https://ann:secret@host/x", True),
        ("https://token@host/x", True),
        ("git+https://token@host/x", True),
        ("ssh://git:secret@host/x", True),
        ("ssh://git@host/x", False),
        ("git+ssh://git@host/x", False),
        ("git@host:x", False),
        ("https://host/x@y", False),
        ("https://host/x", False),
        ("owner/repo@skill", False),
    ],
)
def test_credentials_that_were_dropped_are_detected(url: str, *, answer: bool) -> None:
    assert has_credentials(url) is answer


@pytest.mark.parametrize(
    ("url", "host", "insecure"),
    [
        ("http://host.example/x", "host.example", True),
        ("http://host.example:80/x", "host.example", True),
        ("http://127.0.0.1.evil.example/x", "127.0.0.1.evil.example", True),
        ("http://127.0.0.1:8000/x", "127.0.0.1", False),
        ("http://localhost/x", "localhost", False),
        ("http://[::1]:80/x", "::1", False),
        ("https://host.example/x", "host.example", False),
        ("ssh://git@host.example:22/x", "host.example", False),
        ("file:///x", "", False),
    ],
)
def test_plain_http_is_insecure_except_on_this_machine(url: str, host: str, *, insecure: bool) -> None:
    assert (host_of(url), is_insecure(url)) == (host, insecure)


# Archives and sites


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://host.example/x.tar.gz", "https://host.example/x.tar.gz"),
        (" HTTPS://Host.Example/X.zip ", "https://host.example/X.zip"),
        ("https://ann:secret@host.example/x.zip", "https://host.example/x.zip"),
        ("http://127.0.0.1:8000/x?y=z@w", "http://127.0.0.1:8000/x?y=z@w"),
        ("https://host.example", "https://host.example"),
        ("https://host.example/skills/", "https://host.example/skills/"),
    ],
)
def test_a_web_address_is_stored_without_user_info(url: str, kept: str) -> None:
    assert normalize_web_url(url) == normalize_web_url(kept) == kept


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", ""),
        ("host.example/x", "host.example/x"),
        ("ftp://host.example/x", "ftp://host.example/x"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("https:///x", "https:///x"),
        ("https://ann:secret@/x", "https://***@/x"),
        ("https://host.example/a b", "https://host.example/a b"),
        ("https://host.example/#x", "https://host.example/#x"),
        ("https://host.example/a\0b", "https://host.example/a\\x00b"),
        ("https://host.example/\u202ex", "https://host.example/\\u202ex"),
    ],
)
def test_an_invalid_web_address_is_rejected(url: str, shown: str) -> None:
    with pytest.raises(DocumentError) as caught:
        normalize_web_url(url, error_type=DocumentError, where="skills.json: skills.pdf.url")
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        f"invalid web address `{shown}`",
        "skills.json: skills.pdf.url",
        "e.g. https://host.example/skill.tar.gz",
    )


# Commits and refs


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("0123456789abcdef" * 2 + "01234567", True),
        ("a" * 40, True),
        ("a" * 64, True),
        ("a" * 39, False),
        ("a" * 41, False),
        ("a" * 63, False),
        ("A" * 40, False),
        ("g" * 40, False),
        ("a" * 40 + "\n", False),
        ("\u0661" * 40, False),
        ("HEAD", False),
        ("", False),
    ],
)
def test_a_commit_is_a_full_id(text: str, *, answer: bool) -> None:
    assert is_commit(text) is answer


@pytest.mark.parametrize(
    "ref", ["main", "v1.2.0", "1.2", "feature/x", "pdf@1.2.0", "pdf--v1", "a+b", "_x", "a" * 40, "release-1.0/rc.1"]
)
def test_an_ordinary_name_may_be_a_ref(ref: str) -> None:
    assert is_ref(ref)


@pytest.mark.parametrize(
    "ref",
    [
        *("", "-x", "--upload-pack=x", "/x", "x/", ".x", "x.", "a..b", "a//b", "x.lock", "@{-1}", "a@{1}", "@"),
        *("a b", "a\n", "a\0", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a;b", "$(x)", "\u00e4", "a\u0661"),
    ],
)
def test_names_that_git_reads_differently_are_not_refs(ref: str) -> None:
    assert not is_ref(ref)


@pytest.mark.parametrize(
    "query", ["token=S3CRET", "v=2&X-Amz-Signature=S3CRET", "sv=1&sig=S3CRET", "ACCESS_TOKEN=S3CRET"]
)
def test_a_credential_in_a_query_is_refused_and_not_shown(query: str) -> None:
    with pytest.raises(UsageError) as caught:
        normalize_web_url(f"https://host.example/skill.tar.gz?{query}")

    assert "has a credential in its query" in caught.value.message
    assert "S3CRET" not in f"{caught.value.message} {caught.value.hint}"


def test_other_queries_are_part_of_an_address() -> None:
    address = "https://host.example/skill.tar.gz?version=2&tokenizer=bpe&format=signature-v4"
    assert normalize_web_url(address) == address
