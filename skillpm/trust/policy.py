"""The policies in effect: each may only tighten, so all of them must allow a skill (ADR 47). Pure."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from skillpm.core.name_patterns import NamePatterns
from skillpm.core.suggestions import list_some
from skillpm.core.text import format_duration, sanitize
from skillpm.core.values import Value
from skillpm.formats.trust.policy import BlockedContent, Policy
from skillpm.formats.trust.trust_rules import TrustRule
from skillpm.kinds.base import Pin, Place, Source
from skillpm.trust.places import allows_request, covers, explain_mismatch, may_cover

MAX_NAMED = 5
# By how many seconds clocks may differ.
MAX_CLOCK_DIFFERENCE = 86_400.0


class PolicyCheck(Value):
    """What one rule of one policy says of a skill; `problem` is a predicate of the skill, empty if it passes."""

    # `sources`, `min-age`, `blocked` …
    rule: str
    # File and key of the rule.
    where: str
    problem: str = ""
    # Of a place that is not allowed: why a list nearly allows it, as a predicate of the place.
    reason: str = ""
    # Whether the place would be allowed, if the skill had not been edited.
    is_edited: bool = False


class SkillContent(Value):
    """What a policy has to know of the content of a skill."""

    # As its SKILL.md has it.
    license: str
    executables: Sequence[str]
    # In bytes, of all files.
    size: int


class PublishedCopy(Value):
    """The copy of a published policy: how old it is, and how old it may become."""

    url: str
    # The key that has it fetched, for messages.
    where: str
    # In seconds: after which time it is fetched again, and after which it no longer applies.
    refresh: float
    max_age: float
    # In seconds since 1970; 0 if it was never fetched.
    fetched: float = 0.0
    # Until when its publisher lets it be used; None for no limit.
    expires: float | None = None

    def find_problem(self, now: float) -> str:
        """Return why the copy is no longer valid, as a predicate; empty if it is valid."""
        if not self.fetched:
            return "was never fetched"
        if now < self.fetched - MAX_CLOCK_DIFFERENCE:
            return "has a copy dated in the future (check your clock)"
        if self.expires is not None and now > self.expires:
            return "has expired"
        return "was not fetched for longer than its max-age" if now > self.fetched + self.max_age else ""

    def describe_age(self, now: float) -> str:
        """Return how old the copy is, as a predicate; empty if it is not older than the interval of its policy."""
        age = now - self.fetched
        if age <= self.refresh:
            return ""
        return f"was fetched {format_duration(age)} ago, and is to be fetched every {format_duration(self.refresh)}"


class Policies(Value):
    """All policies that apply, the machine's first."""

    layers: tuple[Policy, ...] = ()
    # Those of the layers that were fetched, or should have been.
    copies: tuple[PublishedCopy, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.layers)

    # Places

    def check_place(self, source: Source | Pin) -> Iterator[PolicyCheck]:
        """Check where a skill comes from. An index that is not known yet is checked when it is queried."""
        place = source.place()
        return self.check_address(place) if place.address else iter(())

    def check_address(self, place: Place) -> Iterator[PolicyCheck]:
        """Check a place. A policy with any of the three lists forbids every place that is in none of them."""
        for layer in self.layers:
            allowed = {"sources": layer.sources, "indexes": layer.indexes, "oci": layer.oci}
            if {*allowed.values()} == {None}:
                continue
            patterns, key = allowed[place.table], f"{place.table}.allow"
            if any(covers(pattern, place.address) for pattern in patterns or ()):
                yield PolicyCheck(rule=place.table, where=layer.locate(key))
                continue
            if patterns is None:
                present = next(table for table, others in allowed.items() if others is not None)
                reason, key = f"needs a list `{key}`, which this policy does not have", f"{present}.allow"
            else:
                reasons = (explain_mismatch(pattern, place.address) for pattern in patterns)
                reason = next(filter(None, reasons), "")
            problem = f"comes from {_describe(place)}, which {f'{reason}, so it ' if reason else ''}is not allowed"
            yield PolicyCheck(rule=place.table, where=layer.locate(key), problem=problem, reason=reason)

    def check_edited(self, folder: Pin, locked: Pin) -> Iterator[PolicyCheck]:
        """Check where edited files come from: their folder, although the policy may allow the locked source."""
        for layer in self.layers:
            single = Policies(layers=(layer,))
            source = next(single.check_place(locked), None)
            for check in single.check_place(folder):
                if not check.problem or source is None or source.problem:
                    yield check
                    continue
                place = _describe(locked.place())
                problem = f"was edited, so its content is no longer from {place}, which {source.rule}.allow requires"
                yield source.replace(problem=problem, is_edited=True)

    def find_forbidden_request(self, url: str) -> str:
        """Return the policy that allows no request to a URL, since it belongs to no place in its lists, or nothing."""
        for layer in self.layers:
            lists = [patterns for patterns in (layer.sources, layer.indexes, layer.oci) if patterns is not None]
            patterns = [*(layer.sources or ()), *(layer.indexes or ())]
            # The path of a request to a registry is that of its API, so only the host can be compared.
            hosts = [pattern.rpartition("://")[2].partition("/")[0] for pattern in layer.oci or ()]
            patterns += [f"{scheme}{host}" for host in hosts for scheme in ("", "http://")]
            if lists and not any(allows_request(pattern, url) for pattern in patterns):
                return layer.origin
        return ""

    def depends_on_place(self, pin: Pin) -> bool:
        """Return whether a rule depends on where a skill comes from: a list of places, or signers for this one."""
        has_lists = any((layer.sources, layer.indexes, layer.oci) != (None, None, None) for layer in self.layers)
        return has_lists or any(True for _ in self.find_signers(pin))

    # Names and content

    def find_blocked(self, names: Sequence[str], digest: str) -> BlockedContent | None:
        """Return the entry of a kill switch that names a skill by one of its names or by its digest."""
        if digest and digest in self._blocked_digests:
            return self._blocked_digests[digest]
        blocked, patterns = self._blocked_names
        found = max((patterns.find_last(name.casefold()) for name in names), default=-1)
        return blocked[found] if found >= 0 else None

    def describe_blocked(self, names: Sequence[str], digest: str) -> str:
        """Return the reason and the place of the policy that blocks a skill; empty if none does."""
        blocked = self.find_blocked(names, digest)
        return "" if blocked is None else f"{sanitize(blocked.reason)} ({sanitize(blocked.where)})"

    @property
    def has_blocked(self) -> bool:
        """Whether a policy blocks any skill."""
        return any(layer.blocked for layer in self.layers)

    @cached_property
    def blocks_digests(self) -> bool:
        """Whether the digests of skills have to be known."""
        return bool(self._blocked_digests)

    @cached_property
    def _blocked_digests(self) -> dict[str, BlockedContent]:
        blocked = (each for layer in reversed(self.layers) for each in layer.blocked)
        return {each.digest: each for each in blocked if each.digest}

    @cached_property
    def _blocked_names(self) -> tuple[list[BlockedContent], NamePatterns]:
        """The names that are blocked, the first one last, so that it is the one that is found."""
        blocked = [each for layer in self.layers for each in layer.blocked if each.name][::-1]
        return blocked, NamePatterns((each.name for each in blocked), one_character=r"\?")

    def check_blocked(self, names: Sequence[str], digest: str) -> Iterator[PolicyCheck]:
        """Check whether a skill is blocked by its digest or by a name."""
        if not self.has_blocked:
            return
        blocked = self.find_blocked(names, digest)
        if blocked is None:
            first = next(layer for layer in self.layers if layer.blocked)
            yield PolicyCheck(rule="blocked", where=first.locate("blocked"))
        else:
            yield PolicyCheck(rule="blocked", where=blocked.where, problem=f"is blocked: {sanitize(blocked.reason)}")

    def check_content(self, content: SkillContent) -> Iterator[PolicyCheck]:
        """Check what a skill contains: its license, executables and size."""
        for layer in self.layers:
            if layer.licenses is not None:
                problem = _license_problem(content.license, layer.licenses)
                yield PolicyCheck(rule="licenses", where=layer.locate("licenses.allow"), problem=problem)
            if not layer.executables:
                files = content.executables
                problem = f"contains executable files: {list_some(files, MAX_NAMED)}" if files else ""
                yield PolicyCheck(rule="executables", where=layer.locate("limits.executables"), problem=problem)
            if layer.max_size:
                is_larger = content.size > layer.max_size
                problem = f"has {content.size:,} bytes, more than {layer.max_size:,}" if is_larger else ""
                yield PolicyCheck(rule="max-size", where=layer.locate("limits.max-size"), problem=problem)

    # Settings of other parts

    @property
    def audit_block(self) -> dict[str, str]:
        """The rules of the audit that block, each with file and key of the first policy that names it."""
        found: dict[str, str] = {}
        for layer in self.layers:
            found = dict.fromkeys(layer.audit_block, layer.locate("audit.block")) | found
        return found

    @property
    def trust_project(self) -> bool:
        """Whether the user may let exceptions and reviews of a checkout apply."""
        return all(layer.trust_project for layer in self.layers)

    @property
    def min_ages(self) -> tuple[tuple[str, str], ...]:
        """The minimum ages of new versions, each with its place."""
        return tuple((layer.min_age, layer.locate("require.min-age")) for layer in self.layers if layer.min_age)

    @property
    def reviews(self) -> tuple[int, str]:
        """How many reviewers must have approved a skill, and the place that says so; 0 for none."""
        strictest = max(self.layers, key=lambda layer: layer.reviews, default=None)
        return (0, "") if strictest is None else (strictest.reviews, strictest.locate("require.reviews"))

    def find_signers(self, pin: Pin) -> Iterator[TrustRule]:
        """Return the rules of policies about the signature of a skill, all of which must pass."""
        address = pin.place().address
        return (rule for rule in self.signers if may_cover(rule.source, address))

    @property
    def signers(self) -> Iterator[TrustRule]:
        """All rules of policies about signatures."""
        for layer in self.layers:
            for pattern, root in layer.signers.items():
                where = layer.locate(f"require.signers.{pattern}")
                yield TrustRule(source=pattern, root=layer.locate_file(root), required=True, where=where)


def _describe(place: Place) -> str:
    words = {"path": "a local folder", "bundled": "skillpm itself"}
    return words.get(place.address.partition(":")[0], sanitize(place.address))


def _license_problem(text: str, allowed: Sequence[str]) -> str:
    from skillpm.formats.trust.licenses import is_license_allowed, normalize_license  # noqa: PLC0415  (imports packaging)

    expression = normalize_license(text)
    if not text:
        return "declares no license"
    if not expression:
        return f"declares the license `{sanitize(text, 80)}`, which is not an SPDX expression"
    if not is_license_allowed(expression, allowed):
        return f"has the license {expression}, which is not among the allowed ones"
    return ""
