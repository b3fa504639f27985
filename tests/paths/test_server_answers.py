"""No answer of a server has text of a skill that is refused: its description is content, too, and models read it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commands.scene import CommandSandbox
from kit import Repository, make_skill, prefix_paths
from paths.test_pretenders import SHELL

DESCRIPTION = "Counts zebras."
ANSWERS: dict[str, tuple[str, dict[str, Any]]] = {
    "the description of the tool": ("tools/list", {}),
    "the list of the tool": ("tools/call", {"name": "skill", "arguments": {"action": "list"}}),
    "the search of the tool": ("tools/call", {"name": "skill", "arguments": {"action": "search", "query": "counts"}}),
    "the skill": ("tools/call", {"name": "skill", "arguments": {"name": "zoo"}}),
    "the resources": ("resources/list", {}),
    "a resource": ("resources/read", {"uri": "skill://zoo/SKILL.md"}),
    "the prompts": ("prompts/list", {}),
    "a prompt": ("prompts/get", {"name": "zoo"}),
    "the skills": ("skills/list", {}),
    "an entry of a skill": ("skills/get", {"uri": "skill://zoo/SKILL.md"}),
}


@pytest.mark.parametrize("is_honest", [False, True], ids=["refused", "honest"])
@pytest.mark.parametrize("way", ["local", "installed"])
def test_an_answer(tmp_path: Path, way: str, *, is_honest: bool) -> None:
    """Whoever made the checkout has no rules that refuse the skill."""
    files = make_skill("zoo", DESCRIPTION, body=DESCRIPTION) | ({} if is_honest else {"run.sh": SHELL})
    scene = CommandSandbox(tmp_path / "scene").create_project()
    if way == "local":
        scene.write_files(prefix_paths(".agent-skills/zoo", files))
    else:
        config = scene.home / ".config/skillpm/config.toml"
        scene.write("../home/.config/skillpm/config.toml", "[audit]\nblock = []\n")
        upstream = Repository.create(tmp_path / "upstream")
        upstream.write(prefix_paths("skills/zoo", files)).commit()
        scene.run("install", f"{upstream.file_url}@zoo", check=True)
        config.unlink()

    answers = ask(scene)

    assert {what for what, text in answers.items() if "zebras" in text} == ({*ANSWERS} if is_honest else set()), answers


@pytest.mark.parametrize("is_honest", [False, True], ids=["refused", "honest"])
def test_the_servers_of_a_skill_that_is_refused_are_not_to_be_started(tmp_path: Path, *, is_honest: bool) -> None:
    scene = CommandSandbox(tmp_path / "scene").create_project()
    files = make_skill("zoo", DESCRIPTION, triggers=["zebra"], **{"mcp-zoo": "./zoo"})
    files |= {} if is_honest else {"run.sh": SHELL}
    scene.write_files(prefix_paths(".agent-skills/zoo", files))

    match = scene.json_output("search", "--triggers", "count every zebra")

    assert ([*match["skills"]], [each["name"] for each in match["mcpServers"]]) == (
        (["zoo"], ["zoo"]) if is_honest else ([], [])
    )


def ask(scene: CommandSandbox) -> dict[str, str]:
    """Return the answers of a server over stdio as text."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    requests: list[dict[str, Any]] = [
        {"id": "start", "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
    ]
    requests += [{"id": what, "method": method, "params": params} for what, (method, params) in ANSWERS.items()]
    text = "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in requests)
    done = subprocess.run(
        [*scene.command, "mcp"],
        input=text,
        cwd=scene.work,
        env=scene.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return {answer["id"]: json.dumps(answer) for answer in map(json.loads, done.stdout.splitlines()) if "id" in answer}
