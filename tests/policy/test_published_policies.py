"""Published policies: fetched with their signature, never older, kept until their maximum age."""

import base64
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from kit import GitServer, Response
from policy.world import format_error

from skillpm.errors import SkillpmError
from skillpm.formats.trust.policy import read_policy
from skillpm.scope.policy_refresh import refresh_policies, write_copy
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import user_scope
from skillpm.scope.scope_policy import load_scope_policies, read_copy, require_current
from skillpm.settings import Settings

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

OLD, NEW, NEWER = "2026-11-20T10:00:00Z", "2026-11-21T10:00:00Z", "2026-11-22T10:00:00Z"
NOW = 1_796_000_000.0  # 2026-11-30
BLOCKED = '[[blocked]]\nname = "testing"\nreason = "steals tokens"\n'


class Publisher:
    """A server with a policy and its signature, and a home whose policy names it."""

    def __init__(self, server: GitServer, home: Path) -> None:
        self.server, self.key = server, Ed25519PrivateKey.generate()
        self.url = f"{server.address}/p.toml"
        self.settings = Settings(
            home=str(home), working_directory=str(home), skills_home=str(home / ".agent-skills"),
            config_dir=str(home / ".config/skillpm"), cache_dir=str(home / ".cache/skillpm/v1"), now=NOW,
        )  # fmt: skip
        self.file = home / ".config/skillpm/policy.toml"
        self.file.parent.mkdir(parents=True)
        self.file.write_text(f"version = 1\n{self.fetch}")

    @property
    def public_key(self) -> str:
        return "ed25519:" + base64.b64encode(self.key.public_key().public_bytes_raw()).decode()

    @property
    def fetch(self) -> str:
        interval = 'refresh = "15 minutes"\nmax-age = "7 days"\n'
        return f'[fetch]\nurl = "{self.url}"\nkey = "{self.public_key}"\n{interval}'

    def publish(self, issued: str, rules: str = BLOCKED, *, key: Ed25519PrivateKey | None = None) -> None:
        text = f"version = 1\n{f'issued = {issued}' if issued else ''}\n{rules}".encode()
        signature = base64.b64encode((key or self.key).sign(text)) + b"\n"
        self.server.publish("/p.toml", Response(200, {}, text))
        self.server.publish("/p.toml.sig", Response(200, {}, signature))

    def refresh(self, *, now: float = NOW, only_due: bool = False) -> str:
        """Refresh, and return the issued time of the copy that applies then, or the error."""
        session = Session(settings=self.settings.replace(now=now))
        results = refresh_policies(Project(user_scope(self.settings), session), only_due=only_due)
        return ", ".join(f"{each.error.code}: {each.error.message}" if each.error else each.issued for each in results)

    def applies(self, now: float = NOW) -> str:
        """Return the reason why the published policy blocks a skill, or the error of all commands."""
        try:
            policies = load_scope_policies(user_scope(self.settings), self.settings)
            require_current(policies, now)
        except SkillpmError as error:
            return format_error(error)
        assert policies is not None
        return policies.describe_blocked(["testing"], "")


@pytest.fixture
def publisher(tmp_path: Path, server: GitServer) -> Publisher:
    return Publisher(server, tmp_path)


def test_a_published_policy_applies_and_names_its_url(publisher: Publisher) -> None:
    publisher.publish(NEW)

    assert publisher.refresh() == NEW
    assert publisher.applies() == f"steals tokens ({publisher.url}: blocked.0)"


def test_before_the_first_fetch_nothing_is_allowed(publisher: Publisher) -> None:
    assert publisher.applies() == (
        f"not-trusted: the policy {publisher.url} was never fetched, so nothing is allowed\n"
        f"  where: {publisher.file}: fetch\n  hint: `skillpm policy refresh` fetches it, or explains why it cannot"
    )


