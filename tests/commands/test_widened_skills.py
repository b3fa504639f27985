"""`[audit] block = ["widens"]`: a version that may do more than the installed one is refused, and nothing changes."""

import json

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths

CONFIG = '[audit]\nblock = ["widens"]\n'


@pytest.fixture
def outdated(project: CommandSandbox, url: str, upstream: Repository) -> CommandSandbox:
    """Return a project with two skills, for one of which there is a version that may do more."""
    project.run("install", f"{url}@pdf", f"{url}@docx", check=True)
    skill = make_skill("docx", "Writes Word files.", allowed_tools="Bash(*)") | {"get.sh": "echo\n"}
    upstream.write(prefix_paths("skills/docx", skill)).commit()
    return project


def configure(sandbox: CommandSandbox, text: str) -> None:
    (sandbox.home / ".config/skillpm").mkdir(parents=True, exist_ok=True)
    (sandbox.home / ".config/skillpm/config.toml").write_text(text)


LOOK = (
    "`skillpm review docx --digest sha256:a022e5449a7b7478` shows what changed; to accept it, add `--approve` to that, "
    "or `--allow widens` to this"
)


def test_an_update_is_refused_with_every_reason(outdated: CommandSandbox) -> None:
    configure(outdated, CONFIG)
    before = outdated.full_snapshot

    assert outdated.output("update") == expected_output(f"""\
! error: `docx` is refused for 2 reasons
!   docx: widens: may now use tools without asking: Bash(*)
!   docx: widens: may now run programs of its own: get.sh
!   hint: nothing was changed; {LOOK}
[1]
""")
    assert outdated.full_snapshot == before


def test_json_has_a_problem_for_each(outdated: CommandSandbox) -> None:
    configure(outdated, CONFIG)

    error = json.loads(outdated.add_placeholders(outdated.run("update", "docx", "--json").stdout))["error"]

    problem = {"skill": "docx", "kind": "widens", "rule": "widens", "where": "", "hint": LOOK, "digest": ""}
    assert (error["code"], error["skills"]) == ("not-trusted", ["docx"])
    assert error["problems"] == [
        {**problem, "message": "may now use tools without asking: Bash(*)"},
        {**problem, "message": "may now run programs of its own: get.sh"},
    ]


def test_a_lockfile_that_somebody_else_updated_is_refused_by_sync(outdated: CommandSandbox) -> None:
    old = outdated.read("skills.lock")
    outdated.run("update", check=True)
    new = outdated.read("skills.lock")
    outdated.write("skills.lock", old)
    outdated.run("sync", check=True)
    outdated.write("skills.lock", new)
    configure(outdated, CONFIG)

    assert outdated.run("sync", "--frozen", "--json").json["error"]["code"] == "not-trusted"


def test_what_is_installed_is_read_from_its_folder_if_the_store_lost_it(outdated: CommandSandbox) -> None:
    outdated.run("cache", "clean", "--yes")
    configure(outdated, CONFIG)

    problems = outdated.run("update", "--json").json["error"]["problems"]

    assert [problem["message"] for problem in problems][1:] == ["may now run programs of its own: get.sh"]


def test_an_edited_skill_whose_content_is_lost_cannot_be_compared(outdated: CommandSandbox) -> None:
    outdated.run("cache", "clean", "--yes")
    outdated.write(".agent-skills/docx/SKILL.md", "mine")
    configure(outdated, CONFIG)

    problems = outdated.run("update", "--force", "--json").json["error"]["problems"]

    assert [problem["message"] for problem in problems] == [
        "what it may do cannot be compared: the installed content is not known any more"
    ]


def test_a_first_install_widens_nothing(project: CommandSandbox, url: str) -> None:
    configure(project, CONFIG)

    project.run("install", f"{url}@pdf", check=True)


@pytest.mark.parametrize("text", ["", '[audit]\nblock = ["*"]\n'])
def test_only_the_rule_itself_means_it(outdated: CommandSandbox, text: str) -> None:
    configure(outdated, text)

    problems = outdated.run("update", "--json").json.get("error", {}).get("problems", [])

    assert [problem for problem in problems if problem["rule"] == "widens"] == []


def test_a_warning_does_not_refuse(outdated: CommandSandbox) -> None:
    configure(outdated, '[audit]\nwarn = ["widens"]\n')

    result = outdated.run("update", check=True)

    assert "warning: docx: widens: may now run programs of its own: get.sh\n" in result.error_output


def test_it_is_accepted_for_one_command(outdated: CommandSandbox) -> None:
    configure(outdated, CONFIG)

    outdated.run("update", "--allow", "widens", check=True)

    assert outdated.exists(".agent-skills/docx/get.sh")


def test_an_exception_accepts_this_content(outdated: CommandSandbox) -> None:
    outdated.run("lock", "--upgrade", check=True)
    digest = outdated.read_json("skills.lock")["skills"]["docx"]["digest"]
    allow = f'[[audit.allow]]\nskill = "docx"\nrule = "widens"\ndigest = "{digest}"\nreason = "read"\n'
    configure(outdated, CONFIG + allow)

    outdated.run("sync", check=True)


def test_neither_an_exception_nor_an_option_lifts_the_rule_of_a_policy(outdated: CommandSandbox) -> None:
    outdated.run("lock", "--upgrade", check=True)
    digest = outdated.read_json("skills.lock")["skills"]["docx"]["digest"]
    configure(outdated, f'[[audit.allow]]\nskill = "docx"\nrule = "widens"\ndigest = "{digest}"\nreason = "read"\n')
    outdated.write("../home/.config/skillpm/policy.toml", f"version = 1\n{CONFIG}")

    assert "`docx` is refused for 2 reasons" in outdated.run("sync", "--allow", "widens").stderr
    assert not outdated.exists(".agent-skills/docx/get.sh")
