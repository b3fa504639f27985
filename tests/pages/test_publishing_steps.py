"""The workflow of the page on publishing, run by a CI that keeps nothing between its runs."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer

PAGE = (Path(__file__).parents[2] / "docs/guides/publishing.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
GITHUB, GITLAB = (yaml.safe_load(text) for text in BLOCKS if "--onto" in text)
URLS = ("https://acme.github.io/skills/", "$CI_PAGES_URL/")
INSTALL = "pip install 'agent-skillpm[publish]'"  # needs the network, and a released version


def read_commands(forge: str) -> list[str]:
    """Return the commands of a workflow, whose job publishes the folder `public` with names that begin with a dot."""
    if forge == "gitlab":
        assert GITLAB["pages"]["artifacts"] == {"paths": ["public"]}
        commands: list[str] = GITLAB["pages"]["script"]
        return commands
    steps = GITHUB["jobs"]["publish"]["steps"]
    upload = next(step for step in steps if step.get("uses", "").startswith("actions/upload-pages-artifact@"))
    assert upload["with"] == {"path": "public", "include-hidden-files": True}
    return [step["run"] for step in steps if "run" in step]


YANK = re.findall(r"`skillpm (index yank pdf@1.2.0 public)` after the build", PAGE)[0]


class Pages:
    """A site for pages: each run of the workflow checks out the sources, and its upload replaces the whole site."""

    def __init__(self, server: GitServer, root: Path, commands: list[str]) -> None:
        self.server = server
        self.root = root
        self.commands = commands
        self.url = f"{server.address}/skills/"
        self.run_count = 0

    def run_workflow(self, drafts: dict[str, tuple[str, str]], *, yank: tuple[str, ...] = ()) -> str:
        """Run the steps of the page on drafts (name -> version, dependencies); return what the steps printed."""
        self.run_count += 1
        checkout = IndexPublisher(self.root / f"run-{self.run_count}")
        for name, (version, dependencies) in drafts.items():
            checkout.write_draft(name, version, **({"skill-dependencies": dependencies} if dependencies else {}))
        output = ""
        for command in self.commands:
            if command == INSTALL:
                continue
            words = shlex.split(command)
            assert words[0] == "skillpm"
            if self.run_count == 1 and "--onto" in words:  # "omit `--onto` the first time"
                del words[words.index("--onto") : words.index("--onto") + 2]
            result = checkout.run(*(self.url if word in URLS else word for word in words[1:]), check=True)
            output += result.stdout + result.stderr
            for spec in yank if "build" in words else ():
                result = checkout.run(*YANK.replace("pdf@1.2.0", spec).split(), check=True)
                output += result.stdout + result.stderr
        self.server.retract()
        serve_index(self.server, checkout.index_folder, "/skills")
        return output


@pytest.fixture(params=["github", "gitlab"])
def pages(server: GitServer, tmp_path: Path, request: pytest.FixtureRequest) -> Pages:
    return Pages(server, tmp_path, read_commands(request.param))


def test_consumers_of_every_release_still_sync(pages: Pages, tmp_path: Path) -> None:
    pages.run_workflow({"style": ("1.0.0", ""), "review": ("1.0.0", "style")})
    first = IndexConsumer(tmp_path / "first")
    first.run("install", f"{pages.url}@review", check=True)

    output = pages.run_workflow({"style": ("1.1.0", ""), "review": ("2.0.0", "style>=1.1")})
    assert output.startswith("+ review 2.0.0\n+ style 1.1.0\npublic: 2 skills, 4 versions; ")
    assert output.endswith("\nno problems found\n")
    second = IndexConsumer(tmp_path / "second")
    second.run("install", f"{pages.url}@review", check=True)
    yanking = pages.run_workflow(
        {"style": ("1.1.0", ""), "review": ("2.0.0", "style>=1.1")}, yank=("review@2.0.0", "style@1.1.0")
    )
    third = IndexConsumer(tmp_path / "third")
    third.run("install", f"{pages.url}@review", check=True)

    assert "yanked style 1.1.0; existing lockfiles can still install it\n" in yanking
    locked = {"first": ("1.0.0", "1.0.0"), "second": ("2.0.0", "1.1.0"), "third": ("1.0.0", "1.0.0")}
    for consumer in (first, second, third):
        consumer.delete_state()
        consumer.run("sync", "--frozen", check=True)
        versions = tuple(consumer.lockfile["skills"][name]["version"] for name in ("review", "style"))
        assert versions == locked[consumer.root.name]
    assert second.run("outdated").stderr.splitlines() == [
        "review: 2.0.0 was yanked",
        "style: 1.1.0 was yanked",
    ]
    # What is yanked stays yanked, in a run that knows nothing of it.
    pages.run_workflow({"style": ("1.1.0", ""), "review": ("2.0.0", "style>=1.1"), "zip": ("1.0.0", "")})
    fourth = IndexConsumer(tmp_path / "fourth")
    fourth.run("install", f"{pages.url}@review", check=True)
    assert fourth.lockfile["skills"].keys() == {"review", "style"}
    assert fourth.lockfile["skills"]["review"]["version"] == "1.0.0"
