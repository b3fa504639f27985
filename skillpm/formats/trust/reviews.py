"""`skills.reviews.json`: the reviews of the contents of skills (docs/formats.md, "skills.reviews.json").

The digest says which bytes were read, so a review applies wherever they come from. One review is one line of the file:
two people who review different skills change different lines.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from skillpm.core.digest import Digest
from skillpm.core.json_text.decoder import JsonNode, parse_json
from skillpm.core.names import SkillName
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import HIDDEN
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.trust.audit_settings import DATE

FORMAT = 1
SAFE_TO_RUN = "safe-to-run"
CRITERIA = lazy_pattern(r"[a-z0-9]+(-[a-z0-9]+)*")
MAX_REVIEWER, MAX_NOTES = 200, 2_000


class Review(Value):
    """One person's approval of one content."""

    skill: SkillName
    digest: Digest
    criteria: str
    reviewer: str
    # `2026-11-22`.
    date: str
    notes: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The sort key of a review, which is unique."""
        return (self.skill, self.digest, self.reviewer, self.criteria)


class ReviewImport(Value):
    """The reviews of another organization: exactly the file with this digest."""

    url: str
    digest: Digest


class ReviewFile(Value):
    """A parsed `skills.reviews.json`."""

    # What each criterion means, in the project's own words.
    criteria: Mapping[str, str] = EMPTY_MAPPING
    reviews: tuple[Review, ...] = ()
    imports: tuple[ReviewImport, ...] = ()

    def with_review(self, review: Review) -> "ReviewFile":
        """Return the file with a review added; it replaces an older one of the same reviewer for the same content."""
        return self.replace(reviews=(*(each for each in self.reviews if each.key != review.key), review))

    def with_import(self, imported: ReviewImport) -> "ReviewFile":
        """Return the file with an import added, which replaces an older one of the same URL."""
        return self.replace(imports=(*(each for each in self.imports if each.url != imported.url), imported))


def read_review_file(text: str, file: str) -> ReviewFile:
    """Parse a file of reviews. Raises `DocumentError` with the invalid key."""
    top = parse_json(text, file)
    top.check_format(FORMAT)
    top.check_keys("version", "criteria", "reviews", "imports")
    criteria, reviews, imports = top.get("criteria"), top.require("reviews"), top.get("imports")
    return ReviewFile(
        criteria={}
        if criteria is None
        else {_read_criterion(key, node): node.text() for key, node in criteria.items()},
        reviews=tuple(_read_review(node) for node in reviews.elements()),
        imports=() if imports is None else tuple(_read_import(node) for node in imports.elements()),
    )


def write_review_file(document: ReviewFile) -> str:
    """Return the text of a file of reviews: sorted, one review a line; equal documents have equal bytes."""
    criteria: dict[str, Any] = {"criteria": dict(sorted(document.criteria.items()))} if document.criteria else {}
    rows = {"reviews": [_review_value(review) for review in sorted(document.reviews, key=lambda each: each.key)]}
    if document.imports:
        imports = sorted(document.imports, key=lambda each: each.url)
        rows["imports"] = [{"url": each.url, "digest": each.digest} for each in imports]
    members = [f"  {json.dumps(key)}: {_dump(value)}" for key, value in {"version": FORMAT, **criteria}.items()]
    members += [f"  {json.dumps(key)}: {_dump_rows(values)}" for key, values in rows.items()]
    return "{\n" + ",\n".join(members) + "\n}\n"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _dump_rows(values: list[dict[str, str]]) -> str:
    return "[\n" + ",\n".join(f"    {_dump(value)}" for value in values) + "\n  ]" if values else "[]"


def _review_value(review: Review) -> dict[str, str]:
    keys = ("skill", "digest", "criteria", "reviewer", "date", "notes")
    return {key: value for key in keys if (value := getattr(review, key))}


def _read_review(node: JsonNode) -> Review:
    node.check_keys("skill", "digest", "criteria", "reviewer", "date", "notes")
    criteria, date, notes = node.require("criteria"), node.require("date"), node.get("notes")
    if not DATE.fullmatch(date.text()):
        date.raise_expected("a date like 2026-11-22")
    return Review(
        skill=node.require("skill").skill_name(),
        digest=node.require("digest").digest(),
        criteria=_read_criterion(criteria.text(), criteria),
        reviewer=read_line(node.require("reviewer"), MAX_REVIEWER),
        date=date.text(),
        notes="" if notes is None else read_line(notes, MAX_NOTES),
    )


def read_line(node: JsonNode, limit: int) -> str:
    """Return a text of one line: people who read a file of reviews must see all of it."""
    text = node.text()
    is_plain = text.strip() and len(text) <= limit and not HIDDEN.search(text)
    return text if is_plain else node.raise_expected(f"a line of text without hidden characters, at most {limit}")


def _read_criterion(text: str, node: JsonNode) -> str:
    return text if CRITERIA.fullmatch(text) else node.raise_expected("a criterion like `safe-to-run`")


def _read_import(node: JsonNode) -> ReviewImport:
    node.check_keys("url", "digest")
    url = node.require("url")
    if not url.text().startswith(("https://", "http://")) or HIDDEN.search(url.text()):
        url.raise_expected("an address that begins with https://")
    return ReviewImport(url=url.text(), digest=node.require("digest").digest())


def find_reviews(reviews: Iterable[Review], name: str, digest: str) -> tuple[Review, ...]:
    """Return the reviews of a content under a name."""
    return tuple(review for review in reviews if (review.skill, review.digest) == (name, digest))


def count_reviews(reviews: Iterable[Review], name: str, digest: str) -> int:
    """Return the number of different reviewers of a content. Case and spaces in names are ignored."""
    found = find_reviews(reviews, name, digest)
    return len({" ".join(review.reviewer.casefold().split()) for review in found})


def find_last_reviewed(reviews: Iterable[Review], name: str) -> tuple[str, ...]:
    """Return the digests of a skill that were reviewed, the latest first."""
    dated = sorted((review for review in reviews if review.skill == name), key=lambda each: (each.date, each.digest))
    return tuple(dict.fromkeys(review.digest for review in reversed(dated)))
