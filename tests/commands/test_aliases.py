"""Two skills with the same name, one installed under an alias."""

from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import GitServer, Repository, make_skill, prefix_paths


@pytest.fixture
def clash(project: CommandSandbox, server: GitServer, tmp_path: Path) -> CommandSandbox:
    """Return a project with the `shadcn` skill of one owner; another owner has one as well."""
    for owner in ("ui", "acme"):
        repository = Repository.create(tmp_path / owner)
        repository.write(prefix_paths("skills/shadcn", make_skill("shadcn", f"By {owner}."))).commit()
        project.placeholders = {repository.resolve("main")[:7]: owner.upper(), **project.placeholders}
        server.serve(f"{owner}/skills", repository)
    project.redirect_git("https://github.com/", server.address)
    project.run("install", "ui/skills@shadcn", check=True)
    project.run("link", "claude-code", check=True)
    return project


def test_a_second_skill_with_the_same_name_is_a_conflict_that_an_alias_resolves(
    clash: CommandSandbox,
) -> None:
    refused = clash.output("install", "acme/skills@shadcn")
    installed = clash.output("install", "acme/skills@shadcn", "--as", "acme-shadcn")

    assert refused == expected_output("""\
! error: `shadcn` is already required from https://github.com/ui/skills (skills/shadcn)
!   where: WORK/skills.json: skills.shadcn
!   hint: use --as NAME to install the new one under another name, or --force to replace the existing one
[1]
""")
    assert installed == expected_output("""\
 + acme-shadcn ACME
added 1; total: 2 skills in WORK/.agent-skills
! warning: the SKILL.md of `acme-shadcn` declares the name `shadcn`, and some agents show that one; `shadcn` \
declares it, too, and they may show only one
""")


def test_several_skills_with_the_same_name_are_all_named(clash: CommandSandbox) -> None:
    clash.run("install", "acme/skills@shadcn", "--as", "acme-shadcn", check=True)
    third = clash.output("install", "acme/skills@shadcn", "--as", "third")

    assert third.splitlines()[-1] == (
        "! warning: the SKILL.md of `third` declares the name `shadcn`, and some agents show that one; `acme-shadcn`, "
        "`shadcn` declare it, too, and they may show only one"
    )


def test_both_skills_are_installed_listed_and_linked_under_their_own_names(clash: CommandSandbox) -> None:
    clash.run("install", "acme/skills@shadcn", "--as", "acme-shadcn", check=True)

    descriptions = {"acme-shadcn": "By acme.", "shadcn": "By ui."}
    for name, description in descriptions.items():
        assert clash.read(f".claude/skills/{name}/SKILL.md") == make_skill("shadcn", description)["SKILL.md"].decode()
    entries = clash.read_json(".agent-skills/skills.json")["skills"]
    assert [(entry["name"], entry.get("declaredName"), entry["description"]) for entry in entries] == [
        ("acme-shadcn", "shadcn", "By acme."),
        ("shadcn", None, "By ui."),
    ]
    prompt = clash.output("prompt")
    assert [prompt.count(word) for word in ("acme-shadcn\n</name>", "By acme.", "By ui.")] == [1, 1, 1]
    assert "calls itself acme" not in clash.output("show", "shadcn")
    assert "  calls itself shadcn\n" in clash.output("show", "acme-shadcn")
    assert clash.output("verify", "-q") == clash.output("sync", "-q") == ""


def test_one_of_the_two_skills_can_be_uninstalled(clash: CommandSandbox) -> None:
    clash.run("install", "acme/skills@shadcn", "--as", "acme-shadcn", check=True)

    clash.run("uninstall", "shadcn", check=True)

    assert sorted(clash.read_json("skills.lock")["skills"]) == ["acme-shadcn"]
    assert not clash.exists(".claude/skills/shadcn")
    assert clash.exists(".claude/skills/acme-shadcn/SKILL.md")
