"""In a project inside another one, `discover` and what is served agree: nearest first, up to the git root (ADR 16)."""

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


@pytest.fixture
def monorepo(scene: CommandSandbox) -> CommandSandbox:
    """Return a workspace with a member, beside projects that are none: one inside the other."""
    scene.write(".git/HEAD", "ref: refs/heads/main\n")
    scene.write("skills.json", '{"skills": {}, "members": ["packages/*"]}')
    for folder in ("", "packages/a/", "tools/x/", "tools/x/deep/y/"):
        scene.write_files(
            prefix_paths(f"{folder}.agent-skills/both", make_skill("both", f"Of {folder or 'the root'}."))
        )
        name = folder.strip("/").replace("/", "-") or "top"
        scene.write_files(prefix_paths(f"{folder}.agent-skills/{name}", make_skill(name)))
        if folder:
            scene.write(f"{folder}skills.json", '{"skills": {}}')
    (scene.work / "packages/a/src").mkdir()
    scene.write_files(prefix_paths("../home/.agent-skills/mine", make_skill("mine")))
    return scene


@pytest.mark.parametrize(
    ("folder", "own", "names"),
    [
        (".", ".", ["both", "mine", "top"]),
        ("packages/a", "packages/a", ["both", "mine", "packages-a", "top"]),
        ("packages/a/src", "packages/a", ["both", "mine", "packages-a", "top"]),
        ("tools/x", "tools/x", ["both", "mine", "tools-x", "top"]),
        ("tools/x/deep", "tools/x", ["both", "mine", "tools-x", "top"]),
        ("tools/x/deep/y", "tools/x/deep/y", ["both", "mine", "tools-x", "tools-x-deep-y", "top"]),
    ],
)
def test_all_commands_answer_alike_what_is_seen_in_a_monorepo(
    monorepo: CommandSandbox, folder: str, own: str, names: list[str]
) -> None:
    found = monorepo.json_output("discover", cwd=folder)["skills"]
    shown = {skill["name"]: skill["path"] for skill in found if skill["scope"] != "bundled"}

    assert list(shown) == names
    assert shown["both"] == f"WORK/{own}/.agent-skills/both/SKILL.md".replace("/./", "/")
    for name, path in shown.items():
        loaded = monorepo.json_output("load", name, cwd=folder)
        assert loaded["directory"] == path.removesuffix("/SKILL.md")
    prompt = monorepo.run("prompt", cwd=folder, check=True).stdout
    assert [name for name in names if f"<name>{name}</name>" in prompt or f"\n{name}\n" in prompt] == names
