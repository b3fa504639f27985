"""What is made from `public_repositories.txt`: the directory of public skills, the two files of `skillpm/directory`.

    python tests/kit/public_skills.py [--from 'file:///mirror/{owner}+{name}']

Reads each repository at its newest commit, with skillpm's own discovery, from GitHub or from a mirror. Of the
descriptions, only words remain: up to 30 each, the rarest ones, sorted. The list begins with those who write skills
themselves; a later copy of a skill is left out. A repository that cannot be read is reported and left out.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from skillpm.errors import SkillpmError
from skillpm.fetchers.common.base import AvailableSkill
from skillpm.formats.public_skills import MAX_WORDS, PublicSkill, render_public_skills
from skillpm.indexes.search.query import STOP_WORDS
from skillpm.kinds.git import GitSource
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import user_scope
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.settings import read_settings

LIST = Path(__file__).with_name("public_repositories.txt")
DIRECTORY = Path(__file__).parents[2] / "skillpm" / "directory"
GITHUB = "https://github.com/{owner}/{name}"
WORD = re.compile(r"[a-z0-9]+")
FOLDER = re.compile(r"[A-Za-z0-9._/-]{1,200}")
LONGEST_WORD = 24
COMMON = 0.2  # of the skills: a word in more of them is left out
SAME = 0.8  # of the words: skills of one name that share so many are copies


def read_repository(repository: str, url: str, project: Project) -> tuple[str, list[AvailableSkill]]:
    """Return the newest commit of a repository, and its skills there. Raises `SkillpmError`."""
    listed = subprocess.run(["git", "ls-remote", url, "HEAD"], capture_output=True, text=True, check=False).stdout
    if not listed:
        raise SkillpmError(f"{url} cannot be read")
    commit = listed.split()[0]
    fetchers = make_fetchers(project)
    found = fetchers.list_available_skills(GitSource(url=url, kind="rev", ref=commit), "")
    return commit, fetchers.copies.choose_each(found)


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text that may be in the directory: lower-case ASCII letters and digits only."""
    return frozenset(
        word for word in WORD.findall(text.casefold()) if 1 < len(word) <= LONGEST_WORD and not word.isdigit()
    )


def without_copies(found: Sequence[tuple[str, AvailableSkill]]) -> Iterator[tuple[str, AvailableSkill, frozenset[str]]]:
    """Yield repository, skill and words of each skill that no earlier repository has."""
    known: dict[str, list[frozenset[str]]] = {}
    for repository, skill in found:
        if skill.install_name is None or skill.problem or not FOLDER.fullmatch(skill.path):
            continue
        words = words_of(skill.description)
        others = known.setdefault(skill.install_name, [])
        if not any(len(words & other) >= SAME * len(words | other) for other in others):
            others.append(words)
            yield repository, skill, words


def render(read: Sequence[tuple[str, str, Sequence[AvailableSkill]]]) -> tuple[str, str]:
    """Return the texts of both files, from repository, commit and skills of each."""
    found = [(repository, skill) for repository, _, skills in read for skill in sorted(skills, key=lambda it: it.path)]
    kept = [*without_copies(found)]
    counts = Counter(word for _, _, words in kept for word in words)
    common = {word for word, count in counts.items() if count > COMMON * len(kept)} | STOP_WORDS
    skills = []
    for repository, skill, words in kept:
        assert skill.install_name is not None
        rarest = sorted(words - common - {*skill.install_name.split("-")}, key=lambda it: (counts[it], it))[:MAX_WORDS]
        skills.append(
            PublicSkill(name=skill.install_name, repository=repository, folder=skill.path, words=tuple(sorted(rarest)))
        )
    commits = "".join(f"{repository} {commit}\n" for repository, commit, _ in read)
    return commits, render_public_skills(skills, common)


def read_all(repositories: Sequence[str], template: str) -> Iterator[tuple[str, str, Sequence[AvailableSkill]]]:
    """Yield repository, commit and skills of each repository that can be read."""
    with tempfile.TemporaryDirectory() as home:
        project_settings = read_settings({"HOME": home, "PATH": os.environ["PATH"]})
        project = Project(user_scope(project_settings), Session(settings=project_settings))
        for repository in repositories:
            owner, _, name = repository.partition("/")
            try:
                yield repository, *read_repository(repository, template.format(owner=owner, name=name), project)
            except SkillpmError as error:
                sys.stderr.write(f"{repository} is left out: {error.message}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="template", default=GITHUB, help="URL with {owner} and {name}")
    options = parser.parse_args()
    commits, skills = render([*read_all(LIST.read_text().split(), options.template)])
    DIRECTORY.mkdir(exist_ok=True)
    (DIRECTORY / "repositories.txt").write_text(commits, encoding="utf-8")
    (DIRECTORY / "skills.txt").write_text(skills, encoding="utf-8")
    sys.stderr.write(f"{len(commits.splitlines())} repositories, {len(skills)} bytes\n")


if __name__ == "__main__":
    main()
