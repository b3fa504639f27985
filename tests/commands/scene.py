"""Fixtures of the tests of commands: a sandbox that returns the whole output of a command as one text to compare."""

import json
import re
from pathlib import Path
from typing import Any

from kit import Entry, Repository, Result, Sandbox, make_skill, prefix_paths
from kit.sandbox import Environment

EMPTY_MANIFEST = '{"skills": {}}\n'
LINK_HINT = (
    "! next: `skillpm link AGENT` makes them visible to your agent; `skillpm agents --all` lists the agents it knows\n"
)
# Files that commands leave behind and that tests ignore: the lock and the stat cache.
INCIDENTAL_FILES = (
    ".agent-skills/.skillpm/lock",
    ".agent-skills/.skillpm/lock.pid",
    ".agent-skills/.skillpm/scan.json",
)


class CommandSandbox(Sandbox):
    """A sandbox with placeholders for long and changing texts such as paths and URLs."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.placeholders = {str(self.work): "WORK", str(self.home): "HOME", str(root): "ROOT"}

    def create_project(self, manifest: str = EMPTY_MANIFEST) -> "CommandSandbox":
        """Make the working directory a project, by default without requirements."""
        self.write("skills.json", manifest)
        return self

    def output(self, *arguments: str, cwd: str | Path | None = None, env: Environment | None = None) -> str:
        """Run a command and return stdout, then stderr prefixed with `! `, then an exit code other than 0."""
        return self.format_result(self.run(*arguments, cwd=cwd, env=env))

    def format_result(self, result: Result) -> str:
        """Format the output and exit code of a command as one text."""
        lines = [*result.stdout.splitlines(), *(f"! {line}" for line in result.stderr.splitlines())]
        text = "".join(f"{line}\n" for line in lines) + (f"[{result.code}]\n" if result.code else "")
        return self.add_placeholders(text)

    def add_placeholders(self, text: str) -> str:
        """Replace the long and changing parts of a text by placeholders."""
        for long, short in self.placeholders.items():
            text = text.replace(long, short)
        return text

    def json_output(self, *arguments: str, cwd: str | Path | None = None, env: Environment | None = None) -> Any:
        """Run a command with `--json`, which must succeed, and return its object; the order of keys is kept."""
        result = self.run(*arguments, "--json", cwd=cwd, env=env, check=True)
        assert result.stderr == ""
        return json.loads(self.add_placeholders(result.stdout))

    def read_json(self, path: str) -> Any:
        """Read a JSON document; the order of keys is kept."""
        return json.loads(self.add_placeholders(self.read(path)))

    @property
    def full_snapshot(self) -> dict[str, Entry]:
        """A snapshot of the whole sandbox, without the caches and `INCIDENTAL_FILES`."""
        entries = self.snapshot("..", ignore=["cache"])
        ignored = {f"{top}/{path}" for top in ("work", "home") for path in INCIDENTAL_FILES}
        # Which projects were changed is recorded under names that depend on where the sandbox is.
        return {
            path: entry
            for path, entry in entries.items()
            if path not in ignored and not path.startswith("home/.local/state/skillpm/scopes/")
        }


def create_two_skills(path: Path) -> Repository:
    """Create a repository of two skills, with the first commit tagged `v1.0.0`."""
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
    """Replace the times in a list of backups, which differ in each run."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "DAY", output)


def expected_output(output: str) -> str:
    """Return the text unchanged; as the argument of a call, a multi-line string is left in place by the formatter."""
    return output


def manifest_text(**skills: Any) -> str:
    """Return the text of a manifest that requires these skills."""
    return json.dumps({"skills": skills}) + "\n"


def nested_keys(value: Any) -> Any:
    """Return the keys of an object in order; a list of objects is returned as its key with their keys."""
    if isinstance(value, dict):
        return [nested if (nested := _item_keys(key, part)) else key for key, part in value.items()]
    return []


def _item_keys(key: str, value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {key: nested_keys(value[0])}
    return None
