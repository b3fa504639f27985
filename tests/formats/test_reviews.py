"""`skills.reviews.json`: parsed strictly, written sorted, one review a line; and who has reviewed what."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError
from skillpm.formats.trust.reviews import (
    Review,
    ReviewFile,
    ReviewImport,
    count_reviews,
    find_last_reviewed,
    read_review_file,
    write_review_file,
)

FILE = "skills.reviews.json"
A, B = (Digest(f"sha256:{letter * 64}") for letter in "ab")
REVIEW = Review(skill=SkillName("pdf"), digest=A, criteria="safe-to-run", reviewer="Ada <ada@x>", date="2026-11-22")
ROW = {"skill": "pdf", "digest": A, "criteria": "safe-to-run", "reviewer": "Ada <ada@x>", "date": "2026-11-22"}
LINES = st.text(st.characters(categories=["L", "N", "P"], exclude_characters="\u061c"), min_size=1, max_size=30)
REVIEWS = st.builds(
    Review,
    skill=st.sampled_from([SkillName("pdf"), SkillName("docx")]),
    digest=st.sampled_from([A, B]),
    criteria=st.sampled_from(["safe-to-run", "safe-to-deploy"]),
    reviewer=LINES,
    date=st.dates().map(lambda date: date.isoformat()),
    notes=st.just("") | LINES,
)


@given(
    st.lists(REVIEWS, unique_by=lambda review: review.key, max_size=5),
    st.dictionaries(st.sampled_from(["safe-to-run", "no-network"]), LINES),
    st.lists(st.builds(ReviewImport, url=LINES.map("https://{}".format), digest=st.just(A)), max_size=2),
)
def test_what_is_written_is_read_again_and_the_order_does_not_matter(
    reviews: list[Review], criteria: dict[str, str], imports: list[ReviewImport]
) -> None:
    document = ReviewFile(criteria=criteria, reviews=tuple(reviews), imports=tuple(imports))
    text = write_review_file(document)

    again = read_review_file(text, FILE)

    assert write_review_file(again) == text
    assert sorted(again.reviews, key=repr) == sorted(reviews, key=repr)
    assert write_review_file(document.replace(reviews=tuple(reversed(reviews)))) == text


def test_one_review_is_one_line() -> None:
    document = ReviewFile(reviews=(REVIEW.replace(digest=B, notes="é"), REVIEW), criteria={"safe-to-run": "read"})

    assert write_review_file(document.with_import(ReviewImport(url="https://x/", digest=A))) == (
        "{\n"
        '  "version": 1,\n'
        '  "criteria": {"safe-to-run": "read"},\n'
        '  "reviews": [\n'
        f"    {json.dumps(ROW)},\n"
        f"    {json.dumps({**ROW, 'digest': B, 'notes': 'é'}, ensure_ascii=False)}\n"
        "  ],\n"
        '  "imports": [\n'
        f'    {{"url": "https://x/", "digest": "{A}"}}\n'
        "  ]\n"
        "}\n"
    )
    assert write_review_file(ReviewFile()) == '{\n  "version": 1,\n  "reviews": []\n}\n'


def test_a_person_reviews_a_content_once() -> None:
    document = ReviewFile().with_review(REVIEW).with_review(REVIEW.replace(date="2026-12-01"))

    assert document.reviews == (REVIEW.replace(date="2026-12-01"),)
    assert len(document.with_review(REVIEW.replace(criteria="safe-to-deploy")).reviews) == 2


@pytest.mark.parametrize(
    ("change", "message", "where"),
    [
        ({"version": 2}, "unsupported format 2; this version of skillpm reads up to 1", FILE),
        ({"more": 1}, "unknown key `more`; known keys: version, criteria, reviews, imports", f"{FILE}: more"),
        ({"reviews": [{**ROW, "x": 1}]}, None, f"{FILE}: reviews.0.x"),
        ({"reviews": [{**ROW, "digest": "x"}]}, None, f"{FILE}: reviews.0.digest"),
        ({"reviews": [{**ROW, "date": "2026-13-01"}]}, None, f"{FILE}: reviews.0.date"),
        ({"reviews": [{**ROW, "criteria": "Safe"}]}, None, f"{FILE}: reviews.0.criteria"),
        ({"reviews": [{**ROW, "reviewer": "Ada\u202egro.live"}]}, None, f"{FILE}: reviews.0.reviewer"),
        ({"reviews": [{**ROW, "reviewer": " "}]}, None, f"{FILE}: reviews.0.reviewer"),
        ({"reviews": [{**ROW, "notes": "a\nb"}]}, None, f"{FILE}: reviews.0.notes"),
        ({"reviews": [{**ROW, "skill": "PDF"}]}, None, f"{FILE}: reviews.0.skill"),
        ({"criteria": {"Safe": "x"}}, None, f"{FILE}: criteria.Safe"),
        ({"imports": [{"url": "file:///etc", "digest": A}]}, None, f"{FILE}: imports.0.url"),
        ({"imports": [{"url": "https://x/"}]}, "`digest` is missing", f"{FILE}: imports.0"),
    ],
)
def test_a_mistake_is_an_error_at_its_key(change: dict[str, Any], message: str | None, where: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_review_file(json.dumps({"version": 1, "reviews": [], **change}), FILE)

    assert caught.value.where == where
    assert message is None or caught.value.message == message


def test_reviews_count_by_person_content_and_name() -> None:
    reviews = [
        REVIEW,
        REVIEW.replace(criteria="safe-to-deploy"),
        REVIEW.replace(reviewer="ADA  <ada@x>"),
        REVIEW.replace(reviewer="Bo <bo@x>", criteria="safe-to-deploy"),
        REVIEW.replace(reviewer="Cy <cy@x>", digest=B),
        REVIEW.replace(reviewer="Di <di@x>", skill=SkillName("docx")),
    ]

    assert count_reviews(reviews, "pdf", A) == 2
    assert [count_reviews(reviews, name, B) for name in ("pdf", "docx")] == [1, 0]


def test_the_content_reviewed_last_comes_first() -> None:
    reviews = [REVIEW, REVIEW.replace(digest=B, date="2026-01-01"), REVIEW.replace(reviewer="Bo", date="2025-01-01")]

    assert find_last_reviewed(reviews, "pdf") == (A, B)
    assert find_last_reviewed(reviews, "docx") == ()
