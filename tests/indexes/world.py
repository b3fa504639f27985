"""A publisher's desk: skills in folders, and the index that is built of them."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from kit import Answer, GitServer, Sandbox, skill, under
from kit.sandbox import Environment


class Desk(Sandbox):
    """A working directory with skills below `skills/` and an index in `public/`."""

    def draft(self, name: str, version: str, body: str = "Do it well.\n", **metadata: Any) -> None:
        """Write a skill, or the next version of it."""
        self.write_files(under(f"skills/{name}", skill(name, body=body, metadata={"version": version, **metadata})))

    def build(self, *more: str, env: Environment | None = None) -> str:
        """Publish all drafts; give what was said."""
        result = self.run("index", "build", "skills", "--out", "public", "--name", "acme", *more, env=env, check=True)
        return result.stdout + result.stderr

    def document(self, path: str) -> Any:
        """Read a document of the index."""
        return json.loads(self.read(f"public/{path}"))

    @property
    def index(self) -> Path:
        """The folder of the index."""
        return self.work / "public"


class Consumer(Sandbox):
    """A project that installs from indexes."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.use()

    def use(self, **indexes: str) -> None:
        """Name indexes in the manifest, in this order."""
        places = [{"name": name, "url": url} for name, url in indexes.items()]
        self.write("skills.json", json.dumps({"skills": {}, "indexes": places}, indent=2) + "\n")

    def configure(self, text: str) -> None:
        """Write the user's config.toml."""
        file = self.home / ".config/skillpm/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def twin(self, root: Path) -> "Consumer":
        """Give the same project on another machine."""
        other = Consumer(root)
        for name in ("skills.json", "skills.lock"):
            other.write(name, self.read(name))
        return other

    def forget(self) -> None:
        """Lose what is installed and everything in the caches."""
        shutil.rmtree(self.work / ".agent-skills")
        shutil.rmtree(self.cache)

    @property
    def manifest(self) -> Any:
        """The manifest."""
        return json.loads(self.read("skills.json"))

    @property
    def lock(self) -> Any:
        """The lockfile."""
        return json.loads(self.read("skills.lock"))

    def locked(self, name: str) -> Any:
        """Give where the lockfile says that a skill comes from."""
        return self.lock["skills"][name]["source"]


def publish(server: GitServer, folder: Path, top: str = "") -> None:
    """Serve an index as it is now, with ETags."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()[:16]}"'}
            server.publish(f"{top}/{path.relative_to(folder)}", Answer(200, headers, data))
