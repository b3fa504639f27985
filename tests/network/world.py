"""One network for all rows: an index, sites, archives and a repository, and a project that has a skill already."""

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
from indexes.world import Desk
from kit import Answer, Entry, GitServer, Repository, skill, snapshot, under

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
WELL_KNOWN = "/.well-known/agent-skills"
OLD = "/.well-known/skills"
NUMBERS = "".join(f"{n * n} " for n in range(3000))
FILES = skill("pdf", body=f"Squares: {NUMBERS}\n", metadata={"version": "1.0.0"}) | {"data.txt": NUMBERS.encode()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How a command went: what it said, how long it took, what was asked, and whether anything is not as before."""

    code: int
    stdout: str
    said: str
    seconds: float
    tries: int
    changed: list[str]

    @property
    def error(self) -> str:
        """Give the first line of the error, or nothing."""
        lines = [line for line in self.said.splitlines() if line.startswith("error: ")]
        return lines[0].removeprefix("error: ") if lines else ""

    def less(self, tries: int) -> "Outcome":
        """Give it with so many requests that were none of the tries."""
        return replace(self, tries=self.tries - tries)


class Network:
    """What stands on the web, made once, and a project to be copied for each row."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.upstream = Repository.create(root / "upstream")
        self.upstream.write(under("skills/pdf", FILES) | under("skills/ocr", skill("ocr"))).commit()
        self.files = _served(Desk(root / "desk"))
        self.project = Project(root / "project")
        self.project.run("install", f"{self.upstream.file_url}@ocr", "testing", check=True)

    @contextmanager
    def serve(self, without: str = "") -> Iterator[GitServer]:
        """Serve all of it, on a port of its own, but for what lies below a path."""
        with GitServer() as server:
            for path, data in self.files.items():
                if not without or not path.startswith(without):
                    server.publish(path, data)
            server.publish("/latest.tgz", Answer(302, {"Location": "/pdf.tar.gz"}, b""))
            server.serve("acme/skills", self.upstream)
            yield server

    def copy(self, to: Path) -> Project:
        """Give the project on another machine."""
        project = Project(to)
        shutil.copytree(self.project.root, to, symlinks=True, dirs_exist_ok=True)
        return project

    def measured(self, project: Project, server: GitServer, asked: str, *words: str, **env: str) -> Outcome:
        """Run a command, and compare everything with what was before; `asked` is in the requests that count."""
        use_index(project, server)
        before = everything(project)
        server.reset()
        begun = time.monotonic()
        result = project.run(*words, env=env, timeout=100)
        seconds = time.monotonic() - begun
        after = everything(project)
        # A cache may hold more than before, and nothing less or otherwise.
        changed = sorted(
            path
            for path in before.keys() | after.keys()
            if before.get(path) != after.get(path) and not (path.startswith("cache/") and path not in before)
        )
        tries = sum(
            bool(re.search(asked, f"{item.method} {item.path} {item.command or ''}")) for item in server.requests
        )
        said = result.complaint.replace(server.address, "SERVER").replace(
            server.address.removeprefix("http://"), "SERVER"
        )
        return Outcome(code=result.code, stdout=result.stdout, said=said, seconds=seconds, tries=tries, changed=changed)


def use_index(project: Project, server: GitServer) -> None:
    """Let a project's manifest name the index of a server."""
    manifest = json.loads(project.read("skills.json"))
    manifest["indexes"] = [{"name": "acme", "url": f"{server.address}/acme"}]
    project.write("skills.json", json.dumps(manifest))


def work(project: Project) -> Mapping[str, Entry]:
    """Give all files of a project and of its home."""
    return {path: entry for path, entry in everything(project).items() if path.startswith(("work/", "home/"))}


def everything(project: Project) -> Mapping[str, Entry]:
    """Give all files of a project, of its home and of its cache."""
    # What was last used when, and who holds a lock, is noted at every look.
    return {path: entry for path, entry in snapshot(project.root).items() if not path.endswith("lock.pid")}


def _served(desk: Desk) -> dict[str, bytes]:
    """Give every file on the web: an index of ours below `/acme`, a site in both versions, and an archive."""
    text = FILES["SKILL.md"]
    entry = {"name": "pdf", "type": "skill-md", "description": "D.", "url": "pdf/SKILL.md"}
    site = {"$schema": SCHEMA, "skills": [entry | {"digest": f"sha256:{sha256(text).hexdigest()}"}]}
    old = {"skills": [{"name": "pdf", "description": "D.", "files": ["SKILL.md"]}]}
    desk.write_files(under("skills/pdf", FILES))
    desk.build()
    ours = {
        f"/acme/{path.relative_to(desk.index)}": path.read_bytes() for path in desk.index.rglob("*.*") if path.is_file()
    }
    return ours | {
        f"{WELL_KNOWN}/index.json": json.dumps(site).encode(),
        f"{WELL_KNOWN}/pdf/SKILL.md": text,
        f"{OLD}/index.json": json.dumps(old).encode(),
        f"{OLD}/pdf/SKILL.md": text,
        "/pdf.tar.gz": ours["/acme/archives/pdf-1.0.0.tar.gz"],
    }
