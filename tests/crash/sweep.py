"""Kill a command at one of its changes of the file system, or let that one be refused, and look at all that may not
have happened.
"""

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from crash.stories import CONFIG, HERE, PUBLIC, STORIES, Story, Upstream, World
from kit import Entry, Result

from skillpm.files import OS_ERROR_REASONS, RESUME_HINT

TRACER = [sys.executable, "-I", "-S", str(Path(__file__).parent / "tracer.py")]
READERS = (["list", "--json"], ["show", "NAME", "--json"], ["load", "NAME"], ["registry", "check"], ["prompt"])
CHECKS = (["verify"], ["registry", "check"])
OURS = f"{HERE}/.skillpm"
# What says nothing of a state: the lock, what makes the next command quick, and the mark for git that is always there.
NO_STATE = tuple(f"{OURS}/{name}" for name in ("lock", "lock.pid", "scan.json", ".gitignore"))
VISIBLE = (HERE, ".claude/skills", ".agents/skills")
DOCUMENTS = ("skills.json", "skills.lock", f"{HERE}/skills.json", f"{OURS}/receipt.json", CONFIG)
RUBBISH = re.compile(r"tmp_|\.(tmp|new|lock|pid|idx-\w+)$|incoming|\.skillpm-")
Snapshot = Mapping[str, Entry]


@dataclass(frozen=True)
class Calm:
    """The uninterrupted case: the files, what readers print, and what `sync` makes of them."""

    files: Snapshot
    readers: tuple[Result, ...]
    sync: Result
    checks: tuple[Result, ...]
    synced: Snapshot
    cache: frozenset[str]


