"""Which rules about signatures apply to a skill, as `show`, `config`, `policy check` and `doctor` say it."""

import pytest
from commands.scene import CommandSandbox
from kit import GitServer
from kit.signing import Key

CONFIG, POLICY = "../home/.config/skillpm/config.toml", "../home/.config/skillpm/policy.toml"
KEY = Key()


@pytest.fixture
def trusting(project: CommandSandbox, served: str, server: GitServer) -> CommandSandbox:
    """Return a project with a skill of a source that one table covers, one may cover, and one does not."""
    project.run("install", f"{served}@pdf", "bundled:testing", check=True)
    host = server.address.partition("://")[2]
    project.placeholders = {**project.placeholders, host: "HOST"}
    project.write("../home/.config/skillpm/acme.pub", KEY.public_pem.decode())
    project.write(
        CONFIG,
        f'[[trust]]\nsource = "{host}/acme/*"\nkeys = ["acme.pub"]\n\n'
        '[[trust]]\nsource = "127.0.0.1/acme/*"\nkeys = ["acme.pub"]\nrequired = true\n\n'
        '[[trust]]\nsource = "github.com/acme/*"\nkeys = ["acme.pub"]\n',
    )
    project.write("../home/.config/skillpm/policy.pem", KEY.public_pem.decode())
    project.write(POLICY, f'version = 1\n[require.signers]\n"{host}/ACME/*" = "policy.pem"\n')
    return project


RULES = [
    {"where": "HOME/.config/skillpm/config.toml: trust.0", "source": "HOST/acme/*", "required": False, "match": "yes"},
    {
        "where": "HOME/.config/skillpm/config.toml: trust.1",
        "source": "127.0.0.1/acme/*",
        "required": True,
        "match": "ambiguous",
    },
    {
        "where": "HOME/.config/skillpm/policy.toml: require.signers.HOST/ACME/*",
        "source": "HOST/ACME/*",
        "required": True,
        "match": "ambiguous",
    },
]
LINES = [
    "HOME/.config/skillpm/config.toml: trust.0: HOST/acme/* trusts signers",
    "HOME/.config/skillpm/config.toml: trust.1: 127.0.0.1/acme/* requires a signature (ambiguous: the source has "
    "another port than `127.0.0.1/acme/*`)",
    "HOME/.config/skillpm/policy.toml: require.signers.HOST/ACME/*: HOST/ACME/* requires a signature (ambiguous: the "
    "source has a path that is not spelled as in `HOST/ACME/*`)",
]


def test_show_names_the_rules_that_apply(trusting: CommandSandbox) -> None:
    shown = " ".join(trusting.output("show", "pdf").split())

    assert "".join(f" trust {line}" for line in LINES) + " path " in shown
    assert trusting.json_output("show", "pdf")["trust"] == RULES
    assert "trust" not in trusting.json_output("show", "testing")
    assert "  trust" not in trusting.output("show", "testing")


def test_policy_check_names_the_rules_that_apply(trusting: CommandSandbox) -> None:
    checked = trusting.output("policy", "check", "pdf")

    assert [line.removeprefix("  trust: ") for line in checked.splitlines() if line.startswith("  trust: ")] == LINES
    rows = trusting.run("policy", "check", "--json").json["skills"]
    assert [(row["name"], len(row["trust"])) for row in rows] == [("pdf", 3), ("testing", 0)]


def test_config_lists_the_tables_and_the_skills_that_each_applies_to(trusting: CommandSandbox) -> None:
    tables = [
        'trust.0 = {"source": "HOST/acme/*", "keys": ["acme.pub"]} (here: pdf)',
        'trust.1 = {"source": "127.0.0.1/acme/*", "keys": ["acme.pub"], "required": true} (here: pdf)',
        'trust.2 = {"source": "github.com/acme/*", "keys": ["acme.pub"]} (here: no skill)',
    ]
    listed = trusting.output("config", "list").splitlines()

    assert [line for line in listed if line.startswith("trust.")] == tables
    assert trusting.output("config", "get", "trust").splitlines() == tables
    assert [each["skills"] for each in trusting.json_output("config", "get", "trust")["settings"]] == [
        ["pdf"],
        ["pdf"],
        [],
    ]
    assert trusting.json_output("config", "get", "trust.2") == {
        "key": "trust.2",
        "value": {"source": "github.com/acme/*", "keys": ["acme.pub"]},
        "origin": "user config",
        "where": "HOME/.config/skillpm/config.toml",
        "skills": [],
    }
    (trusting.work / CONFIG).write_text("")
    assert trusting.output("config", "get", "trust") == "! `trust` is not set\n"
    assert trusting.run("config", "get", "trust").stdout == ""


def test_config_does_not_write_tables_of_trust(project: CommandSandbox) -> None:
    assert project.output("config", "set", "trust.0.required", "true") == (
        "! error: `trust` is a list of tables\n!   hint: edit config.toml by hand\n[2]\n"
    )


def test_config_needs_no_lockfile_that_can_be_read(trusting: CommandSandbox) -> None:
    trusting.write("skills.lock", "<<<<<<< ours\n")

    assert "trust.0 = " in trusting.output("config", "list")


def test_doctor_names_a_table_that_covers_nothing_and_a_key_that_cannot_be_used(trusting: CommandSandbox) -> None:
    diagnosis = trusting.run("doctor", "--json").json
    found = [check for check in diagnosis["checks"] if check["id"] == "trust"]

    assert found == [
        {
            "id": "trust",
            "ok": True,
            "message": "`github.com/acme/*` covers no skill that is locked here",
            "hint": "compare it with the source that `skillpm show NAME` prints; docs/places.md has the grammar",
            "where": f"{trusting.home}/.config/skillpm/config.toml: trust.2",
            "level": "note",
        }
    ]
    (trusting.home / ".config/skillpm/acme.pub").write_text("hello")
    diagnosis = trusting.run("doctor", "--json").json
    found = [check for check in diagnosis["checks"] if check["id"] == "trust" and check["level"] == "problem"]
    assert {(check["message"], check["hint"].rpartition("/")[2]) for check in found} == {
        ("not a PEM file with a public key", f"config.toml: trust.{number}") for number in range(3)
    }


def test_doctor_knows_the_skills_of_projects_around_and_of_the_user(trusting: CommandSandbox) -> None:
    trusting.write(CONFIG, '[[trust]]\nsource = "bundled:code-review"\nkeys = ["acme.pub"]\n')
    trusting.run("init", "-g", check=True)
    assert "`bundled:code-review` covers no skill" in trusting.output("doctor")

    trusting.run("install", "-g", "code-review", check=True)

    assert "covers no skill" not in trusting.output("doctor")


@pytest.mark.parametrize("command", [["policy", "show"], ["policy", "check"], ["doctor"]], ids=" ".join)
def test_a_rule_of_the_audit_that_does_not_exist_is_an_error(project: CommandSandbox, command: list[str]) -> None:
    project.write(POLICY, 'version = 1\n[audit]\nblock = ["hihg"]\n')

    result = project.run(*command)

    assert result.code == 1
    assert "audit has no rule `hihg`" in result.stdout + result.stderr
