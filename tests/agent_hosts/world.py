"""A home and a project in which every host finds something: duplicates, links, cycles, and broken files.

`shared` exists under every root; every other skill is named after the root it is in.
"""

import json
import os
from pathlib import Path

import pytest
from kit import make_skill

from skillpm.settings import Settings, read_settings

SKILL_FOLDERS = {
    "home/.agent-skills": ["shared", "skillpm-home"],
    "home/.claude/skills": ["shared", "claude-home", "nested/deep", ".hidden"],
    "home/.config/opencode/skill": ["shared", "opencode-home"],
    "home/.config/opencode/skills": ["opencode-home-plural"],
    "home/.opencode/skills": ["opencode-dot-home"],
    "home/.glm/skills": ["shared", "glm-home"],
    "home/.omega/skills": ["shared", "omega-home", "nested/too-deep"],
    "home/.agents/skills": ["shared", "agents-home"],
    "home/.codex/skills": ["codex-home", ".system/codex-own"],
    "home/.cursor/skills": ["shared", "cursor-home"],
    "home/code/repo/.agent-skills": ["shared", "skillpm-repo"],
    "home/code/repo/.claude/skills": ["shared", "claude-repo"],
    "home/code/repo/.opencode/skills": ["shared", "opencode-repo", ".hidden-opencode"],
    "home/code/repo/.agents/skills": ["shared", "agents-repo"],
    "home/code/repo/.glm/skills": ["shared", "glm-repo"],
    "home/code/repo/app/.agent-skills": ["shared", "skillpm-app"],
    "home/code/repo/app/.claude/skills": ["shared", "claude-app", "claude-app/inner"],
    "home/code/repo/app/.opencode/skill": ["shared", "opencode-app"],
    "home/code/repo/app/.agents/skills": ["shared", "agents-app", "agents-app/inner"],
    "home/code/repo/app/.glm/skills": ["shared", "glm-app", "for-others"],
}
SYMLINKS = {
    # Link cycles: to the parent folder, to itself, two that point at each other.
    "home/code/repo/.claude/skills/up": "..",
    "home/code/repo/.claude/skills/self": "self",
    "home/.agents/skills/there": "../../.agents/skills/agents-home/back",
    "home/.agents/skills/agents-home/back": "../../skills",
    # One file by two paths: a link within a project, and one from one user folder to another.
    "home/code/repo/app/.claude/skills/agents-repo": "../../../.agents/skills/agents-repo",
    "home/.omega/skills/claude-home": "../../.claude/skills/claude-home",
    "home/code/repo/app/.agents/skills/linked-file/SKILL.md": "../../../../notes.md",
}
REGISTRY_ENTRIES = [
    {
        "name": "skillpm-home",
        "category": "general",
        "description": "skillpm-home.",
        "filePath": "skillpm-home/SKILL.md",
    },
    {"name": "review", "category": "coding", "description": "Reviews.", "filePath": "coding/review.md"},
    {"name": "secret", "description": "", "filePath": "../.ssh/id"},
    {"name": "gone", "description": "", "filePath": "coding/gone.md"},
]


class HostWorkspace:
    """The folders, and the settings that a command has in them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.repo = self.home / "code" / "repo"
        self.app = self.repo / "app"
        self.app.mkdir(parents=True)

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file; the path is relative to the workspace."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def write_skill(self, path: str, name: str = "", description: str = "", **more: str) -> Path:
        """Write a SKILL.md into a folder; the skill is named after the folder."""
        name = name or os.path.basename(path)
        return self.write(f"{path}/SKILL.md", make_skill(name, description or f"{name}.", **more)["SKILL.md"])

    def create_link(self, path: str, target: str) -> None:
        """Create a link."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).symlink_to(target)

    def settings(self, directory: str | Path = "", **environ: str) -> Settings:
        """Return the settings for a working directory, by default the app's."""
        settings = read_settings({"HOME": str(self.home), **environ})
        return settings.replace(working_directory=str(self.root / directory if directory else self.app))

    def shorten_paths(self, text: str) -> str:
        """Return a text with `~`, `REPO` and `APP` for the folders of this workspace."""
        for path, name in ((self.app, "APP"), (self.repo, "REPO"), (self.home, "~"), (self.root, "ROOT")):
            text = text.replace(str(path), name)
        return text


def create_full_workspace(root: Path) -> HostWorkspace:
    """Create the workspace with all its content."""
    world = HostWorkspace(root)
    (world.repo / ".git").mkdir()
    for folder, names in SKILL_FOLDERS.items():
        for name in names:
            world.write_skill(f"{folder}/{name}", **({"compatibility": "claude"} if name == "for-others" else {}))
    for path, target in SYMLINKS.items():
        world.create_link(path, target)
    world.write("home/code/repo/notes.md", make_skill("linked-file")["SKILL.md"])
    world.write("home/.agent-skills/skills.json", json.dumps({"version": "1.0", "skills": REGISTRY_ENTRIES}))
    world.write("home/.agent-skills/coding/review.md", "# Review\n\nno frontmatter at all\n")
    world.write("home/code/repo/.claude/skills/broken/SKILL.md", "---\nname: [broken\n")
    return world


@pytest.fixture
def world(tmp_path: Path) -> HostWorkspace:
    """Return a workspace with an empty project."""
    world = HostWorkspace(tmp_path)
    (world.repo / ".git").mkdir()
    return world
