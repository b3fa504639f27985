"""The copy of a policy that was fetched from a URL, as it is kept in the user's configuration folder."""

from collections.abc import Callable

from skillpm.core.json_text.decoder import dump_json, parse_json
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.formats.trust.policy import FetchedPolicy, Policy, read_policy

FORMAT = 1


class PolicyCopy(Value):
    """A published policy, its text, and when it was last fetched, in seconds since 1970."""

    policy: Policy
    text: str
    # In base64.
    signature: str
    fetched: float


def read_published_policy(text: str, url: str, read: Callable[[str, str], Policy] = read_policy) -> Policy:
    """Parse a policy that was fetched. Raises `DocumentError` for one without a date, or that names another URL."""
    policy = read(text, url)
    if not policy.issued:
        raise DocumentError("`issued` is missing: without it, an older policy could replace a newer one", where=url)
    if policy.expires and policy.expires <= policy.issued:
        raise DocumentError("`expires` must be later than `issued`", where=policy.locate("expires"))
    if policy.fetch is not None:
        raise DocumentError("a published policy cannot decide where policies are fetched", where=policy.locate("fetch"))
    return policy


def read_policy_copy(
    text: str, file: str, fetch: FetchedPolicy, read: Callable[[str, str], Policy] = read_policy
) -> PolicyCopy:
    """Parse a copy. Raises `DocumentError`, also for that of another URL or key. `read` parses the policy in it."""
    top = parse_json(text, file)
    top.check_format(FORMAT)
    top.check_keys("version", "url", "key", "fetched", "signature", "policy")
    for key, expected in (("url", fetch.url), ("key", fetch.key)):
        if top.require(key).text() != expected:
            top.require(key).raise_expected(expected)
    policy = top.require("policy").text()
    return PolicyCopy(
        policy=read_published_policy(policy, fetch.url, read),
        text=policy,
        signature=top.require("signature").text(),
        fetched=float(top.require("fetched").number()),
    )


def write_policy_copy(copy: PolicyCopy, fetch: FetchedPolicy) -> str:
    """Return the text of a copy."""
    value = {"version": FORMAT, "url": fetch.url, "key": fetch.key, "fetched": int(copy.fetched)}
    return dump_json(value | {"signature": copy.signature, "policy": copy.text})
