"""Many processes on one user scope with one cache, each doing what it likes; and what has to be true in the end.

Each worker has skills that only it installs and removes, so that the end of each is known; all share everything else:
the documents, the links, the caches, the flat files, the skills that everybody wants. Whatever order the commands came
in, the state has to be one that some order leads to.
"""

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kit import Repository, Sandbox, make_skill, prefix_paths

SHARED = ("testing", "code-review", "git-release")
OWN = 4
AGENTS = ("claude-code", "codex")
HERE = ".agent-skills"


@dataclass
class Report:
    """Commands with their arguments and exit codes, errors, and forbidden states that a reader saw."""

    commands: list[str] = field(default_factory=list)
    killed: int = 0
    waited: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """Return the report as one line."""
        verbs = Counter(output.partition(" ")[0] for output in self.commands)
        counted = ", ".join(f"{count} {verb}" for verb, count in verbs.most_common())
        ends = f"{self.killed} killed, {self.waited} waited, {len(self.wrong)} wrong, {self.seconds:.0f} s"
        return f"{len(self.commands)} commands ({counted}); {ends}"


class Crowd:
    """A scope, its upstream, and the workers on it."""

    def __init__(self, folder: Path, *, workers: int, each: int, seed: int, killing: bool) -> None:
        self.workers, self.each, self.seed, self.killing = workers, each, seed, killing
        self.sandbox = Sandbox(folder / "world")
        self.sandbox.git_config("[safe]\n\tdirectory = *\n")
        self.repository = Repository.create(folder / "upstream")
        self.report = Report()
        self.expected: dict[str, bool | None] = {}  # None: its last command was killed
        self.flat: dict[str, str] = {}
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._lock, self._over = threading.Lock(), threading.Event()
        self._publish(0)
        self.sandbox.run("install", "-g", *SHARED, check=True)

    def run(self) -> Report:
        """Let everybody work, and look whether the end is right."""
        helpers = [threading.Thread(target=self._read), threading.Thread(target=self._publish_now_and_then)]
        helpers += [threading.Thread(target=self._kill_now_and_then)] if self.killing else []
        workers = [threading.Thread(target=self._work, args=(number,)) for number in range(self.workers)]
        for thread in (*workers, *helpers):
            thread.start()
        for thread in workers:
            thread.join()
        self._over.set()
        for thread in helpers:
            thread.join()
        self._look_at_the_end()
        return self.report

    # What the workers do

    def _work(self, number: int) -> None:
        chance = random.Random(self.seed * 1000 + number)
        own = [f"own-{number}-{index}" for index in range(OWN)]
        verbs = ("install", "uninstall", "update", "sync", "list", "link", "unlink", "migrate", "shared")
        for step in range(self.each):
            verb = chance.choices(verbs, weights=(6, 4, 3, 3, 3, 2, 1, 2, 1))[0]
            name = chance.choice(own)
            if verb == "uninstall":
                there = [name for name in own if self.expected.get(name)]
                verb, name = ("uninstall", chance.choice(there)) if there else ("install", name)
            match verb:
                case "install":
                    self._do(number, name, "install", "-g", f"{self.repository.file_url}@{name}")
                case "uninstall":
                    self._do(number, name, "uninstall", "-g", name)
                case "link" | "unlink":
                    self._do(number, "", verb, "-g", chance.choice(AGENTS))
                case "shared":
                    self._do(number, "", "install", "-g", chance.choice(SHARED))
                case "migrate":
                    flat = f"flat-{number}-{step}"
                    self.flat[flat] = f"---\nname: {flat}\ndescription: Was flat.\n---\nBody of {flat}.\n"
                    new = self.sandbox.home / f"{flat}.md"
                    new.write_text(self.flat[flat])
                    new.rename(self.sandbox.home / HERE / f"{flat}.md")
                    self._do(number, "", "migrate", "-g")
                case _:
                    self._do(number, "", verb, "-g")

    def _do(self, number: int, name: str, *words: str) -> None:
        """Run a command; what it says is noted, and what becomes of `name`."""
        process = self.sandbox.spawn(*words)
        with self._lock:
            self._running[number] = process
        _, complaint = process.communicate()
        with self._lock:
            del self._running[number]
            output, code = complaint.decode(), process.returncode
            self.report.commands.append(f"{words[0]} {code}")
            self.report.waited += "waiting for" in output
            in_doubt = name and self.expected.get(name, False) is None
            if code == -signal.SIGKILL:
                self.report.killed += 1
                self.expected |= {name: None} if name else {}
            elif code == 0:
                self.expected |= {name: words[0] == "install"} if name else {}
            elif not (in_doubt and "is not installed" in output):
                self.report.wrong.append(f"{' '.join(words)}: exit {code}: {output}")

    # What happens meanwhile

    def _publish(self, state: int) -> None:
        for number in range(self.workers):
            for index in range(OWN):
                name = f"own-{number}-{index}"
                files = make_skill(name, f"State {state}.") | {"notes/a.md": f"{name} {state}\n" * 20}
                self.repository.write(prefix_paths(f"skills/{name}", files))
        self.repository.commit(f"state {state}")

    def _publish_now_and_then(self) -> None:
        state = 0
        while not self._over.wait(2):
            state += 1
            self._publish(state)

    def _kill_now_and_then(self) -> None:
        chance = random.Random(self.seed)
        while not self._over.wait(1):
            with self._lock:
                if running := sorted(self._running):
                    os.kill(self._running[chance.choice(running)].pid, signal.SIGKILL)

    def _read(self) -> None:
        """Read all the time: what is listed is whole, and what is loaded is itself."""
        chance = random.Random(self.seed)
        while not self._over.is_set():
            listed = self.sandbox.run("list", "-g", "--json")
            skills = listed.json["skills"] if listed.code == 0 else []
            half = [f"{entry['name']} {entry['state']}" for entry in skills if entry["state"] not in _WHOLE]
            if listed.code or half:
                self.report.wrong.append(f"list: exit {listed.code}, {half} {listed.stderr}")
            name = chance.choice(SHARED)
            loaded = self.sandbox.run("load", "-g", name)
            if loaded.code or f"# Skill: {name}" not in loaded.stdout:
                self.report.wrong.append(f"load {name}: exit {loaded.code} {loaded.stderr}")

    # What has to be true in the end

    def _look_at_the_end(self) -> None:
        wrong = self.report.wrong
        for words in (["migrate", "-g"], ["sync", "-g"], ["verify", "-g"], ["registry", "check", "-g"]):
            result = self.sandbox.run(*words)
            if result.code:
                wrong.append(f"in the end {' '.join(words)}: {result.stdout}{result.stderr}")
        again = self.sandbox.run("sync", "-g").stdout
        if not again.startswith("nothing to do"):
            wrong.append(f"in the end sync has something to do twice: {again}")
        self._compare_documents()

    def _compare_documents(self) -> None:
        """Compare what each document says with the disk, and with what everybody remembers."""
        wrong, home = self.report.wrong, self.sandbox.home
        config, ours = home / ".config/skillpm", home / HERE / ".skillpm"
        manifest, lock = (json.loads((config / name).read_text()) for name in ("skills.json", "skills.lock"))
        receipt = json.loads((ours / "receipt.json").read_text())
        registry = {entry["name"] for entry in json.loads((home / HERE / "skills.json").read_text())["skills"]}
        disk = {path.parent.name for path in (home / HERE).glob("*/SKILL.md")}
        if not {*manifest["skills"]} == {*lock["skills"]} == {*receipt["skills"]} == disk - {*self.flat}:
            wrong.append(
                f"manifest {sorted(manifest['skills'])}, lockfile {sorted(lock['skills'])}, disk {sorted(disk)}"
            )
        if registry != disk:
            wrong.append(f"registry and disk differ: {sorted(registry ^ disk)}")
        for name, is_there in self.expected.items():
            if is_there is not None and (name in disk) != is_there:
                wrong.append(f"{name} should be {'there' if is_there else 'gone'}")
        wrong += [f"{name} is gone" for name in SHARED if name not in disk]
        self._compare_places(manifest, receipt)

    def _compare_places(self, manifest: Any, receipt: Any) -> None:
        """Look at what was flat, at the links, and for what is left over."""
        wrong, home = self.report.wrong, self.sandbox.home
        for name, text in self.flat.items():
            path = home / HERE / name / "SKILL.md"
            if not path.exists() or path.read_text() != text:
                wrong.append(f"{name}, which was a flat file, is not what it was")
        folders = {"claude-code": home / ".claude/skills", "codex": home / ".agents/skills"}
        for agent in AGENTS:
            links = {path.name for path in folders[agent].iterdir()} if folders[agent].is_dir() else set()
            if links != ({*receipt["skills"], *self.flat} if agent in manifest.get("agents", []) else set()):
                wrong.append(f"links of {agent}: {sorted(links)}")
        left = {entry.name for entry in (home / HERE / ".skillpm").iterdir()} - {
            ".gitignore",
            "lock",
            "lock.pid",
            "receipt.json",
            "scan.json",
        }
        left |= {entry.name for entry in (home / ".config/skillpm").iterdir()} - {"skills.json", "skills.lock"}
        left |= {f"{folder}/{path.name}" for folder in folders.values() for path in folder.glob(".*")}
        wrong += [f"left over: {sorted(left)}"] if left else []


_WHOLE = {"installed", "unmanaged"}


def crowd(folder: Path, *, workers: int, each: int, seed: int, killing: bool) -> Report:
    """Let a crowd work; say what it did."""
    begun = time.monotonic()
    report = Crowd(folder, workers=workers, each=each, seed=seed, killing=killing).run()
    report.seconds = time.monotonic() - begun
    return report
