"""One wrong byte anywhere in what skillpm keeps: it is detected, repaired or harmless, and never installed in silence.

Each try takes a copy of a world that is well, spoils one byte of one file, and lets people go on. What they then have
below a skill's name is what was published under it, to the byte; every reported error has a way to continue.
"""

import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crash.flip_worlds import EDITED, JOURNAL, MINE, OURS, WANTED, Worlds
from crash.stories import HERE, World
from kit import GitServer, Result

EDIT = b"---\nname: testing\ndescription: Mine.\n---\nmy edit\n"
# Where a byte is spoilt, and how often of all tries.
PLACES = {
    "store": 2,
    "git": 3,
    "receipt": 3,
    "journal": 3,
    "staging": 3,
    "lockfile": 3,
    "registry": 2,
    "stat cache": 1,
    "answers of indexes": 1,
    "catalogues": 1,
}
FILES = {
    "store": "../cache/v1/store",
    "git": "../cache/v1/git",
    "answers of indexes": "../cache/v1/indexes",
    "catalogues": "../cache/v1/search",
    "staging": f"{OURS}/staging",
    "receipt": f"{OURS}/receipt.json",
    "journal": JOURNAL,
    "lockfile": "skills.lock",
    "registry": f"{HERE}/skills.json",
    "stat cache": f"{OURS}/scan.json",
}
READERS: tuple[tuple[str, ...], ...] = (("list",), ("load", "red-0"), ("search", "says"))


@dataclass
class Report:
    """Outcomes by the location of the byte: detected, repaired or harmless; and forbidden ones."""

    ends: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[list[object]]:
        """Return the outcomes as a table."""
        words = ("detected", "repaired", "harmless")
        return [[place, *(self.ends[place, end] for end in words)] for place in PLACES]


