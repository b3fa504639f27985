"""Each rule of a policy, for each kind of source, in each place where a policy may be, with the whole message."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from policy.world import SCRIPT, SKILL, Buyer, Market, Offer

from skillpm.core.digest import compute_digest

# Connections are left to the end of the process, which is that of the test here.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

HINT = "nothing was changed; `skillpm policy check` explains the policies in effect"
DIGEST = compute_digest((path, hashlib.sha256(content).hexdigest()) for path, content in SKILL.items())
SIZE = sum(map(len, SKILL.values()))
Expected = Callable[[Offer, Path], str]


def forbidden_place(offer: Offer, file: Path, reason: str = "", key: str = "") -> str:
    """Return the error before anything is fetched."""
    key = key or f"{offer.table}.allow"
    if offer.table == "indexes":
        return f"not-trusted: the index {offer.place} {reason}is not allowed\n  where: {file}: {key}\n  hint: {HINT}"
    skill = (
        f"`{offer.name}`"
        if offer.spec.startswith(("http", "./", "bundled:")) and "@" not in offer.spec
        else "the skill"
    )
    problem = f"{skill} comes from {offer.place}, which {reason}is not allowed"
    return f"not-trusted: {problem} ({file}: {key})\n  hint: {HINT}"


def without_list(offer: Offer, file: Path) -> str:
    """Return the error of a policy without a list for this kind of place."""
    reason = f"needs a list `{offer.table}.allow`, which this policy does not have, so it "
    return forbidden_place(offer, file, reason, "sources.allow" if offer.table == "oci" else "oci.allow")


def refusal(rule: str, key: str, problem: str) -> Expected:
    """Return the error of the content validation."""

    def expected(offer: Offer, file: Path) -> str:
        return f"not-trusted: `{offer.name}` is refused: {rule}: {file}: {key}: {problem}\n  hint: {HINT}"

    return expected


def passes(offer: Offer, _: Path) -> str:
    """Return that the skill is installed."""
    return offer.name


def unless_without_modes(expected: Expected) -> Expected:
    """Return the same, but the archive in the registry has no executable bits."""
    return lambda offer, file: expected(offer, file) if offer.keeps_modes else offer.name


def unless_bundled(expected: Expected) -> Expected:
    """Return what the skill of this table leads to; the bundled one passes."""
    return lambda offer, file: offer.name if offer.is_bundled else expected(offer, file)


RULES: dict[str, tuple[Callable[[Offer], str], Expected]] = {
    "places, none of this kind": (
        lambda offer: "[oci]\nallow = []\n" if offer.table != "oci" else "[sources]\nallow = []\n",
        without_list,
    ),
    "places, another one": (
        lambda offer: f'[{offer.table}]\nallow = ["other.example/*"]\n',
        forbidden_place,
    ),
    "places, this one": (lambda offer: f'[{offer.table}]\nallow = ["other.example/*", "{offer.pattern}"]\n', passes),
    "licenses": (
        lambda _: '[licenses]\nallow = ["MIT", "Apache-2.0"]\n',
        unless_bundled(
            refusal("licenses", "licenses.allow", "has the license GPL-3.0-only, which is not among the allowed ones")
        ),
    ),
    "licenses, this one": (lambda _: '[licenses]\nallow = ["MIT", "GPL-3.0-only"]\n', passes),
    "executables": (
        lambda _: "[limits]\nexecutables = false\n",
        unless_without_modes(
            unless_bundled(refusal("executables", "limits.executables", f"contains executable files: {SCRIPT}"))
        ),
    ),
    "max-size": (
        lambda _: '[limits]\nmax-size = "20 B"\n',
        lambda offer, file: refusal(
            "max-size", "limits.max-size", f"has {'20,499' if offer.is_bundled else SIZE} bytes, more than 20"
        )(offer, file),
    ),
    "max-size, larger": (lambda _: '[limits]\nmax-size = "1 MB"\n', passes),
    "blocked digest": (
        lambda _: f'[[blocked]]\ndigest = "{DIGEST}"\nreason = "steals tokens"\n',
        unless_bundled(refusal("blocked", "blocked.0", "is blocked: steals tokens")),
    ),
    "blocked name": (
        lambda _: '[[blocked]]\nname = "t*"\nreason = "steals tokens"\n',
        refusal("blocked", "blocked.0", "is blocked: steals tokens"),
    ),
    "blocked, another": (lambda _: '[[blocked]]\nname = "other"\nreason = "steals tokens"\n', passes),
}


@pytest.mark.parametrize("scope", Buyer.SCOPES)
@pytest.mark.parametrize("kind", Market.KINDS)
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_decides_about_a_kind_of_source(market: Market, buyer: Buyer, rule: str, kind: str, scope: str) -> None:
    offer, (policy, expected) = market.offer(kind), RULES[rule]
    file = buyer.write_policy(scope, policy(offer))
    requests = market.requests

    outcome = buyer.install(offer.spec)

    wanted = expected(offer, file)
    assert outcome == wanted
    assert list(buyer.installed) == ([offer.name] if wanted == offer.name else [])
    if expected in {forbidden_place, without_list}:
        assert market.requests == requests


def test_the_table_is_large() -> None:
    assert len(RULES) * len(Market.KINDS) * len(Buyer.SCOPES) == 264
