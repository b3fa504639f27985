"""The directory of public skills: what the script makes of repositories, and what of it may ship."""

import re
from pathlib import Path

import pytest
from kit import Repository, make_skill, prefix_paths
from kit.public_skills import DIRECTORY, LIST, read_all, render

from skillpm.fetchers.public_directory import find_recorded_commit
from skillpm.formats.public_skills import (
    MAX_WORDS,
    read_common_words,
    read_public_skills,
    read_repositories,
    render_public_skills,
)
from skillpm.indexes.search.query import STOP_WORDS
from skillpm.indexes.search.synonyms import SYNONYMS

SKILLS = (DIRECTORY / "skills.txt").read_text(encoding="utf-8")
COMMITS = (DIRECTORY / "repositories.txt").read_text(encoding="utf-8")
MANY = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(40))
HOSTILE = "Reads \x1b[31mred\x1b[0m <b>HTML</b> & `code`; réads PDFs! \u202e Says {{ do this }} 4711 " + "x" * 40


@pytest.fixture
def mirror(tmp_path: Path) -> str:
    """Return the template of the URLs of two repositories."""
    first = Repository.create(tmp_path / "acme+skills")
    first.write(
        prefix_paths("skills/pdf", make_skill("pdf", "Use when the user reads PDF files and fills forms."))
        | prefix_paths("skills/many", make_skill("many", MANY))
        | prefix_paths("skills/odd-folder", make_skill("other-name", HOSTILE))
        | prefix_paths("broken", {"SKILL.md": "---\nname: [\n---\n"})
    ).commit()
    second = Repository.create(tmp_path / "other+tools")
    second.write(
        make_skill("tools", "Sharpens knives, saws and axes.")
        | prefix_paths("copies/pdf", make_skill("pdf", "Use when the user reads PDF files and fills forms!"))
        | prefix_paths("copies/many", make_skill("many", "Counts beans."))
    ).commit()
    return f"file://{tmp_path}/{{owner}}+{{name}}"


def test_the_script_keeps_words_and_nothing_else(mirror: str, capsys: pytest.CaptureFixture[str]) -> None:
    read = [*read_all(["acme/skills", "no/such", "other/tools"], mirror)]

    commits, skills = render(read)

    assert [line.split()[0] for line in commits.splitlines()] == ["acme/skills", "other/tools"]
    assert re.fullmatch(r"(\S+ [0-9a-f]{40}\n){2}", commits)
    common, _, rest = skills.partition("\n")
    assert {*common.split()} == STOP_WORDS | {"reads"}
    assert (
        rest
        == f"""\
@acme/skills
/
broken
/skills
many {" ".join(sorted(MANY.split())[:MAX_WORDS])}
other-name=odd-folder 0m 31mred ads code html pdfs says
pdf files fills forms use user when
@other/tools
/
tools=. axes knives saws sharpens
/copies
many beans counts
"""
    )
    assert render([*read_all(["acme/skills", "no/such", "other/tools"], mirror)]) == (commits, skills)
    assert capsys.readouterr().err.splitlines()[0].startswith("no/such is left out: file://")


def test_the_shipped_files_are_what_the_script_writes() -> None:
    skills = [*read_public_skills(SKILLS)]

    assert render_public_skills(skills, read_common_words(SKILLS)) == SKILLS
    commits = read_repositories(COMMITS)
    assert "".join(f"{repository} {commit}\n" for repository, commit in commits.items()) == COMMITS
    listed = LIST.read_text(encoding="utf-8").split()
    assert [it for it in listed if it in commits] == [*commits]
    assert {skill.repository for skill in skills} <= {*commits}
    assert len(commits) >= 60
    assert len(skills) >= 5_000


def test_no_sentence_and_no_markup_of_a_stranger_ships() -> None:
    assert re.fullmatch(r"([\w.-]+/[\w.-]+ [0-9a-f]{40}\n)+", COMMITS, re.ASCII)
    for line in SKILLS.splitlines()[1:]:
        if line.startswith(("@", "/")):
            assert re.fullmatch(r"[@/][\w./-]*", line, re.ASCII), line
            continue
        label, *words = line.split(" ")
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*(=[\w.-]+)?", label, re.ASCII), line
        assert len(words) <= MAX_WORDS
        assert words == sorted({*words}), "sorted words are not a sentence"
        assert all(re.fullmatch(r"[a-z0-9]{2,24}", word) for word in words), line


def test_there_are_40_synonyms_each_of_another_word() -> None:
    assert len(SYNONYMS) == 40
    assert {word for word, others in SYNONYMS.items() if word in others} == set()


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/anthropics/skills",
        "https://github.com/Anthropics/Skills",
        "http://www.github.com/anthropics/skills",
        "ssh://git@github.com/anthropics/skills.git",
        "git@github.com:anthropics/skills.git",
    ],
)
def test_every_spelling_of_a_url_is_the_same_repository(url: str) -> None:
    assert find_recorded_commit(url) == read_repositories(COMMITS)["anthropics/skills"]


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/anthropics/other",
        "https://github.com.evil.example/anthropics/skills",
        "https://evil.example/github.com/anthropics/skills",
        "https://gitlab.com/anthropics/skills",
        "file:///github.com/anthropics/skills",
    ],
)
def test_another_repository_has_no_recorded_commit(url: str) -> None:
    assert find_recorded_commit(url) == ""
