"""Hosts: one that passes is understood by everything that parses it later."""

from urllib.parse import urlsplit

import httpx
import pytest

from skillpm.core.netloc import host_problem

EMPTY_PART = "its host has an empty part between dots"
PORT = "a port is a number from 1 to 65535"
TOLD_APART = "it has no host and port that can be told apart"
CHARACTER = "its host has a character that no host has"
INTERNATIONAL = "its host is no international domain name"
LONG = "its host is over 253 letters, or a part of it over 63"


@pytest.mark.parametrize(
    ("authority", "fault"),
    [
        ("[::1", TOLD_APART),
        ("[::1]:x", TOLD_APART),
        ("[::1]x", TOLD_APART),
        ("::1", TOLD_APART),
        ("host:x", TOLD_APART),
        ("host:٣", TOLD_APART),
        ("host:99999", PORT),
        ("host:0", PORT),
        ("host:" + "9" * 5000, PORT),
        ("[fe80::1%25lo]:1", "the zone of an IPv6 address has no place in it"),
        ("[::g]", "`[::g]` is no IPv6 address"),
        ("[]", "`[]` is no IPv6 address"),
        ("[v1.x]", "`[v1.x]` is no IPv6 address"),
        ("999.1.1.1", "`999.1.1.1` is no IPv4 address"),
        ("", "it names no host"),
        (":80", "it names no host"),
        ("a..b", EMPTY_PART),
        (".a", EMPTY_PART),
        ("a..", EMPTY_PART),
        (".", EMPTY_PART),
        ("a" * 64, LONG),
        ("a" * 300 + ".example", LONG),
        (".".join(["a" * 60] * 5), LONG),
        ("a%2eb", CHARACTER),
        ("a\\b", CHARACTER),
        ("a<b", CHARACTER),
        ("xn--a", INTERNATIONAL),
        ("skills.xn--a.example", INTERNATIONAL),
        ("a℀b", INTERNATIONAL),
        ("ü" * 64, LONG),
        ("ü" * 63, INTERNATIONAL),
        ("a。。b", INTERNATIONAL),
    ],
)
def test_an_odd_host_is_told_by_what_is_odd(authority: str, fault: str) -> None:
    assert host_problem(authority) == fault


@pytest.mark.parametrize(
    "authority",
    [
        "a",
        "a.b",
        "a.b.",
        "my_host",
        "host:1",
        "host:65535",
        "host:",
        "127.0.0.1:80",
        "[::1]",
        "[::1]:80",
        "[2001:db8::]",
        "bücher.example",
        "xn--bcher-kva.example",
        "BÜCHER.example",
        "1.2.3",
        "a" * 63,
    ],
)
def test_what_passes_is_understood_by_everything_that_parses_it(authority: str) -> None:
    assert host_problem(authority) == ""
    assert httpx.URL(f"https://{authority}/x").host
    assert urlsplit(f"https://{authority}/x").hostname
