"""Realistic queries, and the skills that must be among the first three results (searching/cases.json)."""

import json
from pathlib import Path
from typing import Any

import pytest

from skillpm.formats.searched_catalog import read_searched_catalog
from skillpm.indexes.search.database import build_in_memory
from skillpm.indexes.search.full_text import SearchDatabase
from skillpm.indexes.search.query import edit_distance, nearest_words, parse_query

DATA = Path(__file__).parent / "searching"
CASES = json.loads((DATA / "cases.json").read_text())


@pytest.fixture(scope="module")
def catalog() -> SearchDatabase:
    data = (DATA / "catalogue.json").read_bytes()
    return build_in_memory(read_searched_catalog(data, "index.json", is_skillpm_index=True).entries)


def nothing_hidden(_: str) -> bool:
    return False


def names(catalog: SearchDatabase, text: str, hidden: frozenset[str] = frozenset()) -> list[str]:
    """Search like the command: for all words, for similar words, for any word."""
    query, is_hidden = parse_query(text), hidden.__contains__
    corrections = catalog.suggest_words(query.words, is_hidden)
    for hits in (
        catalog.search_all_words(query, 100, is_hidden),
        catalog.search_all_words(query, 100, is_hidden, corrections),
        catalog.search_any_word(query, 100, is_hidden, corrections),
    ):
        if hits.total:
            assert hits.total == len(hits.best)
            return [hit.entry.name for hit in hits.best]
    return []


def test_there_are_at_least_twenty_cases() -> None:
    assert len(CASES) >= 20


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["query"])
def test_the_expected_skills_are_among_the_first_three(catalog: SearchDatabase, case: dict[str, Any]) -> None:
    first = names(catalog, case["query"])[:3]
    assert [name for name in case["among_the_first_three"] if name not in first] == [], first


def test_results_are_ordered_by_tier(catalog: SearchDatabase) -> None:
    """The name; names that begin with it; names that contain the word; tags; descriptions."""
    assert names(catalog, "pdf") == ["pdf", "pdf-compress", "pdf-form-filler"]
    found = names(catalog, "code")
    assert set(found[:3]) == {"code-review", "code-explainer", "code-reviewer-rust"}
    assert found[3] == "receiving-code-review"
    assert set(found[4:]) == {"api-design", "openapi", "tdd", "terraform"}
    assert names(catalog, "rust") == ["code-reviewer-rust"]


def test_an_unfinished_word_ranks_the_shorter_name_first(catalog: SearchDatabase) -> None:
    assert names(catalog, "kube") == ["kubernetes", "kubernetes-secrets"]


def test_case_accents_and_order_are_ignored(catalog: SearchDatabase) -> None:
    assert names(catalog, "REVIEW Code") == names(catalog, "review code")
    assert names(catalog, "pdf fórm") == names(catalog, "form pdf") == ["pdf-form-filler", "pdf"]


@pytest.mark.parametrize(
    "text",
    [
        '"', '""', "*", "pdf*", '"pdf', 'pdf"', "pdf -form", "NEAR(pdf form)", "NEAR", "pdf AND form", "pdf OR", "NOT",
        "name : pdf", "{name} : pdf", "^pdf", "pdf + form", "(pdf", "pdf)", "';--", "\\", "%", "_", "\x00", "\x1b[2J",
        "\u202e", "\ud800", "a" * 5000, "pdf " * 5000, "é", "日本語", "🦜", "",
    ],
    ids=ascii,
)  # fmt: skip
def test_queries_cannot_contain_fts5_syntax(catalog: SearchDatabase, text: str) -> None:
    for name in names(catalog, text):
        assert catalog.has(name)


def test_punctuation_is_ignored(catalog: SearchDatabase) -> None:
    for text in ('"pdf"', "pdf*", "-pdf", "^pdf", "pdf;", "(pdf"):
        assert names(catalog, text) == names(catalog, "pdf"), text
    assert names(catalog, "*** --") == []


def test_hidden_skills_are_neither_found_nor_suggested_nor_counted(catalog: SearchDatabase) -> None:
    hidden = frozenset({"kubernetes", "kubernetes-secrets"})

    assert names(catalog, "kubernetes", hidden) == names(catalog, "kuberntes", hidden) == []
    assert catalog.search_all_words(parse_query("k8s"), 1, hidden.__contains__).total == 1
    assert catalog.suggest_names("kubernets", 3, hidden.__contains__) == ()
    assert catalog.suggest_names("kubernets", 3, nothing_hidden) == ("kubernetes",)


def test_the_best_results_are_returned_and_all_are_counted(catalog: SearchDatabase) -> None:
    hits = catalog.search_all_words(parse_query("browser"), 2, nothing_hidden)

    assert (len(hits.best), hits.total) == (2, 3)


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [
        ("pdf", "pdf", 0), ("pdf", "pfd", 1), ("pdf", "pd", 1), ("pdf", "pdfs", 1), ("pdf", "pdx", 1),
        ("review", "reveiw", 1), ("review", "revew", 1), ("kitten", "sitting", 3), ("", "ab", 2), ("ca", "abc", 3),
    ],
)  # fmt: skip
def test_edit_distance(one: str, other: str, edits: int) -> None:
    assert edit_distance(one, other, 9) == edit_distance(other, one, 9) == edits
    for limit in range(edits):
        assert edit_distance(one, other, limit) > limit


def test_rare_words_are_not_suggested_beside_frequent_ones() -> None:
    assert nearest_words("pfd", [("pdf", 100), ("pod", 3), ("prd", 80), ("xfd", 500)], 4) == ("pdf", "prd")
    assert nearest_words("ab", [("abc", 9)], 4) == ()
