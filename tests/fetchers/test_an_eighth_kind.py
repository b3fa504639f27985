"""Another kind of source takes two new modules and a line each in two tables: all commands then work with it.

The kind is `paste:URL`, a page that is the text of a SKILL.md. It is added to a copy of the package.
"""

import shutil
import sys
from pathlib import Path

import pytest
from kit import GitServer, Response, Sandbox, make_skill

ROOT = Path(__file__).parents[2]
KIND = '''\
"""Pages that are the text of a skill."""

from typing import Any

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.kinds.base import Pin, Place, Source


class PasteSource(Source):
    """A page."""

    paste: str

    scheme = "paste"

    def to_json(self) -> Any:
        return {"paste": self.paste}

    def describe(self) -> str:
        return f"paste:{self.paste}"

    def place(self) -> Place:
        return Place(table="sources", address=self.paste)

    def server_url(self) -> str:
        return self.paste

    def admits(self, pin: Pin) -> bool:
        return isinstance(pin, PastePin) and pin.paste == self.paste


class PastePin(Pin):
    """A page, with the SHA-256 of its text."""

    paste: str
    sha256: str

    scheme = "paste"

    def to_json(self) -> dict[str, Any]:
        return {"paste": self.paste, "sha256": self.sha256}

    def describe(self) -> str:
        return f"paste:{self.paste}"

    def place(self) -> Place:
        return Place(table="sources", address=self.paste)

    def server_url(self) -> str:
        return self.paste

    @property
    def is_remote(self) -> bool:
        return True

    def origin(self) -> str:
        return self.paste

    def store_variant(self) -> str:
        return self.sha256

    def claim(self, name: str, version: str) -> tuple[str, ...]:
        return self.paste, self.sha256


def read_source(_: SkillName, node: JsonNode) -> PasteSource:
    node.check_keys("paste")
    return PasteSource(paste=node.require("paste").text())


def read_pin(node: JsonNode) -> PastePin:
    node.check_keys("paste", "sha256")
    return PastePin(paste=node.require("paste").text(), sha256=node.require("sha256").content_hash())


def parse_spec(spec: str) -> PasteSource:
    return PasteSource(paste=spec.removeprefix("paste:"))
'''
FETCHER = '''\
"""Fetch pages that are the text of a skill."""

from skillpm.core.digest import content_hash
from skillpm.core.tree_checks import check_tree
from skillpm.errors import DigestMismatch, OfflineError
from skillpm.fetchers.archives.archive_reader import read_archive
from skillpm.fetchers.common.metadata import read_metadata
from skillpm.fetchers.http.client import HttpClient
from skillpm.kinds.paste import PastePin
from skillpm.store import Proofs


class PasteFetcher:
    def __init__(self, settings, store, reporter, destinations):
        self.settings, self.store, self.proofs = settings, store, Proofs(settings.cache_dir)
        self.client = HttpClient(settings, reporter, destinations)

    def pin(self, sources):
        skills = {}
        for name, source in sources.items():
            if self.settings.offline:
                raise OfflineError([f"{name} ({source.paste})"])
            data, tree = self._read(source.paste)
            skills[name] = read_metadata(tree, PastePin(paste=source.paste, sha256=content_hash(data)), name)
            self._keep(name, tree, skills[name])
        return skills

    def fetch(self, locked):
        if self.settings.offline:
            return [f"{name} ({skill.pin.paste})" for name, skill in locked.items()]
        for name, skill in locked.items():
            data, tree = self._read(skill.pin.paste)
            if content_hash(data) != skill.pin.sha256 or tree.digest != skill.digest:
                raise DigestMismatch(name, locked=skill.digest, actual=tree.digest, origin=skill.pin.paste)
            self._keep(name, tree, skill)
        return []

    def _read(self, url):
        limits = self.settings.limits
        data = self.client.get(url, limit=limits.download).body
        return data, check_tree(read_archive(data, url, limits), name="", limits=limits)

    def _keep(self, name, tree, skill):
        self.store.add(tree, skill.pin.store_variant())
        self.proofs.add(name, skill)
'''
# The file, a text in it, and that text with what is added.
ADDED = [
    ("kinds/__init__.py", '"oci": "oci", "version": "index",', '"oci": "oci", "paste": "paste", "version": "index",'),
    ("kinds/__init__.py", 'PINS = {"git"', 'PINS = {"paste": "paste", "git"'),
    ("kinds/__init__.py", 'PREFIXES = {"oci', 'PREFIXES = {"paste:": "paste", "oci'),
    (
        "fetchers/dispatcher.py",
        '        return cast("Fetcher", self.make_index_fetcher',
        """\
        if kind == "paste":
            from skillpm.fetchers.paste import PasteFetcher

            return PasteFetcher(settings, self.store, self.reporter, self.destinations)
        return cast("Fetcher", self.make_index_fetcher""",
    ),
]


@pytest.fixture
def project(tmp_path: Path) -> Sandbox:
    package = tmp_path / "package/skillpm"
    shutil.copytree(ROOT / "skillpm", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "bundled", package / "_bundled")
    (package / "kinds/paste.py").write_text(KIND, encoding="utf-8")
    (package / "fetchers/paste.py").write_text(FETCHER, encoding="utf-8")
    for file, old, new in ADDED:
        text = (package / file).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (package / file).write_text(text.replace(old, new), encoding="utf-8")
    sandbox = Sandbox(tmp_path / "sandbox")
    start = f"import sys; sys.path.insert(0, {str(package.parent)!r}); from skillpm.cli.entry_point import main; "
    sandbox.command = (sys.executable, "-c", start + "sys.exit(main())")  # type: ignore[misc]  # another package
    sandbox.write("skills.json", '{"skills": {}}\n')
    return sandbox


def test_another_kind_of_source(project: Sandbox, server: GitServer) -> None:
    page = f"{server.address}/memo/SKILL.md"

    def publish(body: str) -> None:
        server.publish("/memo/SKILL.md", Response(200, {}, make_skill("memo", body=body)["SKILL.md"]))

    publish("First.\n")
    assert project.run("install", f"paste:{page}", check=True).stdout.splitlines()[0].startswith(" + memo ")
    assert f'"memo": {{"paste": "{page}"}}' in project.read("skills.json")
    assert f'"paste": "{page}",' in project.read("skills.lock")

    shutil.rmtree(project.work / ".agent-skills")
    shutil.rmtree(project.cache)
    project.run("sync", "--frozen", check=True)
    assert project.read(".agent-skills/memo/SKILL.md").endswith("First.\n")
    project.run("verify", check=True)

    publish("Second.\n")
    assert "\nmemo " in project.run("outdated").stdout
    project.run("update", check=True)
    assert project.read(".agent-skills/memo/SKILL.md").endswith("Second.\n")

    project.run("mirror", "skills.lock", "mirror", check=True)
    shutil.rmtree(project.work / ".agent-skills")
    shutil.rmtree(project.cache)
    server.clear_requests()
    project.run("sync", "--frozen", env={"SKILLPM_REPLACE": "mirror"}, check=True)
    assert project.read(".agent-skills/memo/SKILL.md").endswith("Second.\n")
    assert server.requests == []

    project.write("skills.policy.toml", 'version = 1\n[sources]\nallow = ["github.com/acme/*"]\n')
    shutil.rmtree(project.work / ".agent-skills")
    for command in (["sync", "--frozen"], ["update"], ["install", f"paste:{page}", "--force"]):
        refused = project.run(*command)
        assert (refused.code, f"comes from {page}, which is not allowed" in refused.stderr) == (1, True), refused
    assert server.requests == []
