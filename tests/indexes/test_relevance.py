"""Queries as people type them, and what has to be among the first three (searching/cases.json)."""

import json
from pathlib import Path
from typing import Any

import pytest

from skillpm.formats.catalog_stream import CatalogStream
from skillpm.indexes.search.database import build_in_memory
from skillpm.indexes.search.full_text import SearchDatabase
from skillpm.indexes.search.query import edit_distance, nearest_words, parse_query

DATA = Path(__file__).parent / "searching"
CASES = json.loads((DATA / "cases.json").read_text())


@pytest.fixture(scope="module")
def catalogue() -> SearchDatabase:
    return build_in_memory(CatalogStream([(DATA / "catalogue.json").read_bytes()], "index.json", is_skillpm_index=True))


def nothing_hidden(_: str) -> bool:
    return False


def names(catalogue: SearchDatabase, text: str, hidden: frozenset[str] = frozenset()) -> list[str]:
    """Look as the command does: for all words, for words alike, for some of them."""
    query, hides = parse_query(text), hidden.__contains__
    meant = catalogue.suggest_words(query.words, hides)
    for hits in (
        catalogue.search_all_words(query, 100, hides),
        catalogue.search_all_words(query, 100, hides, meant),
        catalogue.search_any_word(query, 100, hides, meant),
    ):
        if hits.total:
            assert hits.total == len(hits.best)
            return [hit.entry.name for hit in hits.best]
    return []


def test_there_are_at_least_twenty() -> None:
    assert len(CASES) >= 20


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["query"])
def test_what_is_meant_is_among_the_first_three(catalogue: SearchDatabase, case: dict[str, Any]) -> None:
    first = names(catalogue, case["query"])[:3]
    assert [name for name in case["among_the_first_three"] if name not in first] == [], first


def test_the_tiers_stand_in_their_order(catalogue: SearchDatabase) -> None:
    """A name; names that begin so; names that have the word; tags; descriptions."""
    assert names(catalogue, "pdf") == ["pdf", "pdf-compress", "pdf-form-filler"]
    found = names(catalogue, "code")
    assert set(found[:3]) == {"code-review", "code-explainer", "code-reviewer-rust"}
    assert found[3] == "receiving-code-review"
    assert set(found[4:]) == {"api-design", "openapi", "tdd", "terraform"}
    assert names(catalogue, "rust") == ["code-reviewer-rust"]


def test_a_word_that_is_not_finished_finds_the_short_name_first(catalogue: SearchDatabase) -> None:
    assert names(catalogue, "kube") == ["kubernetes", "kubernetes-secrets"]


def test_capital_letters_accents_and_order_do_not_count(catalogue: SearchDatabase) -> None:
    assert names(catalogue, "REVIEW Code") == names(catalogue, "review code")
    assert names(catalogue, "pdf fórm") == names(catalogue, "form pdf") == ["pdf-form-filler", "pdf"]


@pytest.mark.parametrize(
    "text",
    [
        '"', '""', "*", "pdf*", '"pdf', 'pdf"', "pdf -form", "NEAR(pdf form)", "NEAR", "pdf AND form", "pdf OR", "NOT",
        "name : pdf", "{name} : pdf", "^pdf", "pdf + form", "(pdf", "pdf)", "';--", "\\", "%", "_", "\x00", "\x1b[2J",
        "\u202e", "\ud800", "a" * 5000, "pdf " * 5000, "é", "日本語", "🦜", "",
    ],
    ids=ascii,
)  # fmt: skip
def test_nothing_that_is_typed_is_a_command_to_the_database(catalogue: SearchDatabase, text: str) -> None:
    for name in names(catalogue, text):
        assert catalogue.has(name)


def test_signs_are_passed_over(catalogue: SearchDatabase) -> None:
    for text in ('"pdf"', "pdf*", "-pdf", "^pdf", "pdf;", "(pdf"):
        assert names(catalogue, text) == names(catalogue, "pdf"), text
    assert names(catalogue, "*** --") == []


def test_what_is_hidden_is_not_found_not_suggested_and_not_counted(catalogue: SearchDatabase) -> None:
    hidden = frozenset({"kubernetes", "kubernetes-secrets"})

    assert names(catalogue, "kubernetes", hidden) == names(catalogue, "kuberntes", hidden) == []
    assert catalogue.search_all_words(parse_query("k8s"), 1, hidden.__contains__).total == 1
    assert catalogue.suggest_names("kubernets", 3, hidden.__contains__) == ()
    assert catalogue.suggest_names("kubernets", 3, nothing_hidden) == ("kubernetes",)


def test_only_the_best_are_given_and_all_are_counted(catalogue: SearchDatabase) -> None:
    hits = catalogue.search_all_words(parse_query("browser"), 2, nothing_hidden)

    assert (len(hits.best), hits.total) == (2, 3)


@pytest.mark.parametrize(
    ("one", "other", "slips"),
    [
        ("pdf", "pdf", 0), ("pdf", "pfd", 1), ("pdf", "pd", 1), ("pdf", "pdfs", 1), ("pdf", "pdx", 1),
        ("review", "reveiw", 1), ("review", "revew", 1), ("kitten", "sitting", 3), ("", "ab", 2), ("ca", "abc", 3),
    ],
)  # fmt: skip
def test_slips_are_counted(one: str, other: str, slips: int) -> None:
    assert edit_distance(one, other, 9) == edit_distance(other, one, 9) == slips
    for limit in range(slips):
        assert edit_distance(one, other, limit) > limit


def test_a_rare_word_is_no_meaning_beside_a_common_one() -> None:
    assert nearest_words("pfd", [("pdf", 100), ("pod", 3), ("prd", 80), ("xfd", 500)], 4) == ("pdf", "prd")
    assert nearest_words("ab", [("abc", 9)], 4) == ()
