"""A project with a skill of each kind of source, and the servers that it comes from."""

import json
from collections.abc import Mapping
from pathlib import Path

from fetchers.packing import tgz
from indexes.world import IndexPublisher, serve_index
from kit import GitServer, OciRegistry, Repository, Sandbox, make_skill, prefix_paths
from kit.sandbox import Environment
from kit.snapshot import Entry
from oci.world import LAYER, descriptor, manifest_of

RUN = "scripts/run.sh"
REMOTE = ("archive", "indexed", "of-git", "of-oci")


class Machine(Sandbox):
    """A machine with a project; flushing is not what is tried here."""

    def environment(self, changes: Environment | None = None) -> dict[str, str]:
        """Build the environment."""
        return super().environment({"SKILLPM_FSYNC": "0"} | {**(changes or {})})

    def configure(self, text: str) -> None:
        """Write the user's config.toml."""
        file = self.home / ".config/skillpm/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    @property
    def skills(self) -> Mapping[str, Entry]:
        """The skills directory, with modes; without what skillpm keeps for itself."""
        return self.snapshot(".agent-skills", ignore={".skillpm", "skills.json"})


class Origins:
    """A forge that also serves an index and an archive, and an OCI registry."""

    def __init__(self, folder: Path, server: GitServer, registry: OciRegistry) -> None:
        self.folder, self.server, self.registry = folder, server, registry
        repository = Repository.create(folder / "repository")
        repository.write(prefix_paths("skills/of-git", _skill("of-git")), executable={f"skills/of-git/{RUN}"}).commit()
        server.serve("acme/skills", repository)
        server.publish("/files/archive.tar.gz", tgz(_skill("archive"), executable={RUN}))
        publisher = IndexPublisher(folder / "publisher")
        publisher.write_draft("indexed", "1.0.0")
        publisher.write(f"skills/indexed/{RUN}", "echo indexed\n").chmod(0o755)
        publisher.build()
        serve_index(server, publisher.index_folder, "/index")
        layer = tgz(prefix_paths("of-oci", _skill("of-oci")), executable={f"of-oci/{RUN}"})
        for blob in (b"{}", layer):
            registry.add_blob("acme/of-oci", blob)
        registry.add_manifest("acme/of-oci", "1.0.0", manifest_of(layer, layers=[descriptor(LAYER, layer)]))

    def lock(self) -> Machine:
        """Return a machine that has installed all skills from their origins."""
        first = Machine(self.folder / "first")
        skills = {
            "of-git": {"git": self.server.url("acme/skills"), "path": "skills/of-git"},
            "archive": {"url": f"{self.server.address}/files/archive.tar.gz"},
            "indexed": "^1.0",
            "of-oci": {"oci": f"{self.registry.host}/acme/of-oci"},
            "local": {"path": "./mine/local"},
        }
        first.write_files(prefix_paths("mine/local", _skill("local")))
        indexes = [{"name": "acme", "url": f"{self.server.address}/index/"}]
        first.write("skills.json", json.dumps({"skills": skills, "indexes": indexes}))
        first.run("sync", check=True)
        return first

    def clone(self, name: str) -> Machine:
        """Return an empty machine with a checkout of the project."""
        first, other = Machine(self.folder / "first"), Machine(self.folder / name)
        other.write_files(prefix_paths("mine/local", _skill("local")))
        for file in ("skills.json", "skills.lock"):
            other.write(file, first.read(file))
        return other

    def count_requests(self) -> int:
        """Return how many requests the origins got since the last call."""
        count = len(self.server.requests) + len(self.registry.requests)
        self.server.clear_requests()
        self.registry.clear_requests()
        return count

    def switch_off(self) -> None:
        """Let nothing listen any more."""
        self.server.close()
        self.registry.close()


def _skill(name: str) -> Mapping[str, bytes]:
    return make_skill(name, metadata={"version": "1.0.0"}) | {RUN: f"echo {name}\n".encode()}


def serve_folder(server: GitServer, folder: Path, prefix: str) -> None:
    """Serve the files of a folder, as any web server does."""
    for path in folder.rglob("*"):
        if path.is_file():
            server.publish(f"{prefix}/{path.relative_to(folder)}", path.read_bytes())
