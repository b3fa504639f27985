"""What the tests of commands share: a sandbox that gives back all a command said, as one text to compare."""

import json
import re
from pathlib import Path
from typing import Any

from kit import Entry, Repository, Result, Sandbox, skill, under
from kit.sandbox import Environment

EMPTY = '{"skills": {}}\n'
NO_HOST = "! next: `skillpm link AGENT` shows them to your agent; `skillpm agents --all` lists the agents it knows\n"
# What a command leaves behind that is no news: the lock, and what is remembered to be quick.
LEFT_BY_ANY = (".agent-skills/.skillpm/lock", ".agent-skills/.skillpm/lock.pid", ".agent-skills/.skillpm/scan.json")


class Scene(Sandbox):
    """A sandbox that is a project asking for nothing yet; long and changing texts have short names in it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.names = {str(self.work): "WORK", str(self.home): "HOME", str(root): "ROOT"}

    def project(self, manifest: str = EMPTY) -> "Scene":
        """Make the working directory a project."""
        self.write("skills.json", manifest)
        return self

    def tell(self, *arguments: str, cwd: str | Path | None = None, env: Environment | None = None) -> str:
        """Run a command and give all it said: stdout, then stderr behind `! `, then an exit code other than 0."""
        return self.transcript(self.run(*arguments, cwd=cwd, env=env))

    def transcript(self, result: Result) -> str:
        """Write down what a command said and how it ended."""
        lines = [*result.stdout.splitlines(), *(f"! {line}" for line in result.stderr.splitlines())]
        text = "".join(f"{line}\n" for line in lines) + (f"[{result.code}]\n" if result.code else "")
        return self.named(text)

    def named(self, text: str) -> str:
        """Put the short names into a text."""
        for long, short in self.names.items():
            text = text.replace(long, short)
        return text

    def json(self, *arguments: str, cwd: str | Path | None = None, env: Environment | None = None) -> Any:
        """Run a command that has to succeed with `--json`; give its object, the order of its keys kept."""
        result = self.run(*arguments, "--json", cwd=cwd, env=env, check=True)
        assert result.stderr == ""
        return json.loads(self.named(result.stdout))

    def document(self, path: str) -> Any:
        """Read a JSON document, the order of its keys kept."""
        return json.loads(self.named(self.read(path)))

    @property
    def everything(self) -> dict[str, Entry]:
        """Take down the whole sandbox but for the caches and what every command leaves behind."""
        whole = self.snapshot("..", ignore=["cache"])
        news = {f"{top}/{path}" for top in ("work", "home") for path in LEFT_BY_ANY}
        return {path: entry for path, entry in whole.items() if path not in news}


def two_skills(path: Path) -> Repository:
    """Make a repository of two skills, its first commit tagged `v1.0.0`."""
    repository = Repository.create(path)
    pdf = skill("pdf", "Reads PDF files.") | {"scripts/read.sh": "#!/bin/sh\necho read\n"}
    docx = skill("docx", "Writes Word files.")
    repository.write(under("skills/pdf", pdf) | under("skills/docx", docx), executable=["skills/pdf/scripts/read.sh"])
    repository.commit("first")
    repository.tag("v1.0.0")
    return repository


def undated(said: str) -> str:
    """Give a list of backups with one word for every time: when they were set aside is another time in each run."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "DAY", said)


def text(said: str) -> str:
    """Mark what is to be said word for word; in a call the formatter leaves its lines beside the comparison."""
    return said


def asking(**skills: Any) -> str:
    """Give the text of a manifest that asks for these skills."""
    return json.dumps({"skills": skills}) + "\n"


def keys(value: Any) -> Any:
    """Give the keys of an object in order, those of the objects in its lists behind their key."""
    if isinstance(value, dict):
        return [found if (found := _inner(key, part)) else key for key, part in value.items()]
    return []


def _inner(key: str, part: Any) -> Any:
    if isinstance(part, list) and part and isinstance(part[0], dict):
        return {key: keys(part[0])}
    return None
