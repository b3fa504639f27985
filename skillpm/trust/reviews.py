"""Reviews of a content, and the number of their reviewers."""

from collections.abc import Iterable

from skillpm.formats.trust.reviews import Review


def find_reviews(reviews: Iterable[Review], name: str, digest: str, criteria: str = "") -> tuple[Review, ...]:
    """Return the reviews of a content under a name; with `criteria`, only those that attest it."""
    return tuple(
        review
        for review in reviews
        if (review.skill, review.digest) == (name, digest) and criteria in {"", review.criteria}
    )


def count_reviews(reviews: Iterable[Review], name: str, digest: str, criteria: str = "") -> int:
    """Return the number of different reviewers of a content. Case and spaces in names are ignored."""
    found = find_reviews(reviews, name, digest, criteria)
    return len({" ".join(review.reviewer.casefold().split()) for review in found})


def find_last_reviewed(reviews: Iterable[Review], name: str) -> tuple[str, ...]:
    """Return the digests of a skill that were reviewed, the latest first."""
    dated = sorted((review for review in reviews if review.skill == name), key=lambda each: (each.date, each.digest))
    return tuple(dict.fromkeys(review.digest for review in reversed(dated)))
