"""A publisher's desk: skills in folders, and the index that is built of them."""

import json
from pathlib import Path
from typing import Any

from kit import Sandbox, skill, under


class Desk(Sandbox):
    """A working directory with skills below `skills/` and an index in `public/`."""

    def draft(self, name: str, version: str, body: str = "Do it well.\n", **metadata: Any) -> None:
        """Write a skill, or the next version of it."""
        self.write_files(under(f"skills/{name}", skill(name, body=body, metadata={"version": version, **metadata})))

    def build(self, *more: str) -> str:
        """Publish all drafts; give what was said."""
        result = self.run("index", "build", "skills", "--out", "public", "--name", "acme", *more, check=True)
        return result.stdout + result.stderr

    def document(self, path: str) -> Any:
        """Read a document of the index."""
        return json.loads(self.read(f"public/{path}"))

    @property
    def index(self) -> Path:
        """The folder of the index."""
        return self.work / "public"
