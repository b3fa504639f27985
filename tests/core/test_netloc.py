"""Hosts: an accepted one is parsed equally by everything that uses it later."""

from urllib.parse import urlsplit

import httpx
import pytest

from skillpm.core.netloc import host_problem

EMPTY_PART = "its host has an empty part between dots"
PORT = "its port must be a number from 1 to 65535"
TOLD_APART = "its host and port cannot be parsed"
CHARACTER = "its host has an invalid character"
INTERNATIONAL = "its host is not a valid international domain name"
LONG = "its host is longer than 253 characters, or a part of it than 63"


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
        ("[fe80::1%25lo]:1", "it must not have an IPv6 zone"),
        ("[::g]", "invalid IPv6 address `[::g]`"),
        ("[]", "invalid IPv6 address `[]`"),
        ("[v1.x]", "invalid IPv6 address `[v1.x]`"),
        ("999.1.1.1", "invalid IPv4 address `999.1.1.1`"),
        ("", "it has no host"),
        (":80", "it has no host"),
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
def test_an_invalid_host_is_rejected_with_the_reason(authority: str, fault: str) -> None:
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
def test_an_accepted_host_is_parsed_equally_by_all_parsers(authority: str) -> None:
    assert host_problem(authority) == ""
    assert httpx.URL(f"https://{authority}/x").host
    assert urlsplit(f"https://{authority}/x").hostname
