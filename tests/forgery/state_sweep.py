"""Forge one file of a project after the other, run commands, and compare what they show with git."""

import json
import random
import subprocess
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from forgery.documents import BELOW_JOURNAL, bind, forge
from forgery.report import Report
from forgery.world import HERE, World, Worlds
from kit import Result

READERS: tuple[tuple[str, ...], ...] = (
    *(
        ("list", "--json"),
        ("load", "pdf"),
        ("load", "docx"),
        ("load", "old"),
        ("doctor", "--json"),
        ("verify", "--json"),
    ),
)
WRITERS: tuple[tuple[str, ...], ...] = (
    *(("sync", "--frozen"), ("sync",), ("update",), ("uninstall", "pdf"), ("link", "codex")),
)
KEEP_DOCUMENTS = {("sync", "--frozen"), ("sync",)}
TIMEOUT = 30


class ForgedState:
    """Tries, one forgery each."""

    def __init__(self, folder: Path) -> None:
        self.worlds = Worlds(folder)

    def attempt(self, place: str, seed: int, number: int, report: Report) -> None:
        """Forge a place and run every command: the readers on one copy, each writer on a copy of its own."""
        report.forgeries += 1
        with self._forged(place, seed, number) as (world, about, is_bound):
            self._run_readers(world, about, report, is_bound=is_bound)
        for words in WRITERS:
            with self._forged(place, seed, number) as (world, about, is_bound):
                wrong = self._run_writer(world, words, report, is_bound=is_bound, place=place)
                report.wrong += [f"{place} {number}: {about}: {' '.join(words)}: {line}" for line in wrong]

    def _forged(self, place: str, seed: int, number: int) -> "_Forged":
        return _Forged(self.worlds, place, random.Random(f"{seed} {place} {number}"), number)

    def _run_readers(self, world: World, about: str, report: Report, *, is_bound: bool) -> None:
        before, wrong = dict(world.all_files()) | world.documents(), report.wrong
        for words in READERS:
            for line in self._read(world, words, report, is_bound=is_bound):
                wrong.append(f"{about}: {' '.join(words)}: {line}")
        after = dict(world.all_files()) | world.documents()
        if changed := _difference(before, after):
            wrong.append(f"{about}: a reader changed {changed}")

    def _read(self, world: World, words: tuple[str, ...], report: Report, *, is_bound: bool) -> Iterator[str]:
        result = _run(world, words, report)
        if result is None or _is_defect(result):
            yield f"{result}"
        elif not is_bound and result.code == 0:
            yield from CLAIMS[words[0]](self.worlds, world, words, result)

    def _run_writer(
        self, world: World, words: tuple[str, ...], report: Report, *, is_bound: bool, place: str
    ) -> Iterator[str]:
        watched, documents = world.watched(), world.documents()
        edits = [data for name in ("pdf", "docx") for data in [(world.skill_files(name) or {}).get("SKILL.md")] if data]
        locked = self.worlds.locked_files(world)
        result = _run(world, words, report)
        if result is None or _is_defect(result):
            yield f"{result}"
            return
        if changed := _difference(watched, world.watched()):
            yield f"wrote outside: {changed}; {result}"
        if words in KEEP_DOCUMENTS and world.documents() != documents and not (is_bound and words == ("sync",)):
            yield f"changed manifest or lockfile: {result}"
        if result.code and "error: " not in result.stderr and "blocked" not in result.stdout + result.stderr:
            yield f"no reason given: {result}"
        if is_bound:
            return
        if place not in {"receipt", "internal folder"}:
            there = [path.read_bytes() for path in (world.work / HERE).rglob("SKILL.md") if path.is_file()]
            known = [files["SKILL.md"] for files in locked.values() if files]
            yield from (f"lost {edit!r}; {result}" for edit in edits if edit not in [*there, *known])
        if result.code == 0 and words[0] in {"sync", "update"}:
            # Without `--frozen`, an edit stays, and is named as one.
            named = set() if "--frozen" in words else _read_edited(result)
            yield from _unlike_lockfile(self.worlds, world, f"{result}", named=named)

        is_left = words[0] == "uninstall" and (world.work / HERE / "pdf").exists()
        if result.code == 0 and is_left and "the folder of pdf stays as a local skill" not in result.stderr:
            yield f"pdf is still there; {result}"


