"""The page of a forge that compares two commits: a plain https address, or none."""

import pytest

from skillpm.kinds.base import Pin
from skillpm.kinds.bundled import BundledPin
from skillpm.kinds.git import GitPin

OLD, NEW = "a" * 30, "b" * 30


def pin(url: str, commit: str) -> GitPin:
    return GitPin(url=url, commit=commit, tree="c" * 30)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/acme/skills", f"https://github.com/acme/skills/compare/{OLD}...{NEW}"),
        ("git@github.com:acme/skills.git", f"https://github.com/acme/skills/compare/{OLD}...{NEW}"),
        ("ssh://git@github.com/acme/skills", f"https://github.com/acme/skills/compare/{OLD}...{NEW}"),
        ("https://gitlab.com/a/b/c", f"https://gitlab.com/a/b/c/-/compare/{OLD}...{NEW}"),
        ("https://gitlab.acme.example/a/b", f"https://gitlab.acme.example/a/b/-/compare/{OLD}...{NEW}"),
        ("https://codeberg.org/a/b", f"https://codeberg.org/a/b/compare/{OLD}...{NEW}"),
        ("https://bitbucket.org/a/b", f"https://bitbucket.org/a/b/branches/compare/{NEW}..{OLD}"),
        ("https://git.acme.example/a/b", ""),
        ("https://github.com/a/b)[x](javascript:y", ""),
        ("https://github.com/a/../b", ""),
        ("https://github.com/a", ""),
        ("file:///srv/github.com/a/b", ""),
    ],
)
def test_the_page_of_a_known_host(url: str, expected: str) -> None:
    assert pin(url, NEW).compare_url(pin(url, OLD)) == expected


def test_there_is_no_page_without_two_commits_of_one_repository() -> None:
    github = pin("https://github.com/a/b", OLD)

    others: list[Pin] = [github, pin("https://github.com/a/other", NEW), BundledPin(name="pdf")]
    assert [other.compare_url(github) or github.compare_url(other) for other in others] == [""] * 3
