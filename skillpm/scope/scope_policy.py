"""The policies that apply in a scope: of the machine, the environment, the user and the project, and fetched ones."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from skillpm import __version__
from skillpm.cachedir import VERDICTS, read_bound_file, record_use, write_bound_file
from skillpm.core.digest import content_hash
from skillpm.core.limits import MAX_TOML_SIZE
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, FileError, NotTrusted, SkillpmError
from skillpm.files import read_text
from skillpm.scope.scope import Scope, user_scope
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.formats.trust.fetched_policy import PolicyCopy
    from skillpm.formats.trust.policy import FetchedPolicy, Policy
    from skillpm.kinds.base import Pin, Source
    from skillpm.trust.policy import Policies, PolicyCheck, PublishedCopy

CHECK_HINT = "`skillpm policy check` explains the policies in effect"
# Of the text of a policy, in characters; a smaller one takes less than 50 ms.
MIN_SIZE = 100_000
MAX_SIZE = 50_000_000
USER_POLICY, PROJECT_POLICY = "policy.toml", "skills.policy.toml"


class PolicyFile(Value):
    """A place where a policy may be."""

    origin: Literal["machine", "environment", "user", "project"]
    path: str


def find_policy_files(scopes: Sequence[Scope], settings: Settings) -> Iterator[PolicyFile]:
    """Yield the places of the policies that apply to skills of these scopes; most have none."""
    if settings.machine_policy:
        yield PolicyFile(origin="machine", path=settings.machine_policy)
    if settings.added_policy:
        yield PolicyFile(origin="environment", path=settings.added_policy)
    yield PolicyFile(origin="user", path=os.path.join(settings.config_dir, USER_POLICY))
    projects = [scope for scope in scopes if scope.kind == "project"]
    folders = dict.fromkeys(
        folder
        for scope in projects
        for folder in (scope.base, scope.root, *_find_enclosing_folders(scope.base, settings.home))
    )
    yield from (PolicyFile(origin="project", path=os.path.join(folder, PROJECT_POLICY)) for folder in folders)


def _find_enclosing_folders(base: str, home: str) -> list[str]:
    """Return the folders above a project whose policy covers it: up to the root of its git repository.

    Only those of the same owner: in a folder that others may write to, a policy of theirs would stop every command. A
    nested repository is its own, and outside of git, so is each project. A home directory that is a repository does not
    count as one.
    """
    folders = [base]
    while not os.path.lexists(os.path.join(folders[-1], ".git")):
        above = os.path.dirname(folders[-1])
        if above == folders[-1]:
            return []
        folders.append(above)
    if len(folders) == 1 or os.path.realpath(folders[-1]) in {os.path.realpath(home), os.path.realpath(os.sep)}:
        return []
    owner = os.stat(base).st_uid
    return [folder for folder in folders[1:] if os.stat(folder).st_uid == owner]


def read_policies(scopes: Sequence[Scope], settings: Settings) -> "list[tuple[PolicyFile, Policy]]":
    """Read the policies that exist. Raises `DocumentError` or `FileError` for one that cannot be enforced.

    Where there is none, this costs an attempt to open each file, and imports nothing.
    """
    texts = [(file, _read_policy_text(file)) for file in find_policy_files(scopes, settings)]
    if all(text is None for _, text in texts):
        return []
    from skillpm.formats.trust.policy import read_policy  # noqa: PLC0415  (few users have a policy)

    policies = [
        (
            file,
            read_policy(text, file.path, MAX_TOML_SIZE)
            if file.origin == "project"
            else parse_policy(text, file.path, settings.cache_dir),
        )
        for file, text in texts
        if text is not None
    ]
    for file, policy in policies:
        if policy.fetch is not None and file.origin == "project":
            raise DocumentError(
                "a project cannot have a policy fetched: a checkout would decide which servers are contacted",
                where=policy.locate("fetch"),
                hint="move the table to your own policy.toml, or to that of the machine",
            )
    return policies


def _read_policy_text(file: PolicyFile) -> str | None:
    text = read_text(file.path)
    if text is None and file.origin == "environment":
        raise FileError("this policy does not exist", where=file.path, hint="SKILLPM_POLICY names it")
    return text


def copy_path(fetch: "FetchedPolicy", settings: Settings) -> str:
    """Return where the last good copy of a published policy is kept: not in the cache, which may be emptied."""
    name = content_hash(f"{fetch.url}\n{fetch.key}".encode())[:32]
    return os.path.join(settings.config_dir, "policies", f"{name}.json")


def find_copy_files(scopes: Sequence[Scope], settings: Settings) -> list[str]:
    """Return where the copies of published policies are; none if a policy cannot be read, which is reported then."""
    try:
        policies = read_policies(scopes, settings)
    except SkillpmError:
        return []
    return [copy_path(policy.fetch, settings) for _, policy in policies if policy.fetch is not None]


def read_copy(fetch: "FetchedPolicy", settings: Settings) -> "PolicyCopy | None":
    """Return the last good copy of a published policy; None if there is none.

    Raises `DocumentError` for a copy that cannot be read, or is not signed: the environment determines its folder, and
    an attacker may have put a file there.
    """
    from skillpm.formats.trust.fetched_policy import read_policy_copy  # noqa: PLC0415  (as above)

    path = copy_path(fetch, settings)
    text = read_text(path)
    if text is None:
        return None
    copy = read_policy_copy(text, path, fetch, lambda policy, url: parse_policy(policy, url, settings.cache_dir))
    if not _is_signed(copy.text, copy.signature, fetch.key):
        hint = "run `skillpm policy refresh` to replace it"
        raise DocumentError("this copy of a policy is not signed by the key in `fetch.key`", where=path, hint=hint)
    return copy


@lru_cache(maxsize=8)
def _is_signed(text: str, signature: str, key: str) -> bool:
    from skillpm.trust.ed25519 import is_signed  # noqa: PLC0415  (as above)

    return is_signed(text.encode(), signature.encode(), key)


def load_policies(scopes: Sequence[Scope], settings: Settings) -> "Policies | None":
    """Return the policies in effect, with those that were fetched; None if there are none. Raises what `read_policies`
    raises.

    Whether a fetched one is too old is for `require_current` to say.
    """
    policies = read_policies(scopes, settings)
    if not policies:
        return None
    from skillpm.trust.policy import Policies, PublishedCopy  # noqa: PLC0415  (as above)

    layers, copies = [], []
    for _, policy in policies:
        layers.append(policy)
        if policy.fetch is not None:
            copy = read_copy(policy.fetch, settings)
            layers += [] if copy is None else [copy.policy]
            published = PublishedCopy(
                url=policy.fetch.url,
                where=policy.locate("fetch"),
                refresh=float(policy.fetch.refresh),
                max_age=float(policy.fetch.max_age),
            )
            copies.append(published if copy is None else _date(published, copy))
    return Policies(layers=tuple(layers), copies=tuple(copies))


def _date(published: "PublishedCopy", copy: "PolicyCopy") -> "PublishedCopy":
    from datetime import datetime  # noqa: PLC0415  (only for published policies)

    text = copy.policy.expires
    expires = datetime.fromisoformat(text).timestamp() if text else None
    return published.replace(fetched=copy.fetched, expires=expires)


def has_published_policy(scope: Scope, settings: Settings) -> bool:
    """Return whether a policy that applies in a scope is fetched from a URL."""
    return any(policy.fetch is not None for _, policy in read_policies((scope, user_scope(settings)), settings))


def load_scope_policies(scope: Scope, settings: Settings) -> "Policies | None":
    """Return the policies for a command that changes a scope."""
    return load_policies((scope, user_scope(settings)), settings)


def check_places(policies: "Policies | None", places: "Mapping[Any, Source | Pin]") -> None:
    """Raise `NotTrusted` if a policy forbids a source or a pin, before a server is contacted for it."""
    if policies is not None:
        checks = ((name, check) for name, source in places.items() for check in policies.check_place(source))
        _refuse([(str(name), check) for name, check in checks if check.problem])


def check_indexes(policies: "Policies | None", urls: Sequence[str]) -> None:
    """Raise `NotTrusted` if a policy forbids one of these indexes, before it is queried."""
    if policies is not None:
        from skillpm.kinds.index import index_place  # noqa: PLC0415  (as above)

        checks = ((url, check) for url in urls for check in policies.check_address(index_place(url)))
        for url, check in checks:
            if check.problem:
                reason = f"{check.reason}, so it " if check.reason else ""
                message = f"the index {sanitize(url)} {reason}is not allowed"
                raise NotTrusted(message, where=check.where, hint=f"nothing was changed; {CHECK_HINT}")


def check_request(policies: "Policies | None", url: str) -> None:
    """Raise `NotTrusted` if a policy allows no request to a URL: a server may redirect to any other."""
    if policies is not None and (origin := policies.find_forbidden_request(url)):
        raise NotTrusted(
            f"no policy allows requests to {sanitize(url)}", where=origin, hint="nothing was changed; " + CHECK_HINT
        )


def load_current_policies(scope: Scope, settings: Settings) -> "Policies | None":
    """Return the policies for a command that changes a scope. Raises `NotTrusted` if a fetched one is too old."""
    policies = load_scope_policies(scope, settings)
    require_current(policies, settings.now)
    return policies


def _refuse(problems: "Sequence[tuple[str, PolicyCheck]]") -> None:
    """Raise `NotTrusted` for skills that policies forbid, if there are any."""
    if not problems:
        return
    lines = [f"{f'`{name}`' if name else 'the skill'} {check.problem} ({check.where})" for name, check in problems]
    message = lines[0] if len(lines) == 1 else "\n  ".join([f"{len(lines)} policy rules are violated", *lines])
    error = NotTrusted(
        message,
        hint=f"nothing was changed; {CHECK_HINT}",
        problems=[
            {"skill": name, "kind": "policy", "rule": check.rule, "message": check.problem, "where": check.where}
            | {"hint": CHECK_HINT}
            for name, check in problems
        ],
    )
    error.skills = tuple(name for name in error.skills if name)
    raise error


def require_current(policies: "Policies | None", now: float) -> None:
    """Raise `NotTrusted` if a fetched policy is missing or too old: what it would forbid is not known."""
    for copy in () if policies is None else policies.copies:
        if problem := copy.find_problem(now):
            raise NotTrusted(
                f"the policy {sanitize(copy.url)} {problem}, so nothing is allowed",
                where=copy.where,
                hint="`skillpm policy refresh` fetches it, or explains why it cannot",
            )


def warn_of_old_policies(policies: "Policies | None", warn: Callable[[str], object]) -> None:
    """Warn of each published policy whose copy is older than its interval: a command that only reads fetches none."""
    for copy in () if policies is None else policies.copies:
        if age := copy.describe_age(time.time()):
            warn(f"the policy {sanitize(copy.url)} {age}; `skillpm policy refresh` fetches it")


@lru_cache(maxsize=8)
def parse_policy(text: str, origin: str, cache_dir: str) -> "Policy":
    """Return a policy of the machine or the user, or one that was fetched. Raises what `read_policy` raises.

    To parse sixty thousand names takes a second, so a large policy is kept parsed, in the cache. The name of a copy is
    a digest of the text, and it counts only in the very file that this user or root wrote (`read_bound_file`): what it
    says is not checked again.
    """
    from skillpm.formats.trust.policy import read_policy  # noqa: PLC0415  (few users have a policy)

    if len(text) < MIN_SIZE:
        return read_policy(text, origin)
    path = os.path.join(cache_dir, VERDICTS, content_hash(f"policy {__version__} {origin}\n{text}".encode()))
    entry = read_bound_file(path, MAX_SIZE)
    if entry is not None:
        with suppress(KeyError, TypeError, ValueError):
            policy = _load(entry["policy"])
            record_use(path)
            return policy
    policy = read_policy(text, origin)
    with suppress(OSError):  # a cache that cannot be written: then it is parsed each time
        write_bound_file(path, {"policy": _dump(policy)}, cache_dir)
    return policy


def _dump(policy: "Policy") -> Mapping[str, Any]:
    blocked = [(each.digest, each.name, each.reason) for each in policy.blocked]
    fetch = None if policy.fetch is None else vars(policy.fetch)
    return {**vars(policy), "signers": {**policy.signers}, "blocked": blocked, "fetch": fetch}


def _load(values: Mapping[str, Any]) -> "Policy":
    from skillpm.formats.trust.policy import BlockedContent, FetchedPolicy, Policy  # noqa: PLC0415  (as above)

    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    fields["blocked"] = tuple(
        BlockedContent(where=f"{fields['origin']}: blocked.{number}", digest=digest, name=name, reason=reason)
        for number, (digest, name, reason) in enumerate(fields["blocked"])
    )
    if fields["fetch"] is not None:
        fields["fetch"] = FetchedPolicy(**fields["fetch"])
    return Policy(**fields)
