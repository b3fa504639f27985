"""Dependencies that lead on without end: the resolver gives up, and names the chain."""

import re

import pytest
from resolver.catalogue import Catalogue, Versions

from skillpm.core.names import SkillName
from skillpm.errors import RefusedError
from skillpm.formats.lockfile import Lockfile
from skillpm.kinds.index import IndexSource
from skillpm.resolver.candidates import ResolutionRequest
from skillpm.resolver.resolution import resolve


def resolve_names(catalogue: Catalogue, *names: str) -> list[str]:
    """Resolve the skills with these names, and return the names of all that are locked."""
    request = ResolutionRequest(requirements={SkillName(name): IndexSource(name=name) for name in names})
    return [*resolve(request, catalogue, Lockfile()).lockfile.skills]


def chain(length: int) -> Catalogue:
    """Return skills of which each requires the next one."""
    return Catalogue({f"a{n}": {"1": {f"a{n + 1}": "*"} if n < length else {}} for n in range(length + 1)})


def test_a_chain_of_fifty_dependencies_is_resolved() -> None:
    assert resolve_names(chain(50), "a0") == [f"a{n}" for n in range(51)]


def test_a_longer_chain_is_refused() -> None:
    endless = chain(1_000)

    message = "the dependencies of `a0` are nested more than 50 deep: a0 → a1 → a2 → … → a50 → a51"
    with pytest.raises(RefusedError, match=f"^{re.escape(message)}$"):
        resolve_names(endless, "a0")

    assert len(endless.asked) == 51


def test_a_chain_starts_at_each_skill_in_the_manifest() -> None:
    assert len(resolve_names(chain(99), "a0", "a33", "a66")) == 100


def test_a_thousand_dependencies_are_resolved() -> None:
    wide = {f"b{n}": {"1": {f"c{n}-{m}": "*" for m in range(499)}} for n in range(2)}
    leaves: dict[str, Versions] = {name: {"1": {}} for versions in wide.values() for name in versions["1"]}

    assert len(resolve_names(Catalogue({"a": {"1": dict.fromkeys(wide, "*")}} | wide | leaves), "a")) == 1_001


def test_more_dependencies_are_refused_before_they_are_looked_up() -> None:
    wide = {f"b{n}": {"1": {f"c{n}-{m}": "*" for m in range(500)}} for n in range(2)}
    endless = Catalogue({"a": {"1": dict.fromkeys(wide, "*")}} | wide)

    message = "the skills require more than 1000 others, the last ones by a → b1 → c1-0"
    with pytest.raises(RefusedError, match=f"^{re.escape(message)}$"):
        resolve_names(endless, "a")

    assert len(endless.asked) == 3


def test_versions_that_are_tried_one_after_the_other_cannot_add_more() -> None:
    """Each version requires other skills, which do not exist."""
    versions = {f"{number}": {f"b{number}-{n}": "*" for n in range(300)} for number in range(1, 9)}
    endless = Catalogue({"a": versions})

    with pytest.raises(RefusedError):
        resolve_names(endless, "a")

    assert len(endless.asked) <= 1_001
