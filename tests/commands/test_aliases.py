"""Two skills of one name live side by side: folder, registry, links and prompts tell them apart."""

from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import GitServer, Repository, make_skill, prefix_paths


@pytest.fixture
def clash(project: CommandSandbox, server: GitServer, tmp_path: Path) -> CommandSandbox:
    """Give a project that has the `shadcn` of one company, while another one has one too."""
    for owner in ("ui", "acme"):
        repository = Repository.create(tmp_path / owner)
        repository.write(prefix_paths("skills/shadcn", make_skill("shadcn", f"By {owner}."))).commit()
        project.placeholders = {repository.resolve("main")[:7]: owner.upper(), **project.placeholders}
        server.serve(f"{owner}/skills", repository)
    project.redirect_git("https://github.com/", server.address)
    project.run("install", "ui/skills@shadcn", check=True)
    project.run("link", "claude-code", check=True)
    return project


def test_the_second_of_a_name_is_a_conflict_with_a_way_out_that_says_what_hosts_will_show(
    clash: CommandSandbox,
) -> None:
    refused = clash.output("install", "acme/skills@shadcn")
    taken = clash.output("install", "acme/skills@shadcn", "--as", "acme-shadcn")

    assert refused == expected_output("""\
! error: `shadcn` is there already, from https://github.com/ui/skills (skills/shadcn)
!   where: WORK/skills.json: skills.shadcn
!   try: take this one under another name with --as NAME, or in its place with --force
[1]
""")
    assert taken == expected_output("""\
 + acme-shadcn ACME
added 1: 2 skills in WORK/.agent-skills
! warning: `acme-shadcn` calls itself `shadcn` in its SKILL.md, and agent hosts that go by that show it so; `shadcn` \
too, and they may show only one
""")


def test_both_are_there_under_their_own_names_everywhere(clash: CommandSandbox) -> None:
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


def test_either_goes_without_the_other(clash: CommandSandbox) -> None:
    clash.run("install", "acme/skills@shadcn", "--as", "acme-shadcn", check=True)

    clash.run("uninstall", "shadcn", check=True)

    assert sorted(clash.read_json("skills.lock")["skills"]) == ["acme-shadcn"]
    assert not clash.exists(".claude/skills/shadcn")
    assert clash.exists(".claude/skills/acme-shadcn/SKILL.md")
