"""Projects: instructions for one kind of work, as `projects/<name>/ROLE.md` beside skills.

The name is the folder's, the instructions are the file's text, trimmed; an empty one is no project. Frontmatter may
name the `skills` that the work needs.
"""

import os
from collections.abc import Iterable

from skillpm.core.values import Value
from skillpm.errors import FileError
from skillpm.files import translate_os_errors
from skillpm.installer.skill_file import read_text_file

PROJECTS_FOLDER = "projects"
ROLE_FILE = "ROLE.md"


class Project(Value):
    """One project: its name, what the agent is told, the path of its ROLE.md, and the skills it names."""

    name: str
    instructions: str
    path: str
    skills: tuple[str, ...] = ()


def ensure_projects_folder(directory: str) -> str:
    """Make the folder `projects` in a directory where it is missing; give its path."""
    path = os.path.join(directory, PROJECTS_FOLDER)
    with translate_os_errors("make the folder of projects", path):
        os.makedirs(path, exist_ok=True)
    return path


def load_projects(directory: str) -> tuple[Project, ...]:
    """Give the projects of a directory, sorted by name; none where there is no folder `projects`.

    One that cannot be read as text is left out: it must not hide the others.
    """
    folder = os.path.join(directory, PROJECTS_FOLDER)
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise FileError(f"cannot read the projects: {error.strerror}", where=folder) from error
    found = (_read_project(os.path.join(folder, name), name) for name in names)
    return tuple(project for project in found if project is not None)


def project_instructions(projects: Iterable[Project], name: str) -> str | None:
    """Give what the project of a name tells its agent, or None where there is none."""
    return next((project.instructions for project in projects if project.name == name), None)


def _read_project(folder: str, name: str) -> Project | None:
    path = os.path.join(folder, ROLE_FILE)
    try:
        text = read_text_file(path)
    except (OSError, UnicodeDecodeError):
        return None
    instructions, skills = _split_frontmatter(text)
    return Project(name=name, instructions=instructions, path=path, skills=skills) if instructions else None


def _split_frontmatter(text: str) -> tuple[str, tuple[str, ...]]:
    """Give the instructions and the skills; a text whose frontmatter cannot be read is instructions, all of it."""
    if not text.lstrip().startswith(("---", "+++")):
        return text.strip(), ()
    from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415  (a YAML library; most roles are plain text)
    from skillpm.skillmd.frontmatter import read_frontmatter  # noqa: PLC0415

    try:
        front = read_frontmatter(text)
    except NotLoadable:
        return text.strip(), ()
    skills = front.values.get("skills")
    words = skills.replace(",", " ").split() if isinstance(skills, str) else skills
    named = [word.strip() for word in words if isinstance(word, str)] if isinstance(words, list) else []
    return front.body.strip(), tuple(dict.fromkeys(word for word in named if word))
