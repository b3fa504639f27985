"""Text that moves a cursor, hides or reorders never reaches a terminal as it is, wherever a skill says it."""

import json

import pytest
from commands.scene import CommandSandbox
from kit import Repository

ESCAPE, BELL, CSI, RIGHT_TO_LEFT, NOTHING, TAG = "\x1b", "\x07", "\x9b", "\u202e", "\u200b", "\U000e0041"
HURTING = (ESCAPE, BELL, CSI, RIGHT_TO_LEFT, NOTHING, TAG, "\x7f", "\u2028")
SKILL = (
    "---\n"
    'name: "evil\\e[2J"\n'
    'description: "red \\e[31m \\a \\x9b31m \\u202edetrever \\u200b \\U000e0041 end"\n'
    'version: "1\\e[0m"\nauthor: "\\e]0;title\\a"\nlicense: "\\e"\nhomepage: "\\u2028"\ncategory: "c\\e"\n'
    'triggers: ["a\\eb"]\nrequires: ["no-such"]\n'
    "---\n"
    f"body {ESCAPE}[31m {RIGHT_TO_LEFT}\n"
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> CommandSandbox:
    """Return a project with a hostile skill installed and edited, and local ones with hostile names."""
    project = CommandSandbox(tmp_path_factory.mktemp("hostile") / "scene").create_project()
    project.write("evil/SKILL.md", SKILL)
    project.run("install", "./evil", "--allow", "hidden-text", check=True)
    project.write(".agent-skills/evil/SKILL.md", SKILL + f"more {ESCAPE}[2J\n")
    project.write(f".agent-skills/evil/new{ESCAPE}[31m.md", f"{ESCAPE}\n")
    project.write(f".agent-skills/by{ESCAPE}[31mhand/SKILL.md", SKILL)
    project.write(f".agent-skills/turned{RIGHT_TO_LEFT}/SKILL.md", "broken")
    return project


@pytest.mark.parametrize("mode", [[], ["--json"]], ids=["plain", "json"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["show", "evil"],
        ["show", f"by{ESCAPE}[31mhand"],
        ["show", f"turned{RIGHT_TO_LEFT}"],
        ["diff", "evil"],
        ["verify"],
        ["sync"],
        ["registry", "build"],
        ["registry", "check"],
        ["show", f"x{ESCAPE}[31m"],
        ["uninstall", f"x{ESCAPE}[31m"],
        ["update", f"x{ESCAPE}[31m"],
        ["link", f"x{RIGHT_TO_LEFT}"],
        ["install", f"x{ESCAPE}[31m"],
        ["install", f"./x{ESCAPE}[31m"],
        ["list", "--project", f"x{ESCAPE}"],
        ["list", f"x{ESCAPE}"],
        [f"x{ESCAPE}"],
    ],
    ids=lambda words: " ".join(words).encode("unicode_escape").decode(),
)
def test_a_terminal_sees_only_letters(hostile: CommandSandbox, arguments: list[str], mode: list[str]) -> None:
    result = hostile.run(*arguments, *mode)

    raw = result.stdout + result.stderr
    assert result.code in {0, 1, 2}
    assert raw
    assert [text for text in HURTING if text in raw] == []
    if mode:
        assert json.loads(result.stdout)


def test_the_registry_keeps_the_words_as_they_are(hostile: CommandSandbox) -> None:
    listing = hostile.json_output("list")

    evil = next(entry for entry in listing["skills"] if entry["name"] == "evil")
    assert evil["description"] == f"red {ESCAPE}[31m {BELL} {CSI}31m {RIGHT_TO_LEFT}detrever {NOTHING} {TAG} end"


def test_what_a_repository_says_is_made_harmless(project: CommandSandbox, upstream: Repository, url: str) -> None:
    upstream.write({"skills/evil/SKILL.md": SKILL, f"skills/bad{ESCAPE}[31m/SKILL.md": SKILL}).commit()

    for arguments in (
        ["install", url],
        ["install", url, "--list"],
        ["install", f"{url}@zzz"],
        ["install", f"{url}@{ESCAPE}[31m"],
        ["install", url, "--all"],
        ["install", url, "--path", f"skills/bad{ESCAPE}"],
        ["install", url, "--tag", f"{ESCAPE}"],
        ["install", url, "--list", "--json"],
    ):
        result = project.run(*arguments)
        raw = result.stdout + result.stderr
        assert raw, arguments
        assert [text for text in HURTING if text in raw] == [], arguments
        assert result.code in {0, 1, 2}, arguments
