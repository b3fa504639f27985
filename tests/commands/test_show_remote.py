"""`show SPEC`: a look at a skill before it is installed. `install --list` prints whole descriptions into a pipe."""

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths

LONG = f"Reads PDF files. {'Use when a form is to be filled in. ' * 20}Ends here."


@pytest.fixture
def spec(upstream: Repository, url: str) -> str:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "./stop.sh"}]}]}
    skill = make_skill("pdf", LONG, "See https://acme.example.\n", license="MIT", allowed_tools="Read", hooks=hooks)
    upstream.write(prefix_paths("skills/pdf", skill)).commit()
    return f"{url}@pdf"


def upstream_size(scene: CommandSandbox, spec: str) -> int:
    size: int = scene.json_output("show", spec)["files"][0]["size"]
    return size


def test_a_skill_is_shown_before_it_is_installed(scene: CommandSandbox, spec: str, upstream: Repository) -> None:
    scene.create_project()
    before = scene.full_snapshot
    digest = scene.json_output("show", spec)["digest"]

    commit, size = upstream.resolve("main"), upstream_size(scene, spec)
    assert scene.output("show", spec) == expected_output(f"""\
pdf
  version      {commit[:7]}
  description  {LONG}
  license      MIT
  source       git+URL@{commit}#subdirectory=skills/pdf
  digest       {digest}
  tokens       about 9
  tools        Read
  hooks        Stop: ./stop.sh
  programs     scripts/read.sh
  hosts        acme.example
  files        2
          {size}  SKILL.md
           20  scripts/read.sh *
! not installed: `skillpm install SPEC` installs it, `skillpm load SPEC` prints it
""")
    assert scene.full_snapshot == before
    scene.run("install", spec, check=True)
    assert scene.json_output("show", "pdf")["digest"] == digest


def test_json(scene: CommandSandbox, spec: str, upstream: Repository) -> None:
    shown = scene.json_output("show", spec)

    assert (shown["description"], shown["commit"], shown["state"]) == (LONG, upstream.resolve("main"), "not-installed")
    assert [(file["path"], file["executable"]) for file in shown["files"]] == [
        ("SKILL.md", False),
        ("scripts/read.sh", True),
    ]
    assert shown["capabilities"] == {
        "tools": ["Read"],
        "hooks": ["Stop: ./stop.sh"],
        "commands": [],
        "executables": ["scripts/read.sh"],
        "mcpServers": [],
        "hostManifests": [],
        "hosts": ["acme.example"],
        "variables": [],
        "models": True,
        "overfull": [],
    }


def test_a_repository_with_several_skills_names_them(scene: CommandSandbox, url: str) -> None:
    assert scene.output("show", url) == expected_output("""\
! error: `URL` contains 2 skills: docx, pdf
!   hint: select one, for example `skillpm show URL@docx`
[1]
""")


def test_a_denied_skill_is_not_fetched(scene: CommandSandbox, spec: str) -> None:
    scene.create_project('{"skills": {}, "permissions": {"pdf": "deny"}}')

    assert scene.run("show", spec).code == 1
    assert not (scene.cache / "v1/store").exists()


def test_a_list_in_a_pipe_has_whole_descriptions(scene: CommandSandbox, spec: str, url: str) -> None:
    assert scene.run("install", url, "--list", check=True).stdout == f"docx  Writes Word files.\npdf   {LONG}\n"