class _Forged:
    """A context manager: a copy of a world with one forgery, what was forged, and whether its journal is believed."""

    def __init__(self, worlds: Worlds, place: str, chance: random.Random, number: int) -> None:
        self.worlds, self.place, self.chance, self.number = worlds, place, chance, number

    def __enter__(self) -> tuple[World, str, bool]:
        is_interrupted = self.place in BELOW_JOURNAL or self.number % 3 == 0
        self._copy = self.worlds.copy(self.worlds.interrupted if is_interrupted else self.worlds.well)
        world = self._copy.__enter__()
        about = forge(world, self.worlds, self.place, self.chance, self.number)
        is_bound = is_interrupted and self.number % 6 == 3 and bind(world)
        return world, f"{about}{', interrupted' if is_interrupted else ''}{', bound' if is_bound else ''}", is_bound

    def __exit__(self, *error: object) -> None:
        self._copy.__exit__(None, None, None)


def _run(world: World, words: tuple[str, ...], report: Report) -> Result | None:
    """Run a command; return None if it did not end."""
    report.commands += 1
    try:
        result = world.run(*words, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return None
    report.refused += result.code != 0
    return result


def _is_defect(result: Result) -> bool:
    return result.code not in {0, 1, 2} or "Traceback" in result.stderr


def _difference(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def _is_locked(worlds: Worlds, world: World, name: str) -> bool:
    """Return whether what is at a skill's place is what the lockfile says, by git and the folders it names."""
    locked = worlds.locked_files(world)
    if name not in locked:
        return False
    if locked[name] is None:
        return (world.work / HERE / name).resolve() == world.work / "mine" / name
    return world.skill_files(name) == locked[name]


def _read_edited(result: Result) -> set[str]:
    """Return the skills that a result names as edited."""
    return {
        name
        for line in result.stderr.splitlines()
        if line.startswith("edited: ")
        for name in line.removeprefix("edited: ").partition(";")[0].split(", ")
    }


def _unlike_lockfile(worlds: Worlds, world: World, about: str, *, named: Collection[str] = ()) -> Iterator[str]:
    """Yield the locked skills of which something else is there without being `named`, and those named without cause."""
    for name in worlds.locked_files(world):
        is_locked = _is_locked(worlds, world, name)
        if is_locked and name in named:
            yield f"{name} is called edited, but is what is locked; {about}"
        if not is_locked and name not in named:
            yield f"{name} is not what is locked: {world.skill_files(name)}; {about}"


def _check_list(worlds: Worlds, world: World, words: tuple[str, ...], result: Result) -> Iterator[str]:
    locked = json.loads(world.read("skills.lock"))["skills"]
    for row in result.json["skills"]:
        if row["state"] not in {"installed", "locked"} or "locked" in row:
            continue
        entry = locked.get(row["name"])
        if entry is None or not _is_locked(worlds, world, row["name"]):
            yield f"shown as locked: {row}"
        elif row["digest"] != entry.get("digest", "") or entry["source"].get("commit", "") not in row["source"]:
            yield f"shown with another digest or source than the locked one: {row}"
        elif entry.get("version", row["version"]) != row["version"] or "9.9.9" in row["version"]:
            yield f"shown with another version than the locked one: {row}"


def _check_load(worlds: Worlds, world: World, words: tuple[str, ...], result: Result) -> Iterator[str]:
    path = world.work / HERE / words[1] / "SKILL.md"
    if "precious" in result.stdout:
        yield f"serves a file from outside: {result.stdout!r}"
    if not path.exists():
        return  # a registry may list another file of the directory by this name, as a local skill
    if (body := path.read_text().rpartition("---\n")[2].strip()) not in result.stdout:
        yield f"serves {result.stdout!r}, but there is {body!r}"


def _check_all(worlds: Worlds, world: World, words: tuple[str, ...], result: Result) -> Iterator[str]:
    yield from _unlike_lockfile(worlds, world, "reported as well")


CLAIMS: dict[str, Callable[[Worlds, World, tuple[str, ...], Result], Iterator[str]]] = {
    "list": _check_list,
    "load": _check_load,
    "doctor": _check_all,
    "verify": _check_all,
}
