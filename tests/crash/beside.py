"""Installs beside processes that empty the cache again and again; and what each of the installs says.

All share one cache. What is installed comes over HTTP and from a folder, into a home of its own, a project of its own,
or one project that all write into.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kit import GitServer, Repository, Sandbox, make_skill, prefix_paths

VERBS = {"prune": ("cache", "prune", "--unused-for", "0"), "clean": ("cache", "clean", "--yes")}
SKILLS = ("pdf", "ocr", "chart")
AT_ONCE = 3
LEFT_IN_USE = 1  # the exit code of `clean` if something was in use


@dataclass
class Report:
    """What happened: how the installs ended, how often the cache was emptied, and what was wrong."""

    installs: int = 0
    removals: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """Return the report as one line."""
        removed = ", ".join(f"{verb} {count}" for verb, count in sorted(self.removals.items()))
        return f"{self.installs} installs beside {removed}: {len(self.wrong)} wrong, {self.seconds:.0f} s"


class Beside:
    """One cache, two upstreams, those who install and those who empty."""

    def __init__(self, folder: Path, server: GitServer, installs: int) -> None:
        self.folder, self.installs = folder, installs
        self.report = Report()
        self._emptying = Sandbox(folder / "emptying")
        self._common = self._sandbox("common")
        self._common.write("skills.json", '{"skills": {}}\n')
        upstream = Repository.create(folder / "upstream")
        for name in (*SKILLS, *(f"own-{number}" for number in range(installs))):
            upstream.write(
                prefix_paths(f"skills/{name}", make_skill(name, body=name * 200) | {"notes/a.md": f"{name}\n" * 50})
            )
        upstream.commit("first")
        other = Repository.create(folder / "other").write(make_skill("pdf", "Another one."))
        other.commit("first")
        self._urls = (server.serve("acme/skills", upstream), upstream.file_url)
        self._more = server.serve("acme/other", other)
        self._next = iter(range(installs))
        self._lock, self._over = threading.Lock(), threading.Event()

    def run(self, verbs: Sequence[str]) -> Report:
        """Install, while each of the verbs is given again and again."""
        begun = time.monotonic()
        emptying = [threading.Thread(target=self._empty, args=(verb,)) for verb in verbs]
        installing = [threading.Thread(target=self._install) for _ in range(AT_ONCE)]
        for thread in (*emptying, *installing):
            thread.start()
        for thread in installing:
            thread.join()
        self._over.set()
        for thread in emptying:
            thread.join()
        self.report.seconds = time.monotonic() - begun
        return self.report

    def _empty(self, verb: str) -> None:
        while not self._over.is_set():
            done = self._emptying.run(*VERBS[verb])
            self.report.removals[verb] += 1
            if done.code not in {0, LEFT_IN_USE} or (done.code and "in use" not in done.stdout + done.stderr):
                self.report.wrong.append(f"{verb}: exit {done.code}: {done.stdout}{done.stderr}")

    def _install(self) -> None:
        while (number := self._drawn()) is not None:
            ways: tuple[Callable[[int, str], None], ...] = (self._in_a_home, self._in_a_project, self._in_common)
            ways[number % len(ways)](number, self._urls[number // len(ways) % len(self._urls)])
            self.report.installs += 1

    def _drawn(self) -> int | None:
        with self._lock:
            return next(self._next, None)

    def _in_a_home(self, number: int, url: str) -> None:
        world = self._sandbox(f"home-{number}")
        self._do(world, "install", "-g", f"{url}@pdf", f"{url}@ocr")
        self._do(world, "verify", "-g")

    def _in_a_project(self, number: int, url: str) -> None:
        """Two repositories; then what a colleague does, with the lockfile alone."""
        world = self._sandbox(f"project-{number}")
        world.write("skills.json", '{"skills": {}}\n')
        self._do(world, "install", f"{url}@ocr", f"{url}@chart", self._more)
        twin = self._sandbox(f"twin-{number}")
        for name in ("skills.json", "skills.lock"):
            twin.write(name, world.read(name) if world.exists(name) else "")
        self._do(twin, "sync", "--frozen")
        self._do(twin, "verify")

    def _in_common(self, number: int, url: str) -> None:
        """Other installs write there, too."""
        self._do(self._common, "install", f"{url}@own-{number}")
        self._do(self._common, "uninstall", f"own-{number}")

    def _do(self, world: Sandbox, *words: str) -> None:
        done = world.run(*words, timeout=120)
        if done.code:
            self.report.wrong.append(f"{' '.join(words)}: exit {done.code}: {done.stderr}")
        elif "warning" in done.stderr.replace("warning: waiting for", ""):
            self.report.wrong.append(f"{' '.join(words)} is not quiet: {done.stderr}")

    def _sandbox(self, name: str) -> Sandbox:
        world = Sandbox(self.folder / name)
        world.git_config("[safe]\n\tdirectory = *\n")
        world.cache.rmdir()
        world.cache = self._emptying.cache
        return world
