"""What a `skills.json` that a person or another tool wrote says is what agents get; one that is broken is reported."""

import json

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import make_skill, prefix_paths

from skillpm.formats.registry import MERGE_CONFLICT_MESSAGE

FOLDER = "../home/.agent-skills"
ENTRY = {
    "name": "api",
    "category": "backend",
    "description": "Designs APIs.",
    "triggers": ["openapi", "REST"],
    "filePath": "api.md",
}


def write_registry(scene: CommandSandbox, **changes: object) -> None:
    scene.write(f"{FOLDER}/api.md", "# API\n\nDesign it.\n")
    scene.write(f"{FOLDER}/skills.json", json.dumps({"skills": [{**ENTRY, **changes}]}))


def test_a_host_that_reads_a_registry_gets_its_metadata(scene: CommandSandbox) -> None:
    write_registry(scene)

    for options in (["-g"], ["--agent", "supercode"]):
        assert scene.json_output("search", "--triggers", *options, "an openapi document")["skills"] == ["api"]
        found = scene.json_output("search", *options, "--installed", "backend")["results"]
        assert [(skill["name"], skill["category"]) for skill in found] == [("api", "backend")]
        assert scene.output("prompt", *options, "--style", "supercode", "--mode", "full") == expected_output("""\
# Available Skills

## backend

### api
Designs APIs.
Triggers: openapi, REST

""")


def test_the_file_says_what_the_registry_does_not(scene: CommandSandbox) -> None:
    own = make_skill("api", "Designs APIs.", category="own", triggers=["own"], requires=["no-such-tool"])
    write_registry(scene, filePath="api/SKILL.md", triggers=[], category="")
    scene.write_files(prefix_paths(f"{FOLDER}/api", own))

    found = scene.json_output("search", "--triggers", "--agent", "supercode", "own")
    assert (found["skills"], [skill["name"] for skill in found["unusable"]]) == ([], ["api"])
    assert "## own" in scene.output("prompt", "--agent", "supercode", "--style", "supercode")


def test_a_registry_may_hide_a_skill_from_models(scene: CommandSandbox) -> None:
    write_registry(scene, userOnly=True)

    assert scene.output("prompt", "--agent", "supercode", "--style", "supercode") == "# Available Skills\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "invalid JSON"),
        ('{"skills": {"pdf": "^1"}}', "not a registry: `skills` is not a list"),
        (
            '<<<<<<< a\n{"skills": []}\n=======\n{}\n>>>>>>> b\n',
            MERGE_CONFLICT_MESSAGE,
        ),
    ],
    ids=["invalid", "a-manifest", "conflict"],
)
def test_a_broken_registry_is_reported_wherever_it_is_read(scene: CommandSandbox, text: str, problem: str) -> None:
    scene.write(f"{FOLDER}/skills.json", text)
    scene.write_files(prefix_paths(f"{FOLDER}/pdf", make_skill("pdf", triggers=["pdf"])))
    warning = f"! warning: skills.json: {problem}\n"

    for command in (
        ["list"],
        ["load", "pdf"],
        ["prompt"],
        ["search", "--triggers", "pdf"],
        ["search", "--installed", "pdf"],
    ):
        ran = scene.run(command[0], "-g", *command[1:])
        assert (ran.code, warning in scene.format_result(ran)) == (0, True)
    reason = "invalid JSON" if problem == MERGE_CONFLICT_MESSAGE else problem
    warning = f"! warning: HOME/.agent-skills/skills.json: {reason}\n"
    for command in (["load", "pdf"], ["prompt"], ["search", "--triggers", "pdf"], ["search", "--installed", "pdf"]):
        assert warning in scene.output(command[0], "--agent", "supercode", *command[1:])


def test_a_registry_that_skillpm_wrote_in_another_format_is_no_problem(scene: CommandSandbox) -> None:
    text = json.dumps({"$schema": "urn:skillpm:schema:registry:9", "version": "9", "skills": []}, indent=2)
    scene.write(f"{FOLDER}/skills.json", text)
    scene.write_files(prefix_paths(f"{FOLDER}/pdf", make_skill("pdf")))

    assert scene.run("load", "-g", "pdf", check=True).stderr == ""