def test_the_last_good_copy_applies_until_its_maximum_age(publisher: Publisher) -> None:
    publisher.publish(NEW)
    publisher.refresh()

    assert publisher.applies(NOW + 7 * 86_400) == f"steals tokens ({publisher.url}: blocked.0)"
    assert publisher.applies(NOW + 7 * 86_400 + 1) == (
        f"not-trusted: the policy {publisher.url} was not fetched for longer than its max-age, so nothing is allowed\n"
        f"  where: {publisher.file}: fetch\n  hint: `skillpm policy refresh` fetches it, or explains why it cannot"
    )


def test_only_what_is_due_is_fetched(publisher: Publisher) -> None:
    publisher.publish(NEW)
    publisher.refresh()
    publisher.publish(NEWER)

    assert publisher.refresh(now=NOW + 899, only_due=True) == ""
    assert publisher.refresh(now=NOW + 900, only_due=True) == NEWER


def test_a_server_that_replays_a_policy_can_only_do_so_until_it_expires(publisher: Publisher) -> None:
    expires = 1_796_000_000 + 9 * 86_400
    publisher.publish(NEW, f"expires = {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(expires))}\n{BLOCKED}")
    publisher.refresh()

    assert publisher.refresh(now=expires) == NEW
    assert publisher.applies(expires) == f"steals tokens ({publisher.url}: blocked.0)"
    assert publisher.refresh(now=expires + 1) == "not-trusted: this policy has expired: 2026-12-09T00:53:20Z"
    assert publisher.applies(expires + 1) == (
        f"not-trusted: the policy {publisher.url} has expired, so nothing is allowed\n"
        f"  where: {publisher.file}: fetch\n  hint: `skillpm policy refresh` fetches it, or explains why it cannot"
    )


def test_a_command_with_a_copy_does_not_wait_long_for_a_server_that_is_silent(
    scene: CommandSandbox, publisher: Publisher, server: GitServer
) -> None:
    project = scene.create_project()
    publisher.publish(NEW)
    project.write("../home/.config/skillpm/policy.toml", f"version = 1\n{publisher.fetch}")
    project.run("policy", "refresh", check=True)
    (copy,) = (project.home / ".config/skillpm/policies").iterdir()
    copy.write_text(json.dumps({**json.loads(copy.read_text()), "fetched": int(time.time()) - 86_400}))
    server.add_fault("GET /p.toml", "dribble-body")

    result = project.run("sync", timeout=120)  # by far less than the 300 seconds that a download may take

    assert result.error_output == (
        f"warning: the policy {publisher.url} could not be refreshed, the one issued {NEW} applies: "
        f"{publisher.url} did not respond within 3 s\n"
    )


UNSIGNED = "not-trusted: this policy is not signed by the key in `fetch.key`"
FUTURE = "2100-01-01T00:00:00Z"
EXPIRED = "2026-11-25T00:00:00Z"


def publish_other_bytes(publisher: Publisher) -> None:
    publisher.publish(NEWER, "")
    publisher.server.publish("/p.toml", Response(200, {}, f"version = 1\nissued = {NEWER}\n\n\n".encode()))


def publish_no_text(publisher: Publisher) -> None:
    publisher.server.publish("/p.toml", Response(200, {}, b"\xff"))
    publisher.server.publish("/p.toml.sig", Response(200, {}, base64.b64encode(publisher.key.sign(b"\xff"))))


def answer(path: str, response: Response) -> Callable[[Publisher], None]:
    return lambda publisher: publisher.server.publish(path, response)


