"""`config` knows the scalar keys of `[audit]`, and shows what a manifest adds."""

import json

import pytest
from commands.scene import CommandSandbox, expected_output


def test_lists_of_rules_are_set_and_unset(scene: CommandSandbox) -> None:
    scene.run("config", "set", "audit.block", "high", "widens", check=True)

    assert scene.json_output("config", "get", "audit.block")["value"] == ["high", "widens"]
    assert (scene.home / ".config/skillpm/config.toml").read_text() == '[audit]\nblock = ["high", "widens"]\n'
    scene.run("config", "unset", "audit.block", check=True)
    assert scene.json_output("config", "get", "audit.block")["origin"] == "default"


@pytest.mark.parametrize(
    ("words", "value"), [(["true"], True), (["no"], False), (["~/work", "/srv"], ["~/work", "/srv"]), (["."], ["WORK"])]
)
def test_projects_are_trusted_all_or_by_folder(scene: CommandSandbox, words: list[str], value: object) -> None:
    scene.run("config", "set", "audit.trust-project", *words, check=True)

    assert scene.json_output("config", "get", "audit.trust-project")["value"] == value


def test_invalid_values_are_refused(scene: CommandSandbox) -> None:
    assert scene.output("config", "set", "audit.warn", "a b") == expected_output("""\
! error: `audit.warn`: expected a rule, `*`, or one of high, medium, low, got "a b"
!   hint: run `skillpm config --help`
[2]
""")
    assert scene.output("config", "set", "audit.trust-project", "work") == expected_output("""\
! error: `audit.trust-project`: expected a folder that begins with / or ~/, got "work"
!   hint: run `skillpm config --help`
[2]
""")


def test_what_a_manifest_blocks_is_listed_beside_it(scene: CommandSandbox) -> None:
    scene.create_project(json.dumps({"skills": {}, "audit": {"block": ["widens"]}}))

    lines = scene.output("config", "list", "--show-origin").splitlines()

    assert [" ".join(line.split()) for line in lines if line.startswith("audit.block")] == [
        'audit.block = ["high"] default',
        'audit.block = ["widens"] project manifest (WORK/skills.json)',
    ]


def test_a_manifest_cannot_warn_less(scene: CommandSandbox) -> None:
    scene.create_project(json.dumps({"skills": {}, "audit": {"warn": []}}))

    assert scene.output("config", "list") == expected_output("""\
! error: unknown key `warn`; known keys: block, allow
!   where: WORK/skills.json:1:26: audit.warn
!   hint: fix the file by hand, or restore it from version control
[1]
""")
