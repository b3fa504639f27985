"""Untrusted text is printed as one line, with hidden characters escaped and credentials masked."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.cli.console import escape_controls
from skillpm.core.text import HIDDEN, one_line, sanitize
from skillpm.serving.renderers.model_text import sanitize_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, (as they) are!", "plain words, (as they) are!"),
        ("Größe 大 🎉", "Größe 大 🎉"),
        ("a\nb\tc\rd", r"a\nb\tc\rd"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("\x7f\x80\x9f\xad", r"\x7f\x80\x9f\xad"),
        ("gp\u202ej.exe", r"gp\u202ej.exe"),
        ("pa\u200bypal\u2066", r"pa\u200bypal\u2066"),
        ("one\u2028two\ufeff", r"one\u2028two\ufeff"),
        ("tag\U000e0041 selector\U000e0100", r"tag\U000e0041 selector\U000e0100"),
        ("not UTF-8: \udcff", r"not UTF-8: \udcff"),
    ],
)
def test_hidden_characters_are_escaped(text: str, shown: str) -> None:
    assert sanitize(text) == shown


def test_long_text_is_cut_at_the_limit() -> None:
    assert sanitize("x" * 200) == "x" * 200
    assert sanitize("x" * 201) == "x" * 199 + "…"
    assert sanitize("\n" * 5, 8) == r"\n\n\n\…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://ann:secret@host/r", "https://***@host/r"),
        ("https://token@host/r", "https://***@host/r"),
        ("git+https://ann:p@ss@host:80/r#x@y", "git+https://***@host:80/r#x@y"),
        ("ssh://git:secret@host/r", "ssh://***@host/r"),
        ("ssh://git@host/r", "ssh://git@host/r"),
        ("ssh://git@host:2222/r", "ssh://git@host:2222/r"),
        ("ssh://git:secret@host:2222/r", "ssh://***@host:2222/r"),
        ("https://token@host:8443/r", "https://***@host:8443/r"),
        ("see https://a.example/x and http://b:c@d.example", "see https://a.example/x and http://***@d.example"),
        ("https://host/r@skill", "https://host/r@skill"),
        ("git@host:o/r.git", "git@host:o/r.git"),
        ("owner/repo@skill", "owner/repo@skill"),
        ("http://127.0.0.1:18772@top, http://localhost:80@a", "http://127.0.0.1:18772@top, http://localhost:80@a"),
        ("http://[::1]:8080/@top", "http://[::1]:8080/@top"),
        ("http://me:18772@top", "http://***@top"),
        ("https://host:8080/r@skill", "https://host:8080/r@skill"),
        ("https://user:S3CR3T/Q@host/x.git", "https://***@host/x.git"),
        ("https://user:S3 CR3T@host/x.git is", "https://***@host/x.git is"),
        ("https:/user:S3CR3T@host/x.git", "https:/***@host/x.git"),
        ("user:S3CR3T/Q==@host:x.git", "***@host:x.git"),
        ("skills.pdf: expected a range, got x@y", "skills.pdf: expected a range, got x@y"),
        ("use acme/skills@pdf: it is a skill", "use acme/skills@pdf: it is a skill"),
        ("bundled:pdf@1.0", "bundled:pdf@1.0"),
        # Slips in typing
        ("https//ann:S3CR3T@host/x.git", "https//***@host/x.git"),
        ("https//S3CR3T@host/x.git", "https//***@host/x.git"),
        ("HTTPS//ann:S3CR3T@host/x.git", "HTTPS//***@host/x.git"),
        ("https:/S3CR3T@host/x", "https:/***@host/x"),
        ("https:///ann:S3CR3T@host/x", "https:///***@host/x"),
        ("https:////S3CR3T@host/x", "https:////***@host/x"),
        ("http:ann:S3CR3T@host", "http:***@host"),
        ("https:S3CR3T@host/x", "https:***@host/x"),
        ("https;//ann:S3CR3T@host/x", "https;//***@host/x"),
        ("https:\\\\ann:S3CR3T@host\\x", "https:\\\\***@host\\x"),
        ("https: //ann:S3CR3T@host/x", "https: //***@host/x"),
        ("//ann:S3CR3T@host/x", "//***@host/x"),
        ("htps//ann:S3CR3T@host/x", "htps//***@host/x"),
        ("htps:ann:S3CR3T@host/x", "***@host/x"),
        ("://ann:S3CR3T@host/x", "://***@host/x"),
        ("git+https//ann:S3CR3T@host/x", "git+https//***@host/x"),
        ("ssh:git:S3CR3T@host/x", "ssh:***@host/x"),
        ("oci//ann:S3CR3T@host/x", "oci//***@host/x"),
        ("ann:S3CR3T@host/x", "***@host/x"),
        ("ann:S3CR3T@host", "***@host"),
        ("ann:S3CR3T@host:8443/x", "***@host:8443/x"),
        ("ann:S3CR3T@host.example", "***@host.example"),
        ("ann:p@S3CR3T@host/x@skill", "***@host/x@skill"),
        ("ann:S3CR3T/Q==@host/x", "***@host/x"),
        ("ann:S3CR3T/Q==@host.example", "***@host.example"),
        ("ann:S3C:R3T@host/x", "***@host/x"),
        ("ann%40acme:S3CR3T@host/x", "***@host/x"),
        ("github:ann:S3CR3T@github.com/x", "***@github.com/x"),
        ("github:S3CR3T@github.com/acme/x", "***@github.com/acme/x"),
        ("npm:ann:S3CR3T@host/x", "***@host/x"),
        ("invalid SPEC `ann:S3CR3T@host/x`", "invalid SPEC `***@host/x`"),
        ('"url": "https//ann:S3CR3T@host/x"', '"url": "https//***@host/x"'),
        ("/srv/https/ann:S3CR3T@host/x", "/srv/https/***@host/x"),
        ("/srv/https:/S3CR3T@host/x", "/srv/https:/***@host/x"),
        ("/srv/ann:S3CR3T@host.example", "/srv/***@host.example"),
        ("//ann:S3CR3T@host", "//***@host"),
        # What has the same form without a password
        ("pypi:tools@pdf", "pypi:tools@pdf"),
        ("env:tools@../x", "env:tools@../x"),
        ("/srv/a:b@c", "/srv/a:b@c"),
        ("npm:@acme/tools@pdf", "npm:@acme/tools@pdf"),
        ("npm:tools@pdf, env:tools@pdf: not found", "npm:tools@pdf, env:tools@pdf: not found"),
        ("try `env:tools@pdf`", "try `env:tools@pdf`"),
        ("github:acme/skills@pdf", "github:acme/skills@pdf"),
        ("gitlab:acme/sub/skills#v1@pdf", "gitlab:acme/sub/skills#v1@pdf"),
        ("link:../a@b", "link:../a@b"),
        ("git@host:acme/skills@pdf", "git@host:acme/skills@pdf"),
        ("host:acme/skills@pdf", "host:acme/skills@pdf"),
        ("host.example:8443/@pdf", "host.example:8443/@pdf"),
        ("localhost:8080/x@pdf", "localhost:8080/x@pdf"),
        ("oci://host:5000/acme/pdf@sha256:ab", "oci://host:5000/acme/pdf@sha256:ab"),
        ("pdf:1.0.0@sha256:ab", "pdf:1.0.0@sha256:ab"),
        ("mailto:ann@acme.example", "mailto:ann@acme.example"),
        ("C:\\Users\\a@b", "C:\\Users\\a@b"),
        ("C:/Users/a@b", "C:/Users/a@b"),
        ("skills.json: skills.pdf.git: x@y", "skills.json: skills.pdf.git: x@y"),
    ],
)
def test_credentials_in_urls_are_never_shown(text: str, shown: str) -> None:
    assert sanitize(text) == shown


def test_a_long_password_is_not_shown_when_the_text_is_cut() -> None:
    assert sanitize(f"https://ann:{'S3CR3T' * 1_000}@host/x") == "https://***@host/x"
    assert sanitize(f"https://ann:{'S3CR3T' * 1_000}@host/{'x' * 9_000}") == f"https://***@host/{'x' * 182}…"


@settings(max_examples=200)
@given(st.text(st.characters()))
def test_any_text_becomes_one_clean_line_of_bounded_length(text: str) -> None:
    shown = sanitize(text, 60)

    assert not HIDDEN.search(shown)
    assert len(shown) <= 60
    assert len(shown.splitlines()) <= 1


def test_one_line_collapses_white_space() -> None:
    assert one_line("  a\n\n b\t c\u00a0d ") == "a b c d"
    assert one_line(" \n ") == ""


# Default_Ignorable_Code_Point in Unicode's DerivedCoreProperties.txt.
IGNORABLE = (
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)


def test_no_two_hidden_characters_excuse_each_other() -> None:
    """Every pair of them in the Basic Multilingual Plane, and one of each other range, between two letters."""
    ignored = [chr(code) for first, last in IGNORABLE for code in range(first, min(last, first + 4095) + 1)]
    letters = [letter for letter in ignored if ord(letter) < 0x10000] + [
        "\u2800",
        "\U0001d173",
        "\U000e0001",
        "\U000e0100",
    ]
    pairs = [first + second for first in letters for second in letters]

    assert len(pairs) > 4_000
    assert [pair for pair in pairs if sanitize_text(f"a{pair}b") != "ab"] == []
    assert [pair for pair in pairs if len([*HIDDEN.finditer(f"a{pair * 3}b")]) != 6] == []


@pytest.mark.parametrize(
    "text",
    [
        "\u2801\u2800\u2800\u2800\u2801",
        "\u2800\u2800\u28ff",
        "\u28ff\u2800\u2800",
        "\u1100\u1160",
        "\u115f\u1161",
        "❤\ufe0f\u200d🔥",
    ],
)
def test_fillers_beside_what_can_be_seen_stay(text: str) -> None:
    assert sanitize_text(text) == text


def test_all_characters_that_unicode_ignores_are_hidden_between_letters() -> None:
    ignored = [chr(code) for first, last in IGNORABLE for code in range(first, last + 1)]

    assert len(ignored) == 4174
    assert [letter for letter in ignored if not HIDDEN.search(f"a{letter}b")] == []
    assert [letter for letter in ignored if escape_controls(f"a{letter}b") == f"a{letter}b"] == []
    assert [letter for letter in ignored if sanitize_text(f"a{letter}b") != "ab"] == []
