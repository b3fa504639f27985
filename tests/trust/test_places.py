"""The grammar of places: pattern x place -> yes, no or ambiguous, and what each user of the grammar makes of it.

One table for all of them, so that none can have rules of its own: lists of a policy, its required signers, `[[trust]]`,
exceptions and tokens.
"""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import PACKAGE_KINDS
from skillpm.errors import DocumentError
from skillpm.fetchers.git.program.gitconfig import GitConfig
from skillpm.fetchers.git.program.logins import find_login
from skillpm.formats.trust.place_patterns import MAX_WILDCARDS, read_place_pattern
from skillpm.formats.trust.policy import Policy, read_policy
from skillpm.formats.trust.trust_rules import TrustRule
from skillpm.indexes.client.access import auth_headers
from skillpm.kinds.archive import UrlPin
from skillpm.kinds.base import Pin, Place
from skillpm.kinds.bundled import BundledPin
from skillpm.kinds.git import GitPin
from skillpm.kinds.index import IndexPin
from skillpm.kinds.local import PathPin
from skillpm.kinds.oci import OciPin
from skillpm.kinds.package import PackagePin
from skillpm.scope.trusted_signers import find_trust_groups
from skillpm.settings import read_settings
from skillpm.trust.places import Match, allows_request, covers, explain_mismatch, match_place
from skillpm.trust.policy import Policies

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = DOCS / "places.md"
COMMIT = "0" * 40
# Pattern, place, result. A place is the URL of a git repository; `index`, `oci` and `url` name other kinds.
TABLE: list[tuple[str, str, Match]] = [
    # Repositories
    ("github.com/acme/*", "https://github.com/acme/x", "yes"),
    ("github.com/acme/*", "https://github.com/acme/x/y", "yes"),
    ("github.com/acme/*", "https://GitHub.com/acme/x.git", "yes"),
    ("GitHub.com/acme/*", "https://github.com/acme/x", "yes"),
    ("github.com/acme/", "https://github.com/acme/x/y", "yes"),
    ("github.com/acme/", "https://github.com/acme", "yes"),
    ("github.com/a*/", "https://github.com/acme/x/y", "yes"),
    ("github.com/acme/x", "https://github.com/acme/x", "yes"),
    ("github.com/acme/x", "https://github.com/acme/x.git", "yes"),
    ("github.com/acme/x.git", "https://github.com/acme/x", "yes"),
    ("github.com/acme/x", "https://github.com/acme/x/", "yes"),
    ("github.com/acme/x-*", "https://github.com/acme/x-y", "yes"),
    ("github.com/*/x", "https://github.com/acme/x", "yes"),
    ("github.com", "https://github.com/acme/x", "yes"),
    ("github.com/", "https://github.com/acme/x", "yes"),
    ("github.com/*", "https://github.com/acme/x", "yes"),
    ("*", "https://github.com/acme/x", "yes"),
    ("github.com/acme", "https://github.com/acme/x", "no"),
    ("github.com/acme/x", "https://github.com/acme/xy", "no"),
    ("github.com/acme/x", "https://github.com/acme/x/y", "no"),
    ("github.com/acme/*", "https://github.com/acmeevil/x", "no"),
    ("github.com/acme/", "https://github.com/acmeevil/x", "no"),
    ("github.com/acme/*", "https://gitlab.com/acme/x", "no"),
    ("github.com/acme/*", "https://evil.example/github.com/acme/x", "no"),
    ("github.com/acme/*", "https://github.com.evil.example/acme/x", "no"),
    ("github.com/acme/*", "https://evilgithub.com/acme/x", "no"),
    ("github.com/acme/*", "https://acme.github.com/x", "no"),
    ("github.com/[ab]*", "https://github.com/acme/x", "no"),
    ("github.com/[a]cme/x", "https://github.com/acme/x", "no"),
    ("github.com/acm?/x".replace("?", "%3f"), "https://github.com/acme/x", "no"),
    # The place itself is not below it, but a server may answer for it, too.
    ("github.com/acme/*", "https://github.com/acme", "ambiguous"),
    # Case
    ("github.com/acme/*", "https://github.com/ACME/x", "ambiguous"),
    ("github.com/ACME/*", "https://github.com/acme/x", "ambiguous"),
    ("github.com/NVIDIA/skills", "https://github.com/nvidia/Skills", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme/X", "yes"),
    ("github.com/STRASSE/*", "https://github.com/straße/x", "ambiguous"),
    ("github.com/acme/x", "https://github.com/acme/x.GIT", "ambiguous"),
    # Paths that a server may understand as others lead anywhere on their host.
    ("github.com/acme/*", "https://github.com/acme/../evil/x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/evil/../acme/x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/a/../b/../c", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme/./x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme/%2e%2e/evil/x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme/x%2f..%2fevil", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme/x%2F..%2F..%2Fevil%2Fx", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme%2F..%2Fevil/x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/evil%2f..%2facme/x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme/%252e%252e/evil", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme/..\\evil/x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme/..%5cevil/x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme;a=b/x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme%3ba/x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme./x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme%20/x", "ambiguous"),
    ("github.com/acme/*", "https://github.com//acme/x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme//x", "ambiguous"),
    ("github.com", "https://github.com/acme/../x", "ambiguous"),
    ("*", "https://github.com/acme/../x", "ambiguous"),
    ("*.com/acme/*", "https://github.com/acme/../x", "ambiguous"),
    ("gitlab.com/acme/*", "https://github.com/acme/../x", "no"),
    # Encodings of one character
    ("github.com/acme/*", "https://github.com/%61cme/x", "ambiguous"),
    ("github.com/%61cme/*", "https://github.com/acme/x", "ambiguous"),
    ("github.com/acme/*", "https://github.com/acme/my%20x", "yes"),
    ("files.example/my%20x.zip", "url https://files.example/my%20x.zip", "yes"),
    ("files.example/%7eada/*", "url https://files.example/%7Eada/x.zip", "ambiguous"),
    ("files.example/~ada/*", "url https://files.example/%7eada/x.zip", "ambiguous"),
    ("files.example/é/*", "url https://files.example/%C3%A9/x.zip", "ambiguous"),
    ("files.example/\u00e9/*", "url https://files.example/e\u0301/x.zip", "ambiguous"),
    # Schemes
    ("github.com/acme/*", "ssh://git@github.com/acme/x", "yes"),
    ("github.com/acme/*", "http://github.com/acme/x", "ambiguous"),
    ("http://github.com/acme/*", "http://github.com/acme/x", "yes"),
    ("http://github.com/acme/*", "https://github.com/acme/x", "ambiguous"),
    ("https://github.com/acme/*", "https://github.com/acme/x", "yes"),
    ("HTTPS://github.com/acme/*", "https://github.com/acme/x", "yes"),
    ("https://github.com/acme/*", "http://github.com/acme/x", "ambiguous"),
    ("https://github.com/acme/*", "ssh://git@github.com/acme/x", "ambiguous"),
    ("ssh://github.com/acme/*", "ssh://git@github.com/acme/x", "yes"),
    ("ssh://git@github.com/acme/*", "ssh://git@github.com/acme/x", "yes"),
    ("ssh://github.com/acme/*", "https://github.com/acme/x", "ambiguous"),
    ("*", "http://github.com/acme/x", "ambiguous"),
    ("http://*", "http://github.com/acme/x", "yes"),
    ("localhost/*", "http://localhost/acme/x", "yes"),
    ("127.0.0.1:8080/acme/*", "http://127.0.0.1:8080/acme/x", "yes"),
    ("[::1]:8080/acme/*", "http://[::1]:8080/acme/x", "yes"),
    ("127.0.0.2:8080/acme/*", "http://127.0.0.2:8080/acme/x", "ambiguous"),
    # Ports
    ("git.corp/acme/*", "https://git.corp:8443/acme/x", "ambiguous"),
    ("git.corp/acme/*", "ssh://git@git.corp:7999/acme/x", "ambiguous"),
    ("git.corp/acme/*", "https://git.corp:8443/other/x", "no"),
    ("git.corp:8443/acme/*", "https://git.corp:8443/acme/x", "yes"),
    ("git.corp:8443/acme/*", "https://git.corp/acme/x", "ambiguous"),
    ("git.corp:8443/acme/*", "https://git.corp:9443/acme/x", "ambiguous"),
    ("git.corp:8443/acme/*", "ssh://git@git.corp/acme/x", "ambiguous"),
    ("git.corp/acme/*", "https://git.corp:443/acme/x", "yes"),
    ("git.corp/acme/*", "https://git.corp:0443/acme/x", "yes"),
    ("git.corp:443/acme/*", "https://git.corp/acme/x", "yes"),
    ("git.corp:443/acme/*", "ssh://git@git.corp/acme/x", "ambiguous"),
    ("git.corp/acme/*", "ssh://git@git.corp:22/acme/x", "yes"),
    ("git.corp/acme/*", "ssh://git@git.corp:443/acme/x", "ambiguous"),
    ("git.corp:*/acme/*", "https://git.corp:8443/acme/x", "yes"),
    ("git.corp:*/acme/*", "https://git.corp/acme/x", "yes"),
    ("git.corp:84*/acme/*", "https://git.corp:8443/acme/x", "yes"),
    ("git.corp:84*/acme/*", "https://git.corp:9443/acme/x", "ambiguous"),
    ("*", "https://git.corp:8443/acme/x", "yes"),
    # Hosts
    ("*.acme.example", "https://git.acme.example/x", "yes"),
    ("*.acme.example/x", "https://git.acme.example/x", "yes"),
    ("*.acme.example", "https://a.git.acme.example/x", "yes"),
    ("*.acme.example:8443/x", "https://git.acme.example:8443/x", "yes"),
    ("*.acme.example", "https://git.acme.example:8443/x", "ambiguous"),
    ("*.acme.example", "https://acme.example/x", "no"),
    ("*.acme.example", "https://evilacme.example/x", "no"),
    ("*.acme.example/*", "https://evil.example/x.acme.example/y", "ambiguous"),
    ("*.acme.example", "https://evil.example/?.acme.example", "no"),
    ("*acme.example", "https://git.acme.example/x", "yes"),
    ("git*.acme.example", "https://git2.acme.example/x", "yes"),
    ("git*.acme.example", "https://git.evil.acme.example/x", "ambiguous"),
    ("git.*.example", "https://git.acme.example/x", "yes"),
    ("git.*.example", "https://git.a.b.example/x", "ambiguous"),
    ("*acme*", "https://acmes/x", "yes"),
    ("*acme*", "https://acme.evil.example/x", "ambiguous"),
    ("*acme*", "https://github.com/acme/x", "ambiguous"),
    ("localhost*", "https://localhost/acme/x", "yes"),
    ("localhost*", "https://localhost:8443/acme/x", "yes"),
    ("localhost*", "https://localhosts/acme/x", "yes"),
    ("localhost*", "https://localhost.evil.example/acme/x", "ambiguous"),
    ("localhost*/acme/*", "https://localhost.evil.example/acme/x", "ambiguous"),
    ("localhost", "https://localhost.evil.example/acme/x", "no"),
    ("localhost/*", "https://localhost.evil.example/acme/x", "no"),
    ("github.com/acme/*", "https://github.com./acme/x", "ambiguous"),
    ("github.com./acme/*", "https://github.com/acme/x", "ambiguous"),
    ("bücher.example/*", "https://bücher.example/x", "yes"),
    ("bücher.example/*", "https://xn--bcher-kva.example/x", "ambiguous"),
    ("xn--bcher-kva.example/*", "https://bücher.example/x", "ambiguous"),
    ("*.bücher.example/*", "https://git.xn--bcher-kva.example/x", "ambiguous"),
    ("10.1.2.3/*", "https://10.1.2.3/x", "yes"),
    ("10.1.2.3/*", "https://167838211/x", "ambiguous"),
    ("10.1.2.3/*", "https://0xa010203/x", "ambiguous"),
    ("10.1.2.3/*", "https://10.1.515/x", "ambiguous"),
    ("10.1.2.3/*", "https://012.1.2.3/x", "ambiguous"),
    ("10.1.2.3/*", "https://[::ffff:10.1.2.3]/x", "ambiguous"),
    ("10.1.2.3/*", "https://10.1.2.30/x", "no"),
    ("[::1]/*", "https://[0:0:0:0:0:0:0:1]/x", "ambiguous"),
    ("[::1]/*", "https://[::2]/x", "no"),
    # Users
    ("github.com/acme/*", "https://ada@github.com/acme/x", "yes"),
    ("github.com/acme/*", "https://github.com@evil.example/acme/x", "no"),
    ("github.com/acme/*", "git@github.com:acme/x", "yes"),
    ("github.com/acme/*", "git@github.com:acme/x.git", "yes"),
    ("github.com/acme/*", "git@github.com:/acme/x", "yes"),
    ("github.com/acme/*", "git@github.com:ACME/x", "ambiguous"),
    ("git.corp/acme/*", "ada@git.corp:acme/x", "ambiguous"),
    ("git.corp/acme/*", "git.corp:acme/x", "ambiguous"),
    ("git.corp/acme/*", "ada@git.corp:/acme/x", "yes"),
    ("git.corp/acme/*", "ssh://ada@git.corp/acme/x", "yes"),
    ("git.corp/acme/*", "ssh://git@git.corp/~/acme/x", "ambiguous"),
    ("git.corp/*", "ada@git.corp:acme/x", "yes"),
    ("ada@git.corp:acme/*", "ada@git.corp:acme/x", "yes"),
    ("git.corp/~ada/*", "git@git.corp:~ada/x", "yes"),
    ("git.corp/other/*", "ada@git.corp:acme/x", "no"),
    ("git@github.com:acme/*", "git@github.com:acme/x", "yes"),
    ("git@github.com:acme/*", "https://github.com/acme/x", "ambiguous"),
    ("github.com:acme/*", "https://github.com/acme/x", "ambiguous"),
    ("git.corp/8443/*", "git@git.corp:8443/x", "yes"),
    ("git.corp:8443/x", "git@git.corp:8443/x", "no"),
    # Indexes
    ("skills.acme.example", "index https://skills.acme.example/", "yes"),
    ("skills.acme.example/", "index https://skills.acme.example/", "yes"),
    ("skills.acme.example/*", "index https://skills.acme.example/", "yes"),
    ("https://skills.acme.example", "index https://skills.acme.example/", "yes"),
    ("https://skills.acme.example/", "index https://skills.acme.example/", "yes"),
    ("https://skills.acme.example/*", "index https://skills.acme.example/", "yes"),
    ("skills.acme.example/public", "index https://skills.acme.example/public/", "yes"),
    ("skills.acme.example/public/", "index https://skills.acme.example/public/", "yes"),
    ("skills.acme.example/public/*", "index https://skills.acme.example/public/", "yes"),
    ("skills.acme.example/*", "index https://skills.acme.example/public/", "yes"),
    ("https://skills.acme.example/", "index https://skills.acme.example/public/deep/", "yes"),
    ("skills.acme.example/PUBLIC/*", "index https://skills.acme.example/public/", "ambiguous"),
    ("skills.acme.example/*", "index https://skills.acme.example:8443/", "ambiguous"),
    ("skills.acme.example/*", "index http://skills.acme.example/", "ambiguous"),
    ("https://skills.acme.example/", "index http://skills.acme.example/", "ambiguous"),
    ("skills.acme.example/public/*", "index https://skills.acme.example/", "no"),
    ("skills.acme.example/public/*", "index https://skills.acme.example/publicity/", "no"),
    ("localhost/*", "index https://localhost/", "yes"),
    ("localhost/public/*", "index https://localhost/public/", "yes"),
    ("localhost:*/*", "index https://localhost:8443/", "yes"),
    # Archives
    ("files.example/skills/", "url https://files.example/skills/x.zip", "yes"),
    ("files.example/skills/*.zip", "url https://files.example/skills/x.zip", "yes"),
    ("files.example/skills/x.zip", "url https://files.example/skills/x.zip?v=2", "yes"),
    ("files.example/skills/*", "url https://files.example/other?x=/skills/x.zip", "no"),
    ("files.example/skills/*", "url https://files.example/skills;/x.zip", "ambiguous"),
    # OCI repositories
    ("ghcr.io/acme/*", "oci ghcr.io/acme/pdf", "yes"),
    ("https://ghcr.io/acme/*", "oci ghcr.io/acme/pdf", "yes"),
    ("ghcr.io", "oci ghcr.io/acme/pdf", "yes"),
    ("oci.corp:5000/acme/*", "oci oci.corp:5000/acme/pdf", "yes"),
    ("oci.corp/acme/*", "oci oci.corp:5000/acme/pdf", "ambiguous"),
    ("oci.corp:443/acme/*", "oci oci.corp/acme/pdf", "yes"),
    ("ghcr.io/acme/*", "oci ghcr.io/acmeevil/pdf", "no"),
    # Places without a host
    ("bundled", "bundled:pdf", "yes"),
    ("bundled:pdf", "bundled:pdf", "yes"),
    ("bundled:pdf", "bundled:docx", "no"),
    ("env", "env:fastapi", "yes"),
    ("env:fast*", "env:fastapi", "yes"),
    ("env:fast", "env:fastapi", "no"),
    ("env:FastAPI", "env:fastapi", "ambiguous"),
    ("npm:@acme/*", "npm:@acme/ui", "yes"),
    ("npm:@acme/*", "env:acme", "no"),
    ("path", "path:./own/pdf", "yes"),
    ("path", "path:./a;b/../pdf", "yes"),
    ("path:./own/*", "path:./own/pdf", "yes"),
    ("path:./own/", "path:./own/deep/pdf", "yes"),
    ("path:../shared/*", "path:../shared/pdf", "yes"),
    ("path:./own/*", "path:./OWN/pdf", "ambiguous"),
    ("path:./own/*", "path:./own/../evil", "ambiguous"),
    ("path:./own/*", "path:./other/pdf", "no"),
    ("path", "file:///srv/skills", "yes"),
    ("/srv/skills", "file:///srv/skills.git", "yes"),
    ("path:/srv/*", "file:///srv/skills", "yes"),
    ("/srv/*", "file:///srv/../etc", "ambiguous"),
    ("path", "index ./public/", "yes"),
    ("./public", "index ./public/", "yes"),
    ("path:./public/*", "index ./public/", "yes"),
    ("path", "url ./pdf.zip", "yes"),
    ("path", "bundled:pdf", "no"),
    ("path", "https://path/x", "no"),
    ("*", "bundled:pdf", "yes"),
    ("*", "path:./own/pdf", "yes"),
    ("*own*", "path:./own/pdf", "ambiguous"),
    ("github.com/*", "path:./github.com/x", "no"),
]  # fmt: skip


def make_pin(place: str) -> Pin:
    """Return a pin whose source is a place of the table."""
    kind, _, address = place.rpartition(" ")
    word, _, name = place.partition(":")
    if kind == "index":
        return IndexPin(index=address, url="https://cdn.example/pdf.tar.gz", sha256="")
    if kind == "oci":
        return OciPin(repository=address, manifest="", layer="")
    if kind == "url":
        return UrlPin(url=address, sha256="")
    if word == "bundled":
        return BundledPin(name=name)
    if word == "path":
        return PathPin(path=name)
    packages = [PackagePin(kind=each, package=name, path=".") for each in PACKAGE_KINDS if each == word]
    return packages[0] if packages else GitPin(url=place, commit=COMMIT, tree=COMMIT)


# Users of the grammar


def is_allowed(pattern: str, pin: Pin) -> bool:
    """Return whether a policy allows a place, with the pattern in the list for its kind."""
    layer = Policy(origin="policy.toml", sources=()).replace(**{pin.place().table: (pattern,)})
    return [check.problem for check in Policies(layers=(layer,)).check_place(pin)] == [""]


def is_signature_required_by_policy(pattern: str, pin: Pin) -> bool:
    layer = Policy(origin="policy.toml", signers={pattern: "key.pem"})
    return bool([*Policies(layers=(layer,)).find_signers(pin)])


def is_signature_required_by_user(pattern: str, pin: Pin) -> bool:
    groups = find_trust_groups([TrustRule(source=pattern, keys=("key.pem",), required=True)], pin)
    return any(rule.required for rules in groups for rule in rules)


def is_certain(pattern: str, pin: Pin) -> bool:
    return covers(pattern, pin.place().address)


# User of the grammar -> which results count for it.
USERS: dict[str, tuple[Callable[[str, Pin], bool], set[Match]]] = {
    "policy list": (is_allowed, {"yes"}),
    "require.signers": (is_signature_required_by_policy, {"yes", "ambiguous"}),
    "[[trust]] required": (is_signature_required_by_user, {"yes", "ambiguous"}),
    "exception": (is_certain, {"yes"}),
    "token": (is_certain, {"yes"}),
}


@pytest.mark.parametrize(("pattern", "place", "result"), TABLE)
def test_a_pattern_covers_a_place(pattern: str, place: str, result: Match) -> None:
    assert read_place_pattern(JsonNode(pattern, "policy.toml")) == pattern
    pin = make_pin(place)

    assert match_place(pattern, pin.place().address) == result
    assert {user: ask(pattern, pin) for user, (ask, _) in USERS.items()} == {
        user: result in counted for user, (_, counted) in USERS.items()
    }


def rule(source: str, *keys: str, required: bool = False) -> TrustRule:
    return TrustRule(source=source, keys=keys, required=required, where=source)


def test_a_table_that_may_cover_a_place_requires_but_adds_no_key() -> None:
    covering, similar = rule("git.corp:8443/acme/*", "a"), rule("git.corp/acme/*", "b", required=True)
    harmless, other = rule("git.corp/*", "c"), rule("gitlab.com/*", "d", required=True)
    pin = make_pin("https://git.corp:8443/acme/x")

    (group,) = find_trust_groups([similar, covering, harmless, other], pin)

    assert group == (covering, similar.replace(keys=()))


def test_each_table_that_may_cover_a_place_must_be_satisfied() -> None:
    acme, evil = rule("git.corp/acme/*", "a", required=True), rule("git.corp/evil/*", "b", required=True)
    harmless = rule("git.corp/*", "c")
    pin = make_pin("https://git.corp/evil/../acme/x")

    # The author of this address, who has the key of one of them, must not choose which one counts.
    assert find_trust_groups([acme, evil, harmless], pin) == ((acme,), (evil,))
    assert find_trust_groups([harmless], pin) == ((harmless,),)
    assert find_trust_groups([harmless], make_pin("https://other.example/x")) == ()


def test_the_table_is_large() -> None:
    assert len({row[:2] for row in TABLE}) == len(TABLE) >= 150
    assert {result for *_, result in TABLE} == {"yes", "no", "ambiguous"}


# Origin that a token belongs to, address of a request, result.
TOKENS: list[tuple[str, str, Match]] = [
    ("https://git.corp/", "https://git.corp/acme/x", "yes"),
    ("https://git.corp/", "https://GIT.corp/acme/x", "yes"),
    ("https://git.corp/", "https://git.corp:443/acme/x", "yes"),
    ("https://git.corp:443/", "https://git.corp/acme/x", "yes"),
    ("https://git.corp:8443/", "https://git.corp:8443/acme/x", "yes"),
    ("https://git.corp/", "https://git.corp:8443/acme/x", "ambiguous"),
    ("https://git.corp:8443/", "https://git.corp/acme/x", "ambiguous"),
    ("https://git.corp/", "http://git.corp/acme/x", "ambiguous"),
    ("https://git.corp/", "http://git.corp:443/acme/x", "ambiguous"),
    ("https://git.corp/", "https://git.corp./acme/x", "ambiguous"),
    ("https://git.corp/", "https://git.corp.evil.example/acme/x", "no"),
    ("https://git.corp/", "https://evil.example/git.corp/x", "no"),
    ("https://git.corp/", "https://git.corp@evil.example/x", "no"),
    ("https://git.corp/", "https://sub.git.corp/x", "no"),
    ("https://git.corp/", "https://git-corp/x", "no"),
    ("https://10.1.2.3/", "https://167838211/x", "ambiguous"),
    ("https://xn--bcher-kva.example/", "https://bücher.example/x", "ambiguous"),
]


@pytest.mark.parametrize(("origin", "address", "result"), TOKENS)
def test_a_token_is_sent_to_its_place_alone(origin: str, address: str, result: Match) -> None:
    environ = {"HOME": "/", "GITHUB_TOKEN": "s3cret", "GITHUB_SERVER_URL": origin}

    assert match_place(origin, address) == result
    assert bool(auth_headers(origin, "s3cret", address)) is (result == "yes")
    login = find_login(address, GitConfig(settings=(), file=""), read_settings(environ))
    assert bool(login.settings) is (result == "yes")


# The examples of the guides: what each of their patterns covers.
EXAMPLES = {
    "github.com/NVIDIA/*": "https://github.com/NVIDIA/skills",
    "github.com/acme/*": "https://github.com/acme/skills",
    "github.com/acme/skills": "https://github.com/acme/skills",
    "skills.acme.example/*": "index https://skills.acme.example/",
    "https://skills.acme.example/": "index https://skills.acme.example/",
    "ghcr.io/acme/*": "oci ghcr.io/acme/pdf",
    "bundled": "bundled:code-review",
}


def patterns_of_guides() -> set[str]:
    """Return the patterns in the TOML blocks, in the console sessions and in the tables of the guides."""
    patterns: set[str] = set()
    for guide in ("signing", "security-teams"):
        text = (DOCS / f"guides/{guide}.md").read_text(encoding="utf-8")
        for document in map(tomllib.loads, re.findall(r"```toml\n(.*?)```", text, re.DOTALL)):
            patterns |= {rule["source"] for rule in document.get("trust", [])}
            for table in ("sources", "indexes", "oci"):
                patterns |= {*document.get(table, {}).get("allow", [])}
        for policy in re.findall(r"^\[sources\]\nallow = \[(.*)\]$", text, re.MULTILINE):
            patterns |= {*re.findall(r'"([^"]+)"', policy)}
        patterns |= {*re.findall(r'signers = \{"([^"]+)"', text)}
        for row in re.findall(r"^\| `source` \|(.*)$", text, re.MULTILINE):
            patterns |= {*re.findall(r"`([a-z.]+/[^`]+)`", row)}
    return patterns


def test_the_examples_of_the_guides_are_known() -> None:
    assert patterns_of_guides() == {*EXAMPLES}


@pytest.mark.parametrize("pattern", EXAMPLES)
def test_an_example_of_the_guides_covers_what_its_guide_says(pattern: str) -> None:
    pin = make_pin(EXAMPLES[pattern])

    assert all(ask(pattern, pin) for ask, _ in USERS.values())


def test_the_page_has_what_is_true() -> None:
    rows = re.findall(
        r"^\| `([^`]+)` \| (.+?) \| (yes|ambiguous|no) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    places = [place.replace("`", "") for _, place, _ in rows]

    assert len(rows) == 23
    assert [
        match_place(pattern, make_pin(place).place().address) for (pattern, *_), place in zip(rows, places, strict=True)
    ] == [result for *_, result in rows]


@pytest.mark.parametrize("page", ["security.md", "guides/signing.md", "guides/security-teams.md", "formats.md"])
def test_a_page_about_places_links_to_their_grammar(page: str) -> None:
    assert "places.md" in (DOCS / page).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("pattern", "url", "is_allowed"),
    [
        ("https://skills.example/index", "https://skills.example/index/skills/pdf.json", True),
        ("skills.example/index/*", "https://skills.example/index/", True),
        ("github.com/acme/x", "https://github.com/acme/x.git/info/refs?service=git-upload-pack", True),
        ("github.com/acme/x", "https://github.com/acme/y.git/info/refs", False),
        ("github.com/acme/x", "https://github.com/acme/x/../y/info/refs", False),
        ("github.com/acme/x", "https://github.com/acme/x%2f..%2fy/info/refs", False),
        ("github.com/acme/x", "http://github.com/acme/x.git/info/refs", False),
        ("github.com/acme/x", "https://github.com:8443/acme/x.git/info/refs", False),
        ("https://skills.example/index", "https://skills.example/indexes/a.json", False),
        ("github.com/acme/*", "git@github.com:acme/x", True),
        ("github.com/acme/*", "git@github.com:evil/x", False),
        ("git.corp/acme/*", "ada@git.corp:acme/x", False),
        ("github.com/acme/*", "file:///srv/acme/x", False),
        ("path", "file:///srv/acme/x", True),
        ("path:/srv/*", "file:///srv/acme/x", True),
    ],
)
def test_a_request_belongs_to_a_place(pattern: str, url: str, *, is_allowed: bool) -> None:
    assert allows_request(pattern, url) is is_allowed


@pytest.mark.parametrize(
    ("pattern", "address", "reason"),
    [
        ("git.corp/acme/*", "https://git.corp:8443/acme/x", "has another port than `git.corp/acme/*`"),
        ("git.corp/acme/*", "http://git.corp/acme/x", "uses http, which `git.corp/acme/*` does not name"),
        ("https://git.corp", "ssh://git@git.corp/x", "uses ssh, which `https://git.corp` does not name"),
        ("git.corp/acme/*", "https://git.corp/ACME/x", "has a path that is not spelled as in `git.corp/acme/*`"),
        ("git.corp/acme/*", "https://git.corp/%61cme/x", "has a path that is not spelled as in `git.corp/acme/*`"),
        ("git.corp/acme/*", "https://git.corp/a/../x", "has a path that a server may understand as another one"),
        ("git.corp/acme/*", "https://git.corp./acme/x", "has a host that is not spelled as in `git.corp/acme/*`"),
        ("localhost*", "https://localhost.evil.example/", "has a host that is not spelled as in `localhost*`"),
        ("git.corp/acme/*", "ada@git.corp:acme/x", "has a path that depends on the home folder of a user"),
        ("git.corp/acme", "https://git.corp/acme/x", "is below `git.corp/acme`, which `git.corp/acme/*` would allow"),
        ("git.corp/acme/*", "https://git.corp/acme/x", ""),
        ("git.corp/acme/*", "https://git.corp/other/x", ""),
        ("path:./own", "path:./OWN", ""),
    ],
)
def test_a_message_says_why_a_pattern_does_not_cover_a_place(pattern: str, address: str, reason: str) -> None:
    assert explain_mismatch(pattern, address) == reason


@pytest.mark.parametrize(
    ("place", "table", "address"),
    [
        ("git@github.com:acme/x", "sources", "ssh://git@github.com/acme/x"),
        ("ada@git.corp:acme/x", "sources", "ssh://ada@git.corp/~/acme/x"),
        ("https://github.com/acme/x", "sources", "https://github.com/acme/x"),
        ("file:///srv/x", "sources", "path:/srv/x"),
        ("url https://x.example/a.zip", "sources", "https://x.example/a.zip"),
        ("url ./a.zip", "sources", "path:./a.zip"),
        ("path:./x", "sources", "path:./x"),
        ("bundled:x", "sources", "bundled:x"),
        ("npm:@acme/ui", "sources", "npm:@acme/ui"),
        ("index https://i.example/", "indexes", "https://i.example/"),
        ("index /srv/index/", "indexes", "path:/srv/index/"),
        ("oci oci.example/acme/x", "oci", "oci.example/acme/x"),
    ],
)
def test_a_pin_has_a_place(place: str, table: str, address: str) -> None:
    found = make_pin(place).place()
    assert isinstance(found, Place)
    assert (found.table, found.address) == (table, address)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", "a host and a path such as github.com/acme/*"),
        ("https://", "a host and a path such as github.com/acme/*"),
        ("git hub.com/x", "a host and a path such as github.com/acme/*"),
        ("github.com/\u202ex", "a host and a path such as github.com/acme/*"),
        (f"x.example/{'a' * 500}", f"a pattern of at most 500 characters with at most {MAX_WILDCARDS} `*`"),
        (f"x.example/{'*' * 7}", f"a pattern of at most 500 characters with at most {MAX_WILDCARDS} `*`"),
        *(
            (pattern, "a pattern without `..`, `//`, `;`, `?`, `#` and `\\`, which match no place")
            for pattern in (
                "x.example/a/../b", "x.example/./a", "x.example//a", "x.example/a;b", "x.example/a?b", "x.example/a#b",
                "x.example/a\\b", "x.example/a%2fb/%2e%2e", "path:./a/../b",
            )
        ),
    ],
)  # fmt: skip
def test_a_pattern_that_could_match_nothing_is_an_error(pattern: str, expected: str) -> None:
    with pytest.raises(DocumentError, match=re.escape(f"expected {expected}, got ")):
        read_place_pattern(JsonNode(pattern, "policy.toml"))


def test_a_pattern_of_many_wildcards_is_compared_fast() -> None:
    assert match_place("*a*a*a*a*a.example/*b", f"https://{'a' * 60}.example/{'a' * 5_000}") == "no"


def test_a_name_is_matched_in_whatever_case() -> None:
    policy = read_policy('version = 1\n[[blocked]]\nname = "Free-*"\nreason = "x"\n', "policy.toml")
    blocked = [
        name for name in ("FREE-tokens", "my-free-tokens") if Policies(layers=(policy,)).find_blocked([name], "")
    ]

    assert blocked == ["FREE-tokens"]
