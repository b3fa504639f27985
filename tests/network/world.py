"""The network of all rows: an index, sites, archives and a repository, and a project with an installed skill."""

import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from fetchers.world import Project
from indexes.world import IndexPublisher
from kit import Entry, GitServer, OciRegistry, Repository, Response, Tokens, make_skill, prefix_paths, snapshot
from oci.world import publish

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
WELL_KNOWN = "/.well-known/agent-skills"
LEGACY_WELL_KNOWN = "/.well-known/skills"
SQUARES = "".join(f"{n * n} " for n in range(3000))
SKILL_FILES = make_skill("pdf", body=f"Squares: {SQUARES}\n", metadata={"version": "1.0.0"}) | {
    "data.txt": SQUARES.encode()
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """Outcome of a command: its output, duration, number of requests, and the paths that it changed."""

    code: int
    stdout: str
    stderr: str
    seconds: float
    tries: int
    changed_paths: list[str]

    @property
    def error(self) -> str:
        """Return the first line of the error, or an empty string."""
        lines = [line for line in self.stderr.splitlines() if line.startswith("error: ")]
        return lines[0].removeprefix("error: ") if lines else ""

    def subtract_tries(self, tries: int) -> "Outcome":
        """Return it without this many requests that were not attempts."""
        return replace(self, tries=self.tries - tries)


class Network:
    """The web content, created once, and a project to be copied for each row."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.upstream = Repository.create(root / "upstream")
        self.upstream.write(
            prefix_paths("skills/pdf", SKILL_FILES) | prefix_paths("skills/ocr", make_skill("ocr"))
        ).commit()
        self.files = _build_files(IndexPublisher(root / "desk"))
        self.project = Project(root / "project")
        self.project.run("install", f"{self.upstream.file_url}@ocr", "testing", check=True)

    @contextmanager
    def serve(self, excluded_prefix: str = "") -> Iterator[OciRegistry]:
        """Serve everything on its own port, except for the files below a path."""
        with OciRegistry() as server:
            server.tokens = Tokens()
            publish(server, "acme/pdf", "1.0.0", SKILL_FILES)
            for path, data in self.files.items():
                if not excluded_prefix or not path.startswith(excluded_prefix):
                    server.publish(path, data)
            server.publish("/latest.tgz", Response(302, {"Location": "/pdf.tar.gz"}, b""))
            server.serve("acme/skills", self.upstream)
            yield server

    def copy(self, root: Path) -> Project:
        """Copy the project to another machine."""
        project = Project(root)
        shutil.copytree(self.project.root, root, symlinks=True, dirs_exist_ok=True)
        return project

    def run_measured(
        self, project: Project, server: GitServer, request_pattern: str, *arguments: str, **env: str
    ) -> Outcome:
        """Run a command, and compare all files with those before; count the requests that contain `asked`."""
        use_index(project, server)
        before = snapshot_all(project)
        server.clear_requests()
        begun = time.monotonic()
        result = project.run(*arguments, env=env, timeout=100)
        seconds = time.monotonic() - begun
        after = snapshot_all(project)
        # Files may be added to a cache, but none removed or changed.
        changed = sorted(
            path
            for path in before.keys() | after.keys()
            if before.get(path) != after.get(path) and not (path.startswith("cache/") and path not in before)
        )
        tries = sum(
            bool(re.search(request_pattern, f"{item.method} {item.path} {item.command or ''}"))
            for item in server.requests
        )
        stderr = result.error_output.replace(server.address, "SERVER").replace(
            server.address.removeprefix("http://"), "SERVER"
        )
        return Outcome(
            code=result.code, stdout=result.stdout, stderr=stderr, seconds=seconds, tries=tries, changed_paths=changed
        )


def use_index(project: Project, server: GitServer) -> None:
    """Add the index of a server to a project's manifest."""
    manifest = json.loads(project.read("skills.json"))
    manifest["indexes"] = [{"name": "acme", "url": f"{server.address}/acme"}]
    project.write("skills.json", json.dumps(manifest))


def snapshot_project(project: Project) -> Mapping[str, Entry]:
    """Return all files of a project and of its home."""
    return {path: entry for path, entry in snapshot_all(project).items() if path.startswith(("work/", "home/"))}


def snapshot_all(project: Project) -> Mapping[str, Entry]:
    """Return all files of a project, of its home and of its cache."""
    # Usage times and lock owners are written on every access.
    return {path: entry for path, entry in snapshot(project.root).items() if not path.endswith("lock.pid")}


def _build_files(publisher: IndexPublisher) -> dict[str, bytes]:
    """Return every file on the web: an index below `/acme`, a site in both versions, and an archive."""
    text = SKILL_FILES["SKILL.md"]
    entry = {"name": "pdf", "type": "skill-md", "description": "D.", "url": "pdf/SKILL.md"}
    site = {"$schema": SCHEMA, "skills": [entry | {"digest": f"sha256:{sha256(text).hexdigest()}"}]}
    old = {"skills": [{"name": "pdf", "description": "D.", "files": ["SKILL.md"]}]}
    publisher.write_files(prefix_paths("skills/pdf", SKILL_FILES))
    publisher.build()
    ours = {
        f"/acme/{path.relative_to(publisher.index_folder)}": path.read_bytes()
        for path in publisher.index_folder.rglob("*.*")
        if path.is_file()
    }
    return ours | {
        f"{WELL_KNOWN}/index.json": json.dumps(site).encode(),
        f"{WELL_KNOWN}/pdf/SKILL.md": text,
        f"{LEGACY_WELL_KNOWN}/index.json": json.dumps(old).encode(),
        f"{LEGACY_WELL_KNOWN}/pdf/SKILL.md": text,
        "/pdf.tar.gz": ours["/acme/archives/pdf-1.0.0.tar.gz"],
    }
