"""Sandboxes: one that publishes skills in an index, and one that installs from indexes."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from kit import GitServer, Response, Sandbox, make_skill, prefix_paths
from kit.sandbox import Environment


class IndexPublisher(Sandbox):
    """A working directory with skills below `skills/` and an index in `public/`."""

    def write_draft(self, name: str, version: str, body: str = "Do it well.\n", **metadata: Any) -> None:
        """Write a skill, or the next version of it."""
        self.write_files(
            prefix_paths(f"skills/{name}", make_skill(name, body=body, metadata={"version": version, **metadata}))
        )

    def build(self, *arguments: str, env: Environment | None = None) -> str:
        """Publish all drafts, and return the output."""
        result = self.run(
            "index", "build", "skills", "--out", "public", "--name", "acme", *arguments, env=env, check=True
        )
        return result.stdout + result.stderr

    def read_json(self, path: str) -> Any:
        """Read a document of the index."""
        return json.loads(self.read(f"public/{path}"))

    @property
    def index_folder(self) -> Path:
        """The folder of the index."""
        return self.work / "public"


class IndexConsumer(Sandbox):
    """A project that installs from indexes."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.set_indexes()

    def set_indexes(self, **indexes: str) -> None:
        """Write a manifest with these indexes, in this order."""
        entries = [{"name": name, "url": url} for name, url in indexes.items()]
        self.write("skills.json", json.dumps({"skills": {}, "indexes": entries}, indent=2) + "\n")

    def write_config(self, text: str) -> None:
        """Write the user's config.toml."""
        file = self.home / ".config/skillpm/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def clone(self, root: Path) -> "IndexConsumer":
        """Return a clone of the project on another machine."""
        other = IndexConsumer(root)
        for name in ("skills.json", "skills.lock"):
            other.write(name, self.read(name))
        return other

    def delete_state(self) -> None:
        """Delete the installed skills and the cache."""
        shutil.rmtree(self.work / ".agent-skills")
        shutil.rmtree(self.cache)

    @property
    def manifest(self) -> Any:
        """The manifest."""
        return json.loads(self.read("skills.json"))

    @property
    def lockfile(self) -> Any:
        """The lockfile."""
        return json.loads(self.read("skills.lock"))

    def locked_source(self, name: str) -> Any:
        """Return the locked source of a skill."""
        return self.lockfile["skills"][name]["source"]


def serve_index(server: GitServer, folder: Path, prefix: str = "") -> None:
    """Serve the current files of an index, with ETags."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()[:16]}"'}
            server.publish(f"{prefix}/{path.relative_to(folder)}", Response(200, headers, data))