PROBLEMS: dict[str, tuple[Callable[[Publisher], None], str]] = {
    "another key": (lambda it: it.publish(NEWER, "", key=Ed25519PrivateKey.generate()), UNSIGNED),
    "other bytes": (publish_other_bytes, UNSIGNED),
    "no signature": (answer("/p.toml.sig", Response(404, {}, b"")), "not-found: URL.sig does not exist (HTTP 404)"),
    "a long signature": (
        answer("/p.toml.sig", Response(200, {}, b"A" * 1_001)),
        "fetch: URL.sig sends more than 1000 bytes",
    ),
    "an older one": (
        lambda it: it.publish(OLD, ""),
        f"not-trusted: this policy is older than the one that was fetched before: {OLD}, not {NEW}",
    ),
    "a change without a time": (
        lambda it: it.publish(NEW, ""),
        f"not-trusted: this policy has changed, but not its time: {NEW}",
    ),
    "no time": (
        lambda it: it.publish("", ""),
        "document: `issued` is missing: without it, an older policy could replace a newer one",
    ),
    "the future": (lambda it: it.publish(FUTURE, ""), f"not-trusted: this policy was issued in the future: {FUTURE}"),
    "an expired one": (
        lambda it: it.publish(NEWER, f"expires = {EXPIRED}"),
        f"not-trusted: this policy has expired: {EXPIRED}",
    ),
    "a time that ends before it begins": (
        lambda it: it.publish(NEWER, f"expires = {NEW}"),
        "document: `expires` must be later than `issued`",
    ),
    "another place": (
        lambda it: it.publish(NEWER, it.fetch),
        "document: a published policy cannot decide where policies are fetched",
    ),
    "a large one": (lambda it: it.publish(NEWER, "#" * 5_000_001), "fetch: URL sends more than 5000000 bytes"),
    "a closed server": (
        answer("/p.toml", Response(503, {"Retry-After": "100"}, b"")),
        "fetch: URL: the server asks to wait 100 s (HTTP 503)",
    ),
    "no text": (publish_no_text, "document: this document is not UTF-8"),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_what_is_wrong_is_not_taken_and_the_last_good_copy_stays(publisher: Publisher, problem: str) -> None:
    publisher.publish(NEW)
    publisher.refresh()
    cause, expected = PROBLEMS[problem]

    cause(publisher)

    assert publisher.refresh() == expected.replace("URL", publisher.url)
    assert publisher.applies() == f"steals tokens ({publisher.url}: blocked.0)"


def test_a_damaged_copy_fails_closed_and_is_replaced(publisher: Publisher) -> None:
    publisher.publish(NEW)
    publisher.refresh()
    (copy,) = (publisher.file.parent / "policies").iterdir()
    assert copy.stat().st_mode & 0o777 == 0o600
    value = json.loads(copy.read_text())
    copy.write_text(json.dumps({**value, "url": "https://other.example/"}))

    assert publisher.applies() == (
        f'document: expected {publisher.url}, got "https://other.example/"\n  where: {copy}: url'
    )
    assert publisher.refresh() == NEW
    assert publisher.applies().startswith("steals tokens")


def test_a_copy_that_somebody_else_has_written_is_not_believed(publisher: Publisher) -> None:
    publisher.publish(NEW)
    publisher.refresh()
    (copy,) = (publisher.file.parent / "policies").iterdir()
    value = json.loads(copy.read_text())

    copy.write_text(json.dumps({**value, "policy": value["policy"].replace("testing", "nothing")}))

    assert publisher.applies() == (
        f"document: this copy of a policy is not signed by the key in `fetch.key`\n  where: {copy}\n"
        "  hint: run `skillpm policy refresh` to replace it"
    )
    copy.write_text(json.dumps({**value, "fetched": int(NOW) + 10_000_000}))
    assert publisher.applies() == (
        f"not-trusted: the policy {publisher.url} has a copy dated in the future (check your clock), so nothing is "
        "allowed\n"
        f"  where: {publisher.file}: fetch\n  hint: `skillpm policy refresh` fetches it, or explains why it cannot"
    )


def test_a_command_that_changes_something_fetches_it_and_names_what_failed(
    scene: CommandSandbox, publisher: Publisher, server: GitServer
) -> None:
    project = scene.create_project()
    project.placeholders = {server.address: "SERVER", **project.placeholders}
    project.run("install", "testing", check=True)
    publisher.publish(NEW)
    project.write("../home/.config/skillpm/policy.toml", f"version = 1\n{publisher.fetch.replace('15 m', '1 m')}")

    assert project.run("load", "testing").code == 1  # readers fetch nothing
    assert server.requests == []
    assert project.output("sync") == (
        "nothing to do: 1 skill in WORK/.agent-skills\n"
        "! warning: `testing` is blocked by policy: steals tokens (SERVER/p.toml: blocked.0); no agent gets it, and "
        "`skillpm uninstall testing` removes it\n"
    )
    assert project.output("load", "testing").startswith("! error: `testing` is blocked by policy: steals tokens\n")
    assert project.output("policy", "refresh") == f"! unchanged: SERVER/p.toml, issued {NEW}\n"
    project.run("cache", "clean", "--yes", check=True)
    assert project.output("load", "testing").startswith("! error: `testing` is blocked by policy: steals tokens\n")

    server.publish("/p.toml", Response(404, {}, b""))
    assert project.output("policy", "refresh") == (
        f"! warning: SERVER/p.toml: SERVER/p.toml does not exist (HTTP 404); keeping the one issued {NEW}\n[1]\n"
    )


def test_a_key_and_a_signature_are_made_with_the_command_alone(scene: CommandSandbox, server: GitServer) -> None:
    project = scene.create_project()
    key = project.run("policy", "new-key", "key.pem", check=True).stdout
    assert (project.work / "key.pem").stat().st_mode & 0o777 == 0o600
    assert project.output("policy", "new-key", "key.pem") == (
        "! error: this file already exists\n!   where: WORK/key.pem\n!   hint: name another one\n[1]\n"
    )
    issued = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    project.write("p.toml", f"version = 1\nissued = {issued}\n{BLOCKED}")

    assert project.output("policy", "sign", "p.toml", "--key", "key.pem") == (
        f"{key}! signed the policy issued {issued}: publish p.toml and p.toml.sig\n"
    )

    for name in ("p.toml", "p.toml.sig"):
        server.publish(f"/{name}", (project.work / name).read_bytes())
    project.write(
        "../home/.config/skillpm/policy.toml", f'version = 1\n[fetch]\nurl = "{server.address}/p.toml"\n{key}'
    )
    assert project.run("policy", "refresh").code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = 1\n", "`issued` is missing: without it, an older policy could replace a newer one"),
        ("version = 1\nsource = 1\n", "unknown key `source`; did you mean `sources`?"),
        (
            'version = 1\nissued = 2026-01-01T00:00:00Z\n[audit]\nblock = ["cisco/ANY", "hihg"]\n',
            "the audit has no rule `hihg`",
        ),
        (
            "version = 1\nissued = 2026-01-01T00:00:00Z\nexpires = 2026-02-01T00:00:00Z\n",
            "this policy has expired: 2026-02-01T00:00:00Z",
        ),
        ("version = 1\nissued = 2999-01-01T00:00:00Z\n", "this policy was issued in the future: 2999-01-01T00:00:00Z"),
    ],
)
def test_a_policy_that_no_machine_would_take_is_not_signed(scene: CommandSandbox, text: str, message: str) -> None:
    project = scene.create_project()
    project.run("policy", "new-key", "key.pem", check=True)
    project.write("p.toml", text)

    assert project.output("policy", "sign", "p.toml", "--key", "key.pem").startswith(f"! error: {message}\n")
    assert not project.exists("p.toml.sig")


def test_a_slow_response_does_not_replace_a_newer_policy(publisher: Publisher) -> None:
    """Two processes fetch at the same time; the one that read the older policy is the last to write."""
    publisher.publish(NEW, "")
    publisher.refresh()
    (copy,) = (publisher.file.parent / "policies").iterdir()
    policy = read_policy(publisher.file.read_text(), str(publisher.file)).fetch
    assert policy is not None
    older = read_copy(policy, publisher.settings)
    assert older is not None
    publisher.publish(NEWER)
    publisher.refresh()
    newest = copy.read_text()

    write_copy(older, policy, publisher.settings)

    assert copy.read_text() == newest
