"""For authors: a new skill is valid, and whatever is wrong is said at once, with its line."""

import pytest
from kit import Sandbox, skill, under

WRONG = """\
---
name: Other Name
description: Fine: it has a colon that YAML does not allow.
category: testing
---
See [the guide](references/guide.md) and [the web](https://example.com).
"""


@pytest.fixture
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(tmp_path_factory.mktemp("authors"))


def test_a_new_skill_is_valid(sandbox: Sandbox) -> None:
    made = sandbox.run("new", "deploy-check", "--json")
    assert made.json == {"created": [str(sandbox.work / "deploy-check" / "SKILL.md")]}
    verdict = sandbox.run("validate", "deploy-check")
    assert (verdict.code, verdict.stdout, verdict.stderr) == (0, "", "1 of 1 skill valid\n")


def test_a_new_skill_never_writes_over_another(sandbox: Sandbox) -> None:
    sandbox.run("new", "deploy-check", check=True)
    before = sandbox.snapshot()
    again = sandbox.run("new", "deploy-check")
    assert again.code == 1
    assert again.stderr == (
        f"error: {sandbox.work}/deploy-check is there already\n  try: choose another name, or edit what is there\n"
    )
    assert sandbox.snapshot() == before


def test_every_finding_is_told_at_once_with_its_line(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", WRONG)
    verdict = sandbox.run("validate", "mine")
    assert verdict.code == 1
    assert verdict.stdout == (
        "mine/SKILL.md:2: error: the name must be lower-case letters, digits and single hyphens [bad-name]\n"
        "       2 | name: Other Name\n"
        "mine/SKILL.md:2: error: the folder is called `mine`, the skill `Other Name` [name-not-folder]\n"
        "       2 | name: Other Name\n"
        "mine/SKILL.md:3: error: this value was read as plain text, since YAML does not allow it unquoted "
        "[frontmatter-repaired]\n"
        "       3 | description: Fine: it has a colon that YAML does not allow.\n"
        "mine/SKILL.md:4: error: `category` is no field of the specification; put it under `metadata`, as text "
        "[unknown-field]\n"
        "       4 | category: testing\n"
        "mine/SKILL.md:6: warning: `references/guide.md` is no file of this skill [missing-file]\n"
        "       6 | See [the guide](references/guide.md) and [the web](https://example.com).\n"
    )
    assert verdict.stderr == "0 of 1 skill valid\n"


def test_lenient_asks_only_whether_it_loads(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", WRONG)
    assert sandbox.run("validate", "--lenient", "mine").code == 0
    sandbox.write("mine/SKILL.md", "no frontmatter\n")
    assert sandbox.run("validate", "--lenient", "mine").code == 1


def test_programs_get_one_object(sandbox: Sandbox) -> None:
    sandbox.write_files(under("skills/one", skill("one", description="Does one thing.")))
    sandbox.write("skills/two/SKILL.md", "---\nname: two\n---\nbody\n")
    verdict = sandbox.run("validate", "skills", "--json")
    assert verdict.code == 1
    assert verdict.json == {
        "ok": False,
        "skills": [
            {"path": "skills/one/SKILL.md", "name": "one", "loadable": True, "valid": True, "findings": []},
            {
                "path": "skills/two/SKILL.md",
                "name": "two",
                "loadable": True,
                "valid": False,
                "findings": [
                    {
                        "code": "missing-description",
                        "level": "error",
                        "message": "`description` is missing or no text",
                        "line": 1,
                    }
                ],
            },
        ],
    }


@pytest.mark.parametrize("character", ["\u200b", "\u202e", "\U000e0041"])
def test_hidden_text_is_an_error(sandbox: Sandbox, character: str) -> None:
    sandbox.write("mine/SKILL.md", f"---\nname: mine\ndescription: Fine.\n---\nread{character}able\n")
    verdict = sandbox.run("validate", "mine")
    assert verdict.code == 1
    assert "mine/SKILL.md:5: error: a hidden character" in verdict.stdout
    assert character not in verdict.stdout


def test_joiners_that_a_script_needs_are_no_hidden_text(sandbox: Sandbox) -> None:
    persian, picture = "\u0645\u06cc\u200c\u062e\u0648", "\U0001f469\u200d\U0001f4bb"
    sandbox.write("mine/SKILL.md", f"---\nname: mine\ndescription: Fine.\n---\n{persian} {picture}\n")
    assert sandbox.run("validate", "mine").code == 0


def test_every_bundled_skill_is_valid(sandbox: Sandbox) -> None:
    sandbox.run("install", "-g", "--bundled", check=True)
    verdict = sandbox.run("validate", str(sandbox.home / ".agent-skills"))
    assert (verdict.code, verdict.stdout, verdict.stderr) == (0, "", "9 of 9 skills valid\n")
