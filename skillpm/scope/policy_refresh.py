"""Fetch published policies. The last good copy stays until another one is verified (ADR 47)."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from skillpm.core.exclude_newer import to_utc
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, NotTrusted, OfflineError, SkillpmError
from skillpm.files import translate_os_errors, write_document
from skillpm.formats.trust.fetched_policy import PolicyCopy, read_published_policy, write_policy_copy
from skillpm.formats.trust.policy import MAX_POLICY_SIZE, FetchedPolicy, Policy
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import user_scope
from skillpm.scope.scope_policy import copy_path, read_copy, read_policies
from skillpm.settings import Settings
from skillpm.trust.ed25519 import is_signed
from skillpm.trust.policy import MAX_CLOCK_DIFFERENCE

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import HttpClient

MAX_SIGNATURE_SIZE = 1_000
# In seconds, for each of the two requests. A command that only happens to be the first one after the interval waits
# less if it has a copy: agent hosts give an MCP server 10 seconds to start.
MAX_WAIT, MAX_WAIT_WITH_COPY = 20.0, 3.0


class RefreshedPolicy(Value):
    """A published policy, and the result of refreshing it."""

    url: str
    # When the copy that applies was issued; empty if there is none.
    issued: str
    is_changed: bool = False
    # Why it could not be refreshed.
    error: SkillpmError | None = None


def refresh_policies(project: Project, *, only_due: bool = False, max_wait: float = MAX_WAIT) -> list[RefreshedPolicy]:
    """Fetch the published policies that apply in a scope, or only those whose interval is over.

    `max_wait` is in seconds for each request, where there is an older copy.

    An error leaves the last good copy, and is returned.
    """
    settings, results = project.settings, []
    for _, policy in read_policies((project.scope, user_scope(settings)), settings):
        if policy.fetch is None:
            continue
        old = _read_old_copy(policy.fetch, settings)
        if only_due and old is not None and 0 <= settings.now - old.fetched < policy.fetch.refresh:
            continue
        issued = "" if old is None else old.policy.issued
        try:
            new = _fetch(project.session, policy.fetch, old, MAX_WAIT if old is None else max_wait)
            write_copy(new, policy.fetch, settings)
        except SkillpmError as error:
            results.append(RefreshedPolicy(url=policy.fetch.url, issued=issued, error=error))
            continue
        is_changed = old is None or old.text != new.text
        results.append(RefreshedPolicy(url=policy.fetch.url, issued=new.policy.issued, is_changed=is_changed))
    return results


def refresh_due_policies(project: Project) -> None:
    """Refresh what is due before a command that changes something; warn of what could not be refreshed."""
    if project.settings.offline or project.session.is_policy_refreshed:
        return
    project.session.is_policy_refreshed = True
    for result in refresh_policies(project, only_due=True, max_wait=MAX_WAIT_WITH_COPY):
        if result.error is not None:
            applies = f"the one issued {result.issued} applies" if result.issued else "there is no older copy"
            message = f"the policy {sanitize(result.url)} could not be refreshed, {applies}: {result.error.message}"
            project.reporter.warn(message)


def _read_old_copy(fetch: FetchedPolicy, settings: Settings) -> PolicyCopy | None:
    with suppress(DocumentError):  # a damaged copy is replaced
        return read_copy(fetch, settings)
    return None


def write_copy(copy: PolicyCopy, fetch: FetchedPolicy, settings: Settings) -> None:
    """Write the copy of a policy, unless there is a newer one."""
    path, latest = copy_path(fetch, settings), _read_old_copy(fetch, settings)
    if latest is not None and latest.policy.issued > copy.policy.issued:
        return  # another process fetched a newer one meanwhile
    with translate_os_errors("keep a published policy", path):
        write_document(path, write_policy_copy(copy, fetch).encode(), fsync=settings.fsync, mode=0o600)


def _fetch(session: Session, fetch: FetchedPolicy, old: PolicyCopy | None, max_wait: float) -> PolicyCopy:
    """Return the policy that is published now. Raises `NotTrusted` for one that is not signed, or older."""
    from skillpm.fetchers.common.destinations import Destinations  # noqa: PLC0415  (imports httpx, as below)
    from skillpm.fetchers.http.client import HttpClient  # noqa: PLC0415

    if session.settings.offline:
        raise OfflineError([fetch.url])
    settings = session.settings
    settings = settings.replace(
        network_timeout=min(settings.network_timeout, max_wait), idle_timeout=min(settings.idle_timeout, max_wait)
    )
    destinations = Destinations()
    destinations.name(fetch.url)
    client = HttpClient(settings, session.reporter, destinations)
    try:
        data, signature = _download(client, fetch.url)
    finally:
        client.close()
    if not is_signed(data, signature, fetch.key):
        raise NotTrusted(
            "this policy is not signed by the key in `fetch.key`",
            hint="it may be in the middle of being published; otherwise, ask its publisher",
        )
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DocumentError("this document is not UTF-8", where=fetch.url) from error
    policy, base64_text = read_published_policy(text, fetch.url), signature.decode("ascii").strip()
    copy = PolicyCopy(policy=policy, text=text, signature=base64_text, fetched=settings.now)
    _check_issued(copy, old, settings.now)
    return copy


def _download(client: "HttpClient", url: str) -> Sequence[bytes]:
    data = client.get(url, limit=MAX_POLICY_SIZE).body
    return data, client.get(f"{url}.sig", limit=MAX_SIGNATURE_SIZE).body


def _check_issued(new: PolicyCopy, old: PolicyCopy | None, now: float) -> None:
    """Refuse an older policy, which an attacker may replay, and one whose time is not now.

    Without `expires`, a server that replays the same policy can withhold newer ones without end: each fetch of it
    succeeds, so that `max-age` is never reached.
    """
    check_time(new.policy, now)
    issued, where = new.policy.issued, new.policy.locate("issued")
    if old is None:
        return
    if issued < old.policy.issued:
        message = f"this policy is older than the one that was fetched before: {issued}, not {old.policy.issued}"
        raise NotTrusted(message, where=where, hint="its publisher must sign one with a later `issued`")
    if issued == old.policy.issued and new.text != old.text:
        message = f"this policy has changed, but not its time: {issued}"
        raise NotTrusted(message, where=where, hint="its publisher must sign one with a later `issued`")


def check_time(policy: Policy, now: float) -> None:
    """Raise `NotTrusted` for a policy that has expired, or was issued in the future: it would block later ones."""
    from datetime import UTC, datetime  # noqa: PLC0415  (few commands fetch a policy)

    current, latest = (
        to_utc(datetime.fromtimestamp(each, UTC).isoformat()) for each in (now, now + MAX_CLOCK_DIFFERENCE)
    )
    if policy.expires and policy.expires < current:
        raise NotTrusted(
            f"this policy has expired: {policy.expires}",
            where=policy.locate("expires"),
            hint="its publisher must sign one with later `issued` and `expires`",
        )
    if policy.issued > latest:
        where = policy.locate("issued")
        raise NotTrusted(f"this policy was issued in the future: {policy.issued}", where=where, hint="check your clock")
