"""Manifests of agent hosts in a folder on disk: entries of any kind, also those that git ignores."""

import os
from pathlib import Path

import pytest

from skillpm.installer.folder_manifests import find_folder_manifests


def found(folder: Path) -> list[str]:
    return [manifest.path for manifest in find_folder_manifests(str(folder))]


@pytest.mark.parametrize("kind", ["file", "folder", "link", "dangling link", "link to a link"])
@pytest.mark.parametrize("path", [".claude-plugin", ".Claude-Plugin", ".github/plugin", "gemini-extension.json"])
def test_an_entry_of_any_kind_is_found(tmp_path: Path, kind: str, path: str) -> None:
    folder, entry = tmp_path / "evil", tmp_path / "evil" / path
    entry.parent.mkdir(parents=True)
    (folder / "SKILL.md").touch()
    (folder / ".gitignore").write_text("*\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    if kind == "file":
        entry.touch()
    elif kind == "folder":
        entry.mkdir()
    else:
        targets = {"link": "elsewhere", "link to a link": "link", "dangling link": "nowhere"}
        entry.symlink_to(os.path.relpath(tmp_path / targets[kind], entry.parent))

    assert found(folder) == [path]


def test_a_folder_without_a_manifest_has_none(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").touch()
    (tmp_path / ".github").touch()
    (tmp_path / "assets/.claude-plugin").mkdir(parents=True)

    assert found(tmp_path) == []


def test_a_linked_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "evil/.claude-plugin").mkdir(parents=True)
    (tmp_path / "link").symlink_to("evil")

    assert found(tmp_path / "link") == [".claude-plugin"]


def test_a_file_with_servers_is_found_at_any_depth_and_behind_links(tmp_path: Path) -> None:
    folder = tmp_path / "evil"
    for path in ("a/b", ".hidden", "node_modules/x", "../elsewhere"):
        (folder / path).mkdir(parents=True)
        (folder / path / "SKILL.md").touch()
        (folder / path / "mcp.json").touch()
    (folder / "link").symlink_to("../elsewhere")
    (folder / "round").symlink_to(".")

    assert found(folder) == [".hidden/mcp.json", "a/b/mcp.json", "link/mcp.json"]
