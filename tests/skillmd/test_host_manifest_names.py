"""Which entries of a skill's folder are manifests of agent hosts."""

import pytest

from skillpm.core.file_tree import FileTree, SourceEntry
from skillpm.skillmd.capabilities import find_files_with_servers
from skillpm.skillmd.host_manifests import MANIFESTS, HostManifest, find_host_manifests


@pytest.mark.parametrize(("path", "host"), MANIFESTS.items())
@pytest.mark.parametrize("rest", ["", "/plugin.json", "/a/b"])
def test_each_manifest_is_found_as_a_file_a_folder_and_a_link(path: str, host: str, rest: str) -> None:
    paths = ["SKILL.md", f"{path}{rest}", "scripts/run.py"]

    assert find_host_manifests(paths) == (HostManifest(path=path, host=host),)


@pytest.mark.parametrize(
    "path",
    [
        ".Claude-Plugin",
        ".CLAUDE-PLUGIN",
        ".claude-plugin.",
        ".claude-plugin ",
        ".claude-plugin. .",
        ".cla\u200dude-plugin",
        "\ufeff.claude-plugin",
    ],
)
def test_a_name_that_some_file_system_takes_for_a_manifest_is_one(path: str) -> None:
    assert find_host_manifests([f"{path}/plugin.json"]) == (HostManifest(path=path, host="Claude Code"),)


def test_each_entry_is_found_once_in_order() -> None:
    paths = ["gemini-extension.json", ".claude-plugin/plugin.json", ".claude-plugin/marketplace.json", ".claude-plugin"]

    assert [manifest.path for manifest in find_host_manifests(paths)] == [".claude-plugin", "gemini-extension.json"]


@pytest.mark.parametrize(
    "path",
    [
        "",
        "plugin.json",
        "claude-plugin/plugin.json",
        ".claude-plugins/plugin.json",
        "assets/.claude-plugin/plugin.json",
        "assets/gemini-extension.json",
        ".github/plugins/x",
        ".github/workflows/test.yml",
        "a/.github/plugin",
        ".claude/settings.json",
    ],
)
def test_other_entries_are_no_manifests(path: str) -> None:
    assert find_host_manifests([path]) == ()


@pytest.mark.parametrize("name", ["mcp.json", "MCP.json", "mcp.json. "])
@pytest.mark.parametrize("skill_file", ["SKILL.md", "skill.md", "Skill.MD"])
@pytest.mark.parametrize("folder", ["extras", "a/b/c", ".hidden"])
def test_a_file_with_servers_counts_beside_each_skill(name: str, skill_file: str, folder: str) -> None:
    path = f"{folder}/{name}"

    assert find_host_manifests([f"{folder}/{skill_file}", path]) == (HostManifest(path=path, host="Amp"),)
    assert find_host_manifests([f"x/{skill_file}", path]) == ()
    assert find_host_manifests([f"{folder}/{skill_file}", f"{folder}/x/{name}", f"{folder}/.claude-plugin/x"]) == ()


SERVER = "\n  a:\n    command: x\n"
# Amp 0.0.1790142911 starts the servers of each of these.
STARTED = {
    "plain": f"mcpServers:{SERVER}",
    "single quotes": f"'mcpServers':{SERVER}",
    "double quotes": f'"mcpServers" :{SERVER}',
    "an explicit key": f"?   mcpServers\n:{SERVER}",
    "a block": f"? |-\n  mcpServers\n:{SERVER}",
    "an escape": f'"\\x6dcpServers":{SERVER}',
    "a long escape": f'"\\u006dcpServers":{SERVER}',
    "a continued line": f'? "mcp\\\n  Servers"\n:{SERVER}',
    "a tag": f"!!str mcpServers:{SERVER}",
    "an anchor": f"&a mcpServers:{SERVER}",
    "an alias": f"z: &a mcpServers\n*a :{SERVER}",
    "an alias of an escape": f'z: &a "\\x6dcp\\\n  Servers"\n*a :{SERVER}',
    "a list": "mcpServers: [{name: a, command: x}]\n",
    "a comment": f"mcpServers: # none{SERVER}",
}


@pytest.mark.parametrize("key", STARTED)
@pytest.mark.parametrize("path", ["SKILL.md", "skill.md", "extras/SKILL.md"])
def test_servers_in_frontmatter_are_a_manifest(key: str, path: str) -> None:
    """Also in frontmatter that cannot be read."""
    for more in ("", "x: [\n"):
        text = f"---\nname: x\ndescription: x\n{STARTED[key]}{more}---\nx\n"
        assert [*find_files_with_servers(tree_of(path, text))] == [path]


@pytest.mark.parametrize(
    "front", ["  name: x\n  mcpServers:\n    a:\n", '{"name": "x", "mcpServers": {}}\n', "MCPSERVERS:\n"]
)
def test_other_forms_of_frontmatter_are_read(front: str) -> None:
    for line in ("\n", "\r\n"):
        text = f"---\n{front}---\nx\n".replace("\n", line)
        assert [*find_files_with_servers(tree_of("SKILL.md", text))] == ["SKILL.md"]


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: x\ndescription: Writes mcpServers.\n---\nx\n",
        "---\nname: x\ndescription: x\n---\nmcpServers:\n  x: 1\n",
        "---\nname: x\ndescription: x\nmetadata:\n  mcpServers: x\n---\nx\n",
        "---\nname: x\ndescription: x\nmcpServersX: x\n---\nx\n",
    ],
)
def test_other_frontmatter_is_none(text: str) -> None:
    assert [*find_files_with_servers(tree_of("SKILL.md", text))] == []


def tree_of(path: str, text: str) -> FileTree:
    return FileTree(files=(SourceEntry(path=path, data=text.encode()).as_file(path),))
