"""The solver's solutions of random problems, compared with those of a brute-force search."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from resolver.brute import Index, answers, best_answer, random_index
from resolver.catalogue import Catalogue, answer

from skillpm.errors import SkillpmError
from skillpm.formats.lockfile import Lockfile

indexes = st.integers(0, 2**32).map(lambda seed: random_index(random.Random(seed)))


@settings(max_examples=300)
@given(indexes)
def test_the_best_solution_is_found_if_one_exists(question: tuple[Index, dict[str, str]]) -> None:
    index, asked = question
    catalogue = Catalogue(index)

    found = answer(catalogue, asked, Lockfile())

    best = best_answer(index, asked)
    assert (None if isinstance(found, SkillpmError) else found) == best
    assert max(catalogue.asked.values(), default=0) <= 1


@settings(max_examples=200)
@given(indexes, st.integers(0, 2**32))
def test_a_locked_solution_is_kept(question: tuple[Index, dict[str, str]], seed: int) -> None:
    index, asked = question
    known = list(answers(index, asked))
    if known:
        earlier = random.Random(seed).choice(known)
        locked = Catalogue(index).lockfile(asked, earlier)
        # Asked for otherwise than it was locked, so that nothing is taken on trust.
        otherwise = {name: wanted if wanted != "*" else ">=0" for name, wanted in asked.items()}
        assert answer(Catalogue(index), otherwise, locked) == earlier


def test_a_thousand_skills_are_queried_once_each_and_in_batches() -> None:
    chance = random.Random(7)
    names = [f"skill-{number}" for number in range(1000)]
    needs = {name: dict.fromkeys(chance.sample(names, 5), ">=1.2") for name in names}
    catalogue = Catalogue({name: {f"1.{minor}.0": needs[name] for minor in range(5)} for name in names})

    found = answer(catalogue, dict.fromkeys(names[:50], "^1"), Lockfile())

    assert isinstance(found, dict)
    assert set(found.values()) == {"1.4.0"}
    assert max(catalogue.asked.values()) == 1
    assert catalogue.calls < 12
