"""The directory of public skills that ships with skillpm: well-known repositories, and index words of their skills.

`tests/kit/public_skills.py` writes its two files into `skillpm/directory`. `repositories.txt` has a line for each
repository on GitHub: `owner/name`, and the commit that was read. `skills.txt` begins with the words that are in too
many descriptions to tell skills apart. Then come the skills, below their repository (`@owner/name`) and the folder that
contains them (`/folder`): the name (`name=folder` where the folder has another one), and sorted words of the
description.
"""

from collections.abc import Iterable, Iterator

from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.kinds.git import GitSource

MAX_WORDS = 30


class PublicSkill(Value):
    """A skill of the directory."""

    name: SkillName
    # `owner/name` on GitHub.
    repository: str
    folder: str
    words: tuple[str, ...]

    @property
    def spec(self) -> str:
        """The SPEC that installs it."""
        return f"{self.repository}@{self.name}"

    @property
    def summary(self) -> str:
        """The words, as they are printed."""
        return f"words: {', '.join(self.words)}" if self.words else ""


def public_source(repository: str) -> GitSource:
    """Return the source of a repository of the directory."""
    return GitSource(url=f"https://github.com/{repository}")


def read_repositories(text: str) -> dict[str, str]:
    """Return the recorded commit of each repository."""
    return dict(line.split(" ") for line in text.splitlines())


def read_common_words(text: str) -> frozenset[str]:
    """Return the words that the directory leaves out of all descriptions."""
    return frozenset(text.partition("\n")[0].split())


def read_public_skills(text: str) -> Iterator[PublicSkill]:
    """Yield the skills, those of the first repository first."""
    repository = parent = ""
    for line in text.splitlines()[1:]:
        if line.startswith("@"):
            repository = line[1:]
        elif line.startswith("/"):
            parent = line[1:]
        else:
            label, *words = line.split()
            name, _, folder = label.partition("=")
            path = f"{parent}/{folder or name}" if parent else folder or name
            yield PublicSkill(name=SkillName(name), repository=repository, folder=path, words=tuple(words))


def render_public_skills(skills: Iterable[PublicSkill], common_words: Iterable[str]) -> str:
    """Return the text that `read_public_skills` reads; the skills of a repository are sorted by folder."""
    lines, repository, parent = [" ".join(sorted(common_words))], "", ""
    for skill in skills:
        if skill.repository != repository:
            repository, parent = skill.repository, ""
            lines.append(f"@{repository}\n/")
        above, _, folder = skill.folder.rpartition("/")
        if above != parent:
            parent = above
            lines.append(f"/{parent}")
        label = skill.name if skill.name == folder else f"{skill.name}={folder}"
        lines.append(" ".join([label, *skill.words]))
    return "\n".join(lines) + "\n"