class Sweep:
    """One story in its world: how it is before the command and after it, and every change on the way."""

    def __init__(self, name: str, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.story: Story = STORIES[name]
        self.environment = {**self.story.environment, **(environment or {})}
        self.folder = folder
        upstream = Upstream(folder / "upstream")
        self.world = self._world(folder / "world")
        self.story.prepare(self.world, upstream)
        urls = dict(zip(("RED", "BLUE"), upstream.urls, strict=True))
        self.words = [urls.get(word, word) for word in self.story.words]
        self.name = "flat-4" if name == "migrate" else "red-3"

    @cached_property
    def before(self) -> Calm:
        """How it is before the command."""
        return self._calm(self.copy("before"))

    @cached_property
    def _done(self) -> tuple[World, list[list[str]]]:
        world = self.copy("after")
        return world, self.run(world, 0)

    @property
    def calls(self) -> list[list[str]]:
        """Every change of the file system that the command makes."""
        return self._done[1]

    @cached_property
    def after(self) -> Calm:
        """How it is after the command."""
        return self._calm(self._done[0])

    def run(self, world: World, moment: int) -> list[list[str]]:
        """Run the story's command, killed at a moment (0: never); give its changes of the file system."""
        calls, ended = self._traced(world, str(moment))
        assert moment or ended.code == 0, ended
        return calls

    def _traced(self, world: World, moment: str) -> tuple[list[list[str]], Result]:
        report = world.root.with_suffix(".json")
        ended = subprocess.run(
            [*TRACER, moment, str(report), *world.command, *self.words],
            cwd=world.work, env=world.environment(), check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        reported = json.loads(report.read_text())
        calls = [[word.replace(str(world.root), "ROOT") for word in call[1:]] for call in reported["calls"]]
        return calls, Result(code=reported["code"], stdout=ended.stdout, stderr=ended.stderr)

    def violations(self, moment: int) -> list[str]:
        """Kill the command at its n-th change, and give what then happened that must not."""
        world = self.copy("killed")
        calls = self.run(world, moment)
        found = [*self._seen_at_once(world), *self._after_recovery(world)]
        return [f"{moment} of {len(self.calls)}, {' '.join(calls[-1])}: {violation}" for violation in found]

    def refused(self, moment: int, error: int) -> list[str]:
        """Let the n-th change be refused; give what then happened that must not."""
        world, calls, ended = self.run_refused(moment, error)
        found = [*self._seen_at_once(world)]
        if ended.code:
            found += self._begun_or_not(world, ended)
        found += self._after_recovery(world)
        refused = calls[moment - 1]
        if refused[0].startswith("unlink"):  # what could not be removed still exists
            found = [line for line in found if not line.endswith(refused[1].removeprefix("ROOT/cache/"))]
        if ended.code not in {0, 1} or "Traceback" in ended.stderr or "internal error" in ended.stderr:
            found.append(f"it ended with {ended}")
        whys = (
            OS_ERROR_REASONS[error],
            os.strerror(error).lower(),
            "no space left",
            "cannot write to the git cache",
        )
        if ended.code and not any(why in ended.stderr.lower() for why in whys):
            found.append(f"no reason in the error: {ended}")
        if ended.code and not ("\n  where: " in ended.stderr and "\n  hint: " in ended.stderr):
            found.append(f"no place or hint in the error: {ended}")
        about = f"{moment} of {len(self.calls)}, {errno.errorcode[error]} for {' '.join(refused)}"
        return [f"{about}: {violation}" for violation in found]

    def run_refused(self, moment: int, error: int) -> tuple[World, list[list[str]], Result]:
        """Run the story's command, its n-th change refused; give where, its changes, and how it ended."""
        world = self.copy("refused")
        calls, ended = self._traced(world, f"{moment}:{error}")
        return world, calls, ended

    def _begun_or_not(self, world: World, ended: Result) -> list[str]:
        """Look whether a command that failed left all as it was, or says that what it began will be finished."""
        has_begun = (world.work / OURS / "journal.json").exists()
        found = []
        if (RESUME_HINT in ended.stderr.replace("\n       ", " ")) != has_begun:
            found.append(f"the change is{'' if has_begun else ' not'} reported as begun: {ended}")
        if not has_begun and world.snapshot(ignore=NO_STATE) != self.before.files:
            found += _differences(world.snapshot(ignore=NO_STATE), self.before.files)
        return found

    def _seen_at_once(self, world: World) -> list[str]:
        """Look at what is there right after the death: files first, as loaders read them, then through our readers."""
        old, new, seen = self.before.files, self.after.files, world.snapshot(ignore=NO_STATE)
        found = [
            f"{place} is neither what it was nor what it becomes: {sorted(_below(seen, place))}"
            for place in sorted(_skills(old) | _skills(new) | _skills(seen))
            if _below(seen, place) not in ({}, _below(old, place), _below(new, place))
        ]
        found += [
            f"{path} is half a document" for path in DOCUMENTS if seen.get(path) not in (old.get(path), new.get(path))
        ]
        found += [
            f"{path} is half a file"
            for path, entry in seen.items()
            if path.startswith(f"{PUBLIC}/")
            and not RUBBISH.search(path)
            and entry not in (old.get(path), new.get(path))
        ]
        answers = zip(READERS, self._answers(world, READERS), self.before.readers, self.after.readers, strict=True)
        for words, output, before, after in answers:
            if output not in (before, after):
                found.append(f"{' '.join(words)}: {_told_apart(output, after)}")
        return found

    def _after_recovery(self, world: World) -> list[str]:
        """Let `sync` heal, and look whether all is old or all is new, whether twice is once, and what is left over."""
        if self.story.publishes:
            return self._published_again(world)
        found = []
        sync, *checks = self._answers(world, (["sync"], *CHECKS))
        synced = world.snapshot(ignore=NO_STATE)
        ends = [end for end in (self.before, self.after) if end.synced == synced]
        if not ends:
            found += [f"after sync: {line}" for line in _differences(synced, self.before.synced, self.after.synced)]
        if ends and not any((sync.code, tuple(checks)) == (end.sync.code, end.checks) for end in ends):
            found.append(f"sync and its checks end otherwise: {sync} {checks}")
        everything = world.snapshot(ignore=(f"{OURS}/lock.pid",))
        (again,) = self._answers(world, (["sync"],))
        if again.code == 0 and not again.stdout.startswith("nothing to do"):
            found.append(f"a second sync did something: {again}")
        if everything != world.snapshot(ignore=(f"{OURS}/lock.pid",)):
            found.append("a second sync changed something")
        if (
            self.after not in ends or self.story.repeats
        ):  # then the command can be given again, and nothing is in its way
            world.run(*self.words)
            if (done := world.snapshot(ignore=NO_STATE)) not in (self.after.files, self.after.synced):
                found += [f"after the command again: {line}" for line in _differences(done, self.after.files)]
        left = frozenset(world.snapshot("../cache")) - self.after.cache
        found += [f"rubbish in the cache: {path}" for path in sorted(left) if RUBBISH.search(path)]
        return [*found, *(f"rubbish in TMPDIR: {path}" for path in world.snapshot("../tmp"))]

    def _published_again(self, world: World) -> list[str]:
        """Let the same command finish an index or a mirror, and `index prune` remove what was half written of one."""
        checks = (("index", "prune", PUBLIC), ("index", "check", PUBLIC)) if self.words[0] == "index" else ()
        words = (tuple(self.words), *checks)
        found = [f"{' '.join(words)}: {result}" for words in words if (result := world.run(*words)).code]
        done = world.snapshot(ignore=NO_STATE)
        if done != self.after.files:
            found += [f"after the command again: {line}" for line in _differences(done, self.after.files)]
        return found

    def _calm(self, world: World) -> Calm:
        """Record a world without a kill."""
        files, readers = world.snapshot(ignore=NO_STATE), self._answers(world, READERS)
        sync, *checks = self._answers(world, (["sync"], *CHECKS))
        if self.story.is_settled:
            assert [answer.code for answer in (sync, *checks)] == [0, 0, 0], (sync, checks)
        synced, cache = world.snapshot(ignore=NO_STATE), frozenset(world.snapshot("../cache"))
        return Calm(files, readers, sync, tuple(checks), synced, cache)

    def _answers(self, world: World, commands: "tuple[list[str], ...]") -> tuple[Result, ...]:
        """Run commands; give what they say without what differs between two worlds, and that a change is pending."""
        answers = []
        for words in commands:
            result = world.run(*[self.name if word == "NAME" else word for word in words])
            talk = "\n".join(line for line in result.stderr.splitlines() if "interrupted" not in line)
            # A verdict that could not be written costs a check later; it is in the cache.
            talk = re.sub(r"\d+ skills? (was|were) not checked on this machine: [^\n]*\n?", "", talk)
            printed = re.sub(r',\n  "unchecked": \[[^\]]*\]', "", result.stdout)
            output = [text.replace(str(world.root), "ROOT") for text in (printed, talk)]
            # Readers report a staged skill at its staged path.
            answers.append(
                Result(code=result.code, stdout=output[0].replace(".skillpm/staging/", ""), stderr=output[1])
            )
        return tuple(answers)

    def _world(self, folder: Path) -> World:
        world = World(folder)
        world.extra = {"TMPDIR": str(folder / "tmp"), **self.environment}
        (folder / "tmp").mkdir(exist_ok=True)
        return world

    def copy(self, name: str) -> World:
        """Create the story's world as it is before the command."""
        target = self.folder / f"{name}-{os.getpid()}"
        subprocess.run(["rm", "-rf", str(target)], check=True)
        subprocess.run(["cp", "-a", "--reflink=auto", str(self.world.root), str(target)], check=True)
        return self._world(target)


def _skills(files: Snapshot) -> set[str]:
    """Return the skills where agents look for them."""
    found = (path.removesuffix("/SKILL.md") for path in files if path.endswith("/SKILL.md"))
    return {path for path in found if os.path.dirname(path) in VISIBLE and not os.path.basename(path).startswith(".")}


def _below(files: Snapshot, top: str) -> Snapshot:
    """Return a part of a snapshot."""
    return {path: entry for path, entry in files.items() if path == top or path.startswith(top + "/")}


def _told_apart(one: Result, other: Result) -> str:
    """Show where an answer is another one."""
    pairs = enumerate(zip(one.stdout, other.stdout, strict=False))
    at = next((at for at, (this, that) in pairs if this != that), 0)
    parts = [text[max(0, at - 30) : at + 120] for text in (one.stdout, other.stdout)]
    return f"{one.code} {one.stderr!r} …{parts[0]!r}, and in the end {other.code} {other.stderr!r} …{parts[1]!r}"


def _differences(files: Snapshot, *ends: Snapshot) -> list[str]:
    """Return how a state differs from the most similar other one."""
    report = []
    for end in ends:
        paths = [path for path in sorted({*files, *end}) if files.get(path) != end.get(path)]
        report.append(
            [f"{path} is {'gone' if path not in files else 'new' if path not in end else 'another'}" for path in paths]
        )
    return min(report, key=len)[:8]
