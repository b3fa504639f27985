"""Which entries of a skill's folder are manifests of agent hosts."""

import pytest

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