class Flips:
    """Tries, one byte each."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds
        self.calm = [worlds.well.run(*words) for words in READERS]

    def flip(self, chance: random.Random) -> tuple[str, str, list[str]]:
        """Spoil a byte; give where, what came of it, and what must not be."""
        place = chance.choices([*PLACES], weights=[*PLACES.values()])[0]
        with self.worlds.copy(
            self.worlds.interrupted if place in {"journal", "staging"} else self.worlds.well
        ) as world:
            is_edited = place in {"receipt", "lockfile", "registry", "stat cache"} and chance.random() < 0.4
            if is_edited:
                world.write(f"{HERE}/{EDITED}/SKILL.md", EDIT)
            self._make_needed(world, place)
            path, before, what = _spoilt(world.work / FILES[place], chance)
            output = [*self._go_on(world, place)]
            wrong = [f"{words}: {answer}" for words, answer in output if _is_defect(answer)]
            wrong += self._seen_wrong(world, place, before, output) if not is_edited else []
            wrong += self._installed_wrong(world, is_edited=is_edited)
            report, last = [answer for words, answer in output if words[0] in {"sync", "update"}], output[-1][1]
            is_same = path.exists() and path.read_bytes() != before
            refused = any(answer.code and "blocked by local changes" not in answer.stderr for answer in report)
            wrong += self._ways_on(world, place, (path, before), is_edited=is_edited, output=output)
            wrong += [f"in the end: {line}" for line in self._installed_wrong(world, is_edited=is_edited)]
            end = "detected" if refused else "harmless" if is_same else "repaired"
            about = (
                f"{place}, {path.relative_to(world.root)} {what}{', edited' if is_edited else ''}, {end}, {last.stderr}"
            )
            return place, end, [f"{about}: {line}" for line in wrong]

    def _make_needed(self, world: World, place: str) -> None:
        """Make commands read the file: a cache that nothing needs is not read."""
        if place in {"store", "git"}:
            for name in (*WANTED, ".skillpm"):
                shutil.rmtree(world.work / HERE / name)
        if place == "git":
            shutil.rmtree(world.cache / "v1/store")
        if place in {"stat cache", "registry"}:
            world.run("sync")  # in a copy all files have other times

    def _go_on(self, world: World, place: str) -> Iterator[tuple[tuple[str, ...], Result]]:
        """Read, and then write, as people do who know of nothing."""
        readers = READERS if place in {"catalogues", "answers of indexes"} else (*READERS[:2], ("registry", "check"))
        writers: tuple[tuple[str, ...], ...] = (("sync", "--frozen"),) if place in {"store", "git"} else (("sync",),)
        if place == "answers of indexes":
            writers = (("outdated",), ("update",))
        for words in (*readers, *writers):
            yield words, world.run(*words)

    def _seen_wrong(
        self, world: World, place: str, before: bytes, output: list[tuple[tuple[str, ...], Result]]
    ) -> Iterator[str]:
        """Compare what readers see: a damaged registry or stat cache is reported and otherwise invisible."""
        if place not in {"registry", "stat cache", "catalogues"}:
            return
        for (words, answer), calm in zip(output, self.calm, strict=False):
            if words in READERS and answer.stdout.replace(str(world.root), str(self.worlds.well.root)) != calm.stdout:
                yield f"{words} says {answer.stdout}"
        now = (world.work / FILES["registry"]).read_bytes()
        if place == "registry" and now != before:
            yield f"the registry is wrong after {output[-1]}"
        if place == "registry" and dict(output)["registry", "check"].code == 0:
            yield f"registry check found nothing, then {output[-1]}"

    def _ways_on(
        self,
        world: World,
        place: str,
        spoilt: tuple[Path, bytes],
        *,
        is_edited: bool,
        output: list[tuple[tuple[str, ...], Result]],
    ) -> Iterator[str]:
        """Look at what is there now; where a command refused, whether the ways that lead on do so."""
        words, last = output[-1]
        report = [f"{' '.join(words)} printed {last}"]
        if is_edited and last.code == 0 and (world.work / HERE / EDITED / "SKILL.md").read_bytes() != EDIT:
            yield f"the edit is gone without a word: {last}"
        if last.code:
            if place == "lockfile":
                spoilt[0].write_bytes(spoilt[1])  # it is in git
            else:
                report.append(f"then doctor --fix: {world.run('doctor', '--fix')}")
            last = world.run("sync", "--force")
            report.append(f"then sync --force: {last}")
        if last.code:
            yield f"there is no way on: {report}"
            return
        for check in (("verify",), ("registry", "check"), ("sync", "--frozen")):
            answer = world.run(*check)
            is_an_edit = is_edited and (world.work / HERE / EDITED / "SKILL.md").read_bytes() == EDIT
            if answer.code and not (is_an_edit and check[0] != "registry"):
                yield f"{check} afterwards: {answer}; {report}"
        texts = [path.read_text("utf-8", "replace") for path in (world.work / HERE).glob("*/SKILL.md")]
        declared = {text.partition("name: ")[2].partition("\n")[0] for text in texts}
        for name in WANTED:
            # A lockfile whose key has another letter renames the skill of an include, and a warning says so.
            if name not in declared:
                yield f"{name} is not there; {report}"

    def _installed_wrong(self, world: World, *, is_edited: bool) -> Iterator[str]:
        """Compare every byte of every skill with what was published under its name."""
        for folder in sorted((world.work / HERE).iterdir()):
            if folder.name.startswith(".") or not folder.is_dir():
                continue
            there = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            right = self.worlds.published.get(folder.name, [])
            if not right and (declared := re.search(rb"(?m)^name: (.*)$", there.get("SKILL.md", b""))):
                # A changed letter in the lockfile's key is another name for the same content, as with `--as`.
                right = self.worlds.published.get(declared[1].decode(), [])
            if folder.name == "mine":
                right = [{path.removeprefix(f"{HERE}/mine/"): data for path, data in MINE.items()}]
            if is_edited and folder.name == EDITED:
                right = [*right, {**right[0], "SKILL.md": EDIT}]
            if there not in right:
                yield f"{folder.name} holds what was never published: {sorted(there)}"
        if not (world.work / HERE / "mine/SKILL.md").exists():
            yield "mine is gone"
        found = (path.read_bytes() for path in (world.work / HERE).rglob("SKILL.md"))
        if is_edited and EDIT not in found:
            yield "the edit is gone"


def _is_defect(answer: Result) -> bool:
    return answer.code not in {0, 1, 2} or "Traceback" in answer.stderr


def _spoilt(place: Path, chance: random.Random) -> tuple[Path, bytes, str]:
    """Change one byte of a file, or of one in a folder; give the file, what it was, and what was done."""
    found = [path for path in sorted(place.rglob("*")) if path.is_file() and path.stat().st_size]
    files = [path for path in found if path.suffix not in {".lock", ".pid"}] or [place]
    path = chance.choice(files)
    before = path.read_bytes()
    at, bits = chance.randrange(len(before)), chance.randrange(1, 256)
    path.chmod(0o644)
    path.write_bytes(before[:at] + bytes([before[at] ^ bits]) + before[at + 1 :])
    return path, before, f"byte {at} ^ {bits}, after {before[max(0, at - 20) : at + 1]!r}"


def tried(folder: Path, *, count: int, seed: int) -> Report:
    """Try so many bytes; say what came of them."""
    report, chance = Report(), random.Random(seed)
    with GitServer() as server:
        flips = Flips(Worlds(folder, server))
        for _ in range(count):
            place, end, wrong = flips.flip(chance)
            report.ends[place, end] += 1
            report.wrong += wrong
    return report
