"""What the tests of commands share: a sandbox that gives back all a command said, as one text to compare."""

import json
import re
from pathlib import Path
from typing import Any

from kit import Entry, Repository, Result, Sandbox, make_skill, prefix_paths
from kit.sandbox import Environment

EMPTY_MANIFEST = '{"skills": {}}\n'
LINK_HINT = "! next: `skillpm link AGENT` shows them to your agent; `skillpm agents --all` lists the agents it knows\n"
# What a command leaves behind that is no news: the lock, and what is remembered to be quick.
INCIDENTAL_FILES = (
    ".agent-skills/.skillpm/lock",
    ".agent-skills/.skillpm/lock.pid",
    ".agent-skills/.skillpm/scan.json",
)


class CommandSandbox(Sandbox):
    """A sandbox that is a project asking for nothing yet; long and changing texts have short names in it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.placeholders = {str(self.work): "WORK", str(self.home): "HOME", str(root): "ROOT"}

    def create_project(self, manifest: str = EMPTY_MANIFEST) -> "CommandSandbox":
        """Make the working directory a project."""
        self.write("skills.json", manifest)
        return self

    def output(self, *arguments: str, cwd: str | Path | None = None, env: Environment | None = None) -> str:
        """Run a command and give all it said: stdout, then stderr behind `! `, then an exit code other than 0."""
        return self.format_result(self.run(*arguments, cwd=cwd, env=env))

    def format_result(self, result: Result) -> str:
        """Write down what a command said and how it ended."""
        lines = [*result.stdout.splitlines(), *(f"! {line}" for line in result.stderr.splitlines())]
        text = "".join(f"{line}\n" for line in lines) + (f"[{result.code}]\n" if result.code else "")
        return self.add_placeholders(text)

    def add_placeholders(self, text: str) -> str:
        """Put the short names into a text."""
        for long, short in self.placeholders.items():
            text = text.replace(long, short)
        return text

    def json_output(self, *arguments: str, cwd: str | Path | None = None, env: Environment | None = None) -> Any:
        """Run a command that has to succeed with `--json`; give its object, the order of its keys kept."""
        result = self.run(*arguments, "--json", cwd=cwd, env=env, check=True)
        assert result.stderr == ""
        return json.loads(self.add_placeholders(result.stdout))

    def read_json(self, path: str) -> Any:
        """Read a JSON document, the order of its keys kept."""
        return json.loads(self.add_placeholders(self.read(path)))

    @property
    def full_snapshot(self) -> dict[str, Entry]:
        """Take down the whole sandbox but for the caches and what every command leaves behind."""
        whole = self.snapshot("..", ignore=["cache"])
        news = {f"{top}/{path}" for top in ("work", "home") for path in INCIDENTAL_FILES}
        return {path: entry for path, entry in whole.items() if path not in news}


def create_two_skills(path: Path) -> Repository:
    """Make a repository of two skills, its first commit tagged `v1.0.0`."""
    repository = Repository.create(path)
    pdf = make_skill("pdf", "Reads PDF files.") | {"scripts/read.sh": "#!/bin/sh\necho read\n"}
    docx = make_skill("docx", "Writes Word files.")
    repository.write(
        prefix_paths("skills/pdf", pdf) | prefix_paths("skills/docx", docx), executable=["skills/pdf/scripts/read.sh"]
    )
    repository.commit("first")
    repository.tag("v1.0.0")
    return repository


def mask_dates(output: str) -> str:
    """Give a list of backups with one word for every time: when they were set aside is another time in each run."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "DAY", output)


def expected_output(output: str) -> str:
    """Mark what is to be said word for word; in a call the formatter leaves its lines beside the comparison."""
    return output


def manifest_text(**skills: Any) -> str:
    """Give the text of a manifest that asks for these skills."""
    return json.dumps({"skills": skills}) + "\n"


def nested_keys(value: Any) -> Any:
    """Give the keys of an object in order, those of the objects in its lists behind their key."""
    if isinstance(value, dict):
        return [found if (found := _item_keys(key, part)) else key for key, part in value.items()]
    return []


def _item_keys(key: str, value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {key: nested_keys(value[0])}
    return None
