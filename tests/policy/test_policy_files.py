"""Policy files: what is refused, where they are, and that each may only tighten."""

import os
import subprocess
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from policy.world import Buyer, Market, format_error

from skillpm.errors import DocumentError
from skillpm.formats.trust.policy import read_policy
from skillpm.operations.doctor.diagnostics import DoctorContext
from skillpm.operations.doctor.environment_checks import check_policies
from skillpm.scope.project import Session
from skillpm.scope.scope import find_scope
from skillpm.scope.scope_policy import load_scope_policies
from skillpm.settings import read_settings
from skillpm.trust.policy import Policies

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
KEY = f"ed25519:{'A' * 43}="
FETCH = f'[fetch]\nurl = "https://x.example/p.toml"\nkey = "{KEY}"\n'

INVALID = {
    "": "`version` is missing (p)",
    "version = 2": "unsupported format 2; this version of skillpm reads up to 1 (p)",
    "version = 1\nsource = 1": "unknown key `source`; did you mean `sources`? (p: source)",
    "version = 1\n[sources]\nalow = []": "unknown key `alow`; did you mean `allow`? (p: sources.alow)",
    "version = 1\n[sources]": "`allow` is missing (p: sources)",
    "version = 1\n[sources]\nallow = 'github.com'": 'expected an array, got "github.com" (p: sources.allow)',
    "version = 1\n[sources]\nallow = ['bundeld']": (
        'expected a host and a path such as github.com/acme/*, or one of bundled, path, env, npm, got "bundeld" '
        "(p: sources.allow.0)"
    ),
    "version = 1\n[sources]\nallow = ['/srv/x']": (
        'expected a host and a path such as github.com/acme/*, or one of bundled, path, env, npm, got "/srv/x" '
        "(p: sources.allow.0)"
    ),
    "version = 1\n[oci]\nallow = ['bundled']": (
        'expected a host and a path such as github.com/acme/*, got "bundled" (p: oci.allow.0)'
    ),
    "version = 1\n[sources]\nallow = ['*/*/*/*/*/*/*']": (
        'expected a pattern of at most 500 characters with at most 6 `*`, got "*/*/*/*/*/*/*" (p: sources.allow.0)'
    ),
    "version = 1\n[require]\nreviews = 0": "expected a number above 0, got 0 (p: require.reviews)",
    "version = 1\n[require]\nmin-age = '2026-01-01'": (
        'expected an age such as "7 days", got "2026-01-01" (p: require.min-age)'
    ),
    "version = 1\n[require]\nsigner = {}": "unknown key `signer`; did you mean `signers`? (p: require.signer)",
    "version = 1\n[licenses]\nallow = ['my own']": (
        'expected an SPDX license identifier such as Apache-2.0, got "my own" (p: licenses.allow.0)'
    ),
    "version = 1\n[licenses]\nallow = ['MIT OR X11']": (
        'expected an SPDX license identifier such as Apache-2.0, got "MIT OR X11" (p: licenses.allow.0)'
    ),
    "version = 1\n[limits]\nexecutables = 'no'": 'expected true or false, got "no" (p: limits.executables)',
    "version = 1\n[limits]\nmax-size = '5'": 'expected a size such as "500 kB" or "5 MB", got "5" (p: limits.max-size)',
    "version = 1\n[limits]\nmax-size = 5": 'expected a size such as "500 kB" or "5 MB", got 5 (p: limits.max-size)',
    "version = 1\n[require]\nmin-age = 7": 'expected an age such as "7 days", got 7 (p: require.min-age)',
    "version = 1\n[audit]\nblock = ['a b']": (
        'expected a rule, `*`, or one of high, medium, low, got "a b" (p: audit.block.0)'
    ),
    "version = 1\n[audit]\nwarn = []": "unknown key `warn`; known keys: block, trust-project (p: audit.warn)",
    "version = 1\n[[blocked]]\nreason = 'r'": "expected either `digest` or `name`, got an object (p: blocked.0)",
    "version = 1\n[[blocked]]\nname = 'x'": "`reason` is missing (p: blocked.0)",
    "version = 1\n[[blocked]]\ndigest = 'x'\nreason = 'r'": (
        "expected sha256: and 64 hex digits, got 'x' (p: blocked.0.digest)"
    ),
    f"version = 1\n{FETCH}interval = 1": (
        "unknown key `interval`; known keys: url, key, refresh, max-age (p: fetch.interval)"
    ),
    f"version = 1\n{FETCH.replace('https', 'http')}": (
        'expected an https URL: plain HTTP can be tampered with in transit, got "http://x.example/p.toml" '
        "(p: fetch.url)"
    ),
    f"version = 1\n{FETCH.replace('//x', '//me:pw@x')}": (
        'expected an https URL without user info and query, got "https://***@x.example/p.toml" (p: fetch.url)'
    ),
    f"version = 1\n{FETCH.replace(KEY, 'ed25519:x')}": (
        'expected ed25519: and a public key in base64, got "ed25519:x" (p: fetch.key)'
    ),
    f"version = 1\n{FETCH}refresh = '0 s'": (
        'expected a time such as "90 seconds", "15 minutes" or "7 days", got "0 s" (p: fetch.refresh)'
    ),
    f"version = 1\n{FETCH}refresh = '2 days'\nmax-age = '1 day'": (
        'expected max-age above refresh, got "1 day" (p: fetch.max-age)'
    ),
    "version = 1\nissued = 'today'": 'expected a time such as 2026-01-31T12:00:00Z, got "today" (p: issued)',
}


