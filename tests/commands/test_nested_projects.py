"""In a project inside another one, `discover` and what is served agree: nearest first, up to the git root (ADR 17)."""

import json

import pytest
from commands.scene import CommandSandbox
from kit import make_skill, prefix_paths


@pytest.fixture
def nested(scene: CommandSandbox) -> CommandSandbox:
    """Return a repository with two projects inside each other, and a folder of skills in between."""
    for folder, names in (("", ("a", "both")), ("pkg/", ("between",)), ("pkg/x/", ("own", "both"))):
        for name in names:
            files = make_skill(name, f"Of {folder or 'the root'}.")
            scene.write_files(prefix_paths(f"{folder}.agent-skills/{name}", files))
    scene.create_project()
    scene.write("pkg/x/skills.json", '{"skills": {}}')
    scene.write(".git/HEAD", "ref: refs/heads/main\n")
    scene.write_files(prefix_paths("../home/.agent-skills/mine", make_skill("mine")))
    return scene


def test_discover_and_load_see_the_same_skills(nested: CommandSandbox) -> None:
    found = nested.json_output("discover", cwd="pkg/x")["skills"]
    shown = {skill["name"]: skill["path"] for skill in found if skill["scope"] != "bundled"}

    assert list(shown) == ["a", "between", "both", "mine", "own"]
    for name, path in shown.items():
        assert nested.json_output("load", name, cwd="pkg/x")["directory"] == path.removesuffix("/SKILL.md")
    prompt = nested.output("prompt", cwd="pkg/x")
    assert [name for name in shown if f"<name>{name}</name>" in prompt or f"\n{name}\n" in prompt] == list(shown)


def test_rules_of_an_outer_project_apply_inside(nested: CommandSandbox) -> None:
    nested.write("skills.json", json.dumps({"skills": {}, "permissions": {"own": "deny"}, "disabled": {"a": True}}))

    for name in ("own", "a"):
        assert nested.run("load", name, cwd="pkg/x").code == 1
    assert nested.run("load", "between", cwd="pkg/x", check=True)


def test_management_and_the_user_stay_in_one_scope(nested: CommandSandbox) -> None:
    assert [skill["name"] for skill in nested.json_output("list", cwd="pkg/x")["skills"]] == ["both", "own"]
    assert nested.run("load", "a", "-g", cwd="pkg/x").code == 1
    assert nested.run("load", "between").code == 1
