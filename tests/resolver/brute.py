"""A brute-force search for all solutions, to compare the solver with."""

import random
from collections.abc import Iterator

from skillpm.core.versions import matches

Index = dict[str, dict[str, dict[str, str]]]
RANGES = ("*", "*", "1", "2", "3", ">=2", ">=1", "<3", "<2", "!=2")


def random_index(chance: random.Random) -> tuple[Index, dict[str, str]]:
    """Generate a small index with many conflicts, and requirements on it."""
    names = "abcdef"[: chance.randint(2, 6)]
    index = {
        name: {
            str(version): {
                other: chance.choice(RANGES) for other in chance.sample(names, chance.randint(0, min(3, len(names))))
            }
            for version in range(1, chance.randint(1, 4) + 1)
        }
        for name in names
    }
    return index, {name: chance.choice(RANGES) for name in chance.sample(names, chance.randint(1, min(3, len(names))))}


def answers(index: Index, asked: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yield every selection of versions that contains all required skills and satisfies all requirements.

    Names are decided as the resolver says that it does, each from its newest version on: the best answer comes first.
    """
    yield from _answers(index, {}, {name: [wanted] for name, wanted in sorted(asked.items())})


def best_answer(index: Index, asked: dict[str, str]) -> dict[str, str] | None:
    """Return the first solution, or None."""
    return next(answers(index, asked), None)


def _answers(index: Index, taken: dict[str, str], wanted: dict[str, list[str]]) -> Iterator[dict[str, str]]:
    name = next((name for name in wanted if name not in taken), None)
    if name is None:
        yield taken
        return
    for version in sorted(index.get(name, {}), key=int, reverse=True):
        choice = taken | {name: version}
        more = {other: list(ranges) for other, ranges in wanted.items()}
        for other, needed in index[name][version].items():
            more.setdefault(other, []).append(needed)
        if all(matches(needed, choice[other]) for other in choice for needed in more[other]):
            yield from _answers(index, choice, more)
