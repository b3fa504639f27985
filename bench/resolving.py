"""How long resolving takes: 1,000 skills of 10 versions that each need 5 others, and 2,000 random small indexes.

    python bench/resolving.py

Each small index is also searched by brute force (tests/resolver/brute.py): the answer must be there when there is
one, and no name may be newer without an earlier one being older.
"""

import random
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from resolver.brute import best_answer, random_index
from resolver.catalogue import Catalogue, answer

from skillpm.formats.lockfile import Lockfile


def wide(skills: int, needs: int) -> tuple[Catalogue, dict[str, str]]:
    """Give skills that need each other in circles, and the first fifty of them as what is asked for."""
    chance = random.Random(7)  # noqa: S311  (chance that repeats)
    names = [f"skill-{number}" for number in range(skills)]
    index = {
        name: {f"1.{minor}.0": dict.fromkeys(chance.sample(names, needs), ">=1.2") for minor in range(10)}
        for name in names
    }
    return Catalogue(index), dict.fromkeys(names[:50], "^1")


def main() -> None:
    catalogue, asked = wide(1000, 5)
    start = time.perf_counter()
    taken = answer(catalogue, asked, Lockfile())
    seconds = time.perf_counter() - start
    assert isinstance(taken, dict)
    most = max(catalogue.asked.values())
    print(f"{len(taken)} skills: {seconds:.2f} s, {catalogue.calls} calls, at most {most} request a name")
    verdicts: Counter[str] = Counter()
    start = time.perf_counter()
    for seed in range(2000):
        index, asked = random_index(random.Random(seed))  # noqa: S311
        found, best = answer(Catalogue(index), asked, Lockfile()), best_answer(index, asked)
        assert (found if isinstance(found, dict) else None) == best, seed
        verdicts["conflict" if best is None else "answer"] += 1
    print(f"2000 random indexes: {dict(verdicts)}, all as brute force says, {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