@pytest.mark.parametrize("text", INVALID)
def test_an_invalid_policy_is_refused_with_file_and_key(text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_policy(text, "p")

    assert f"{caught.value.message} ({caught.value.where})" == INVALID[text]


@pytest.mark.parametrize("scope", Buyer.SCOPES)
def test_no_command_ignores_a_policy_that_it_cannot_enforce(market: Market, buyer: Buyer, scope: str) -> None:
    file = buyer.write_policy(scope, "[source]\n")
    requests = market.requests

    assert buyer.install("bundled:testing") == (
        f"document: unknown key `source`; did you mean `sources`?\n  where: {file}: source"
    )
    assert market.requests == requests


def load(buyer: Buyer) -> Policies:
    """Return the policies in effect in the project."""
    settings = buyer.settings.replace(working_directory=str(buyer.project))
    policies = load_scope_policies(find_scope(settings), settings)
    assert policies is not None
    return policies


# Key -> what the machine says, and what a checkout would like better.
LOOSER = {
    "sources.allow": ('[sources]\nallow = ["github.com/acme/*"]\n', '[sources]\nallow = ["*", "bundled"]\n'),
    "indexes.allow": (
        '[indexes]\nallow = ["https://a.example/"]\n',
        '[indexes]\nallow = ["*"]\n[sources]\nallow = ["*"]\n',
    ),
    "oci.allow": ('[oci]\nallow = ["a.example/*"]\n', '[oci]\nallow = ["*"]\n[sources]\nallow = ["bundled"]\n'),
    "licenses.allow": ('[licenses]\nallow = ["Apache-2.0"]\n', '[licenses]\nallow = ["MIT", "Apache-2.0"]\n'),
    "limits.executables": ("[limits]\nexecutables = false\n", "[limits]\nexecutables = true\n"),
    "limits.max-size": ('[limits]\nmax-size = "20 B"\n', '[limits]\nmax-size = "5 GB"\n'),
    "blocked": ('[[blocked]]\nname = "t*"\nreason = "r"\n', "blocked = []\n"),
}


@pytest.mark.parametrize("looser", ["user", "project"])
@pytest.mark.parametrize("key", LOOSER)
def test_a_looser_policy_changes_nothing(market: Market, buyer: Buyer, key: str, looser: str) -> None:
    strict, loose = LOOSER[key]
    spec = "./mine/tool" if key == "limits.executables" else "bundled:testing"
    file = buyer.write_policy("machine", strict)
    before = buyer.install(spec)

    buyer.write_policy(looser, loose)

    assert buyer.install(spec) == before
    assert f"{file}: {key}" in before


@pytest.mark.parametrize("stricter", ["user", "project"])
@pytest.mark.parametrize("key", LOOSER)
def test_a_stricter_policy_is_obeyed_beside_that_of_the_machine(
    market: Market, buyer: Buyer, key: str, stricter: str
) -> None:
    strict, loose = LOOSER[key]
    spec = "./mine/tool" if key == "limits.executables" else "bundled:testing"
    machine, file = buyer.write_policy("machine", loose), buyer.write_policy(stricter, strict)

    outcome = buyer.install(spec)

    assert f"{file}: {key}" in outcome
    assert str(machine) not in outcome
    assert list(buyer.installed) == []


@pytest.mark.parametrize("looser", ["user", "project"])
def test_the_strictest_of_all_settings_applies(buyer: Buyer, market: Market, looser: str) -> None:
    strict = '[require]\nreviews = 2\nmin-age = "7 days"\nsigners = {"github.com/a/*" = "a.pem"}\n'
    file = buyer.write_policy("machine", f"{strict}[audit]\nblock = ['hidden-text']\ntrust-project = false\n")
    buyer.write_policy(looser, '[require]\nreviews = 1\nmin-age = "1 day"\n[audit]\nblock = []\ntrust-project = true\n')

    policies = load(buyer)

    assert policies.reviews == (2, f"{file}: require.reviews")
    assert [age for age, _ in policies.min_ages] == ["7 days", "1 day"]
    assert [*policies.audit_block] == ["hidden-text"]
    assert not policies.trust_project


def test_the_environment_can_add_a_policy_but_not_move_that_of_the_machine(tmp_path: Path) -> None:
    variables = ["SKILLPM_CONFIG_DIR", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "SKILLPM_HOME", "SKILLPM_POLICY"]
    settings = read_settings({"HOME": str(tmp_path), **dict.fromkeys(variables, str(tmp_path / "x"))})

    assert settings.machine_policy == "/etc/skillpm/policy.toml"
    assert settings.added_policy == str(tmp_path / "x")


def test_a_policy_that_the_environment_names_has_to_exist(project: CommandSandbox) -> None:
    assert project.output("install", "testing", env={"SKILLPM_POLICY": "missing.toml"}) == (
        "! error: this policy does not exist\n!   where: WORK/missing.toml\n!   hint: SKILLPM_POLICY names it\n[1]\n"
    )
    project.write("policy.toml", "version = 1\n[sources]\nallow = []\n")
    assert project.output("install", "testing", env={"SKILLPM_POLICY": "policy.toml"}) == (
        "! error: `testing` comes from skillpm itself, which is not allowed (WORK/policy.toml: sources.allow)\n"
        "!   hint: nothing was changed; `skillpm policy check` explains the policies in effect\n[1]\n"
    )


def test_a_checkout_does_not_decide_which_servers_are_contacted(market: Market, buyer: Buyer) -> None:
    file = buyer.write_policy("project", FETCH)

    assert buyer.install("bundled:testing") == (
        "document: a project cannot have a policy fetched: a checkout would decide which servers are contacted\n"
        f"  where: {file}: fetch\n  hint: move the table to your own policy.toml, or to that of the machine"
    )


def test_the_policy_of_a_workspace_applies_to_its_members(project: CommandSandbox) -> None:
    project.write("skills.json", '{"skills": {}, "members": ["packages/*"]}')
    project.write("packages/a/skills.json", '{"skills": {}}')
    project.write("skills.policy.toml", 'version = 1\n[[blocked]]\nname = "testing"\nreason = "r"\n')

    assert project.output("install", "testing", cwd="packages/a") == (
        "! error: `testing` is refused: blocked: WORK/skills.policy.toml: blocked.0: is blocked: r\n"
        "!   hint: nothing was changed; `skillpm policy check` explains the policies in effect\n[1]\n"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_the_policy_of_this_machine_applies(project: CommandSandbox) -> None:
    project.write("etc/policy.toml", "version = 1\n[sources]\nallow = []\n")
    script = 'mkdir -p /etc/skillpm && mount --bind "$1" /etc/skillpm && shift && exec "$@"'
    command = ["unshare", "-m", "sh", "-c", script, "sh", str(project.work / "etc"), *project.command]
    is_possible = subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0
    if not is_possible or Path("/etc/skillpm").exists():
        pytest.skip("no namespaces here, or a policy of this machine")

    result = subprocess.run(
        [*command, "install", "testing"],
        cwd=project.work, env=project.environment({}), capture_output=True, text=True, check=False,
    )  # fmt: skip

    Path("/etc/skillpm").rmdir()
    assert result.stderr == (
        "error: `testing` comes from skillpm itself, which is not allowed (/etc/skillpm/policy.toml: sources.allow)\n"
        "  hint: nothing was changed; `skillpm policy check` explains the policies in effect\n"
    )


def test_format_error_names_the_place() -> None:
    assert format_error(DocumentError("m", where="w", hint="h")) == "document: m\n  where: w\n  hint: h"


def test_doctor_names_a_machine_policy_that_others_may_change(buyer: Buyer, market: Market) -> None:
    file = buyer.write_policy("machine", "")
    file.chmod(0o666)
    settings = buyer.settings
    doctor = DoctorContext(settings=settings, session=Session(settings=settings), scope=None)

    found = [(each.message, each.where) for each in check_policies(doctor)]

    message = "users other than root can change this machine's policy"
    folders = [] if os.geteuid() == 0 else [str(file.parent)]
    assert found == [(message, path) for path in (*folders, str(file))]


def test_doctor_names_a_policy_that_was_never_fetched(project: CommandSandbox) -> None:
    project.write("../home/.config/skillpm/policy.toml", f"version = 1\n{FETCH}")

    assert project.output("doctor").startswith(
        "problem: the policy https://x.example/p.toml was never fetched, so nothing is allowed\n"
        "    where: HOME/.config/skillpm/policy.toml: fetch\n"
    )
