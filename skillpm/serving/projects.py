"""Projects: instructions for one kind of work, in `projects/<name>/ROLE.md` of a directory.

The folder's name is the project's name, and the trimmed text is its instructions; a folder without text is ignored. The
frontmatter may list the `skills` that the work needs.
"""

import os
from collections.abc import Callable, Iterable
from functools import partial

from skillpm.core.values import Value
from skillpm.errors import FileError
from skillpm.files import is_below, translate_os_errors
from skillpm.installer.disk.layout import PROJECT_FOLDER
from skillpm.installer.disk.skill_file import read_text_file
from skillpm.installer.escaping_links import boundary_of
from skillpm.serving.event_log import log_event
from skillpm.settings import current_settings

PROJECTS_FOLDER = "projects"
ROLE_FILE = "ROLE.md"
LOG_WARNING = partial(log_event, "warning")


class Role(Value):
    """The role of an agent in one project."""

    name: str
    # The text of its ROLE.md without frontmatter, trimmed.
    instructions: str
    # The path of its ROLE.md.
    path: str
    # The skills that its frontmatter lists.
    skills: tuple[str, ...] = ()


# Its former name, which agents may import.
Project = Role


def ensure_projects_dir(directory: str) -> str:
    """Create the folder `projects` in a directory if it is missing; return its path."""
    path = os.path.join(directory, PROJECTS_FOLDER)
    with translate_os_errors("create the projects folder", path):
        os.makedirs(path, exist_ok=True)
    return path


def load_projects(
    directory: str, boundary: str | None = None, warn: Callable[[str], object] = LOG_WARNING
) -> tuple[Role, ...]:
    """Return the projects of a directory, sorted by name; none if it has no folder `projects`.

    `boundary` is the folder that no link may leave, empty if links may lead anywhere; by default the git repository of
    the directory, or the project of an `.agent-skills`; none for the user's own skills directory, or without a
    repository. `warn` is called for a link that leaves it. A project that cannot be read as text is skipped, so that it
    does not hide the others. Raises `FileError` if the folder cannot be listed.
    """
    folder = os.path.join(directory, PROJECTS_FOLDER)
    boundary = _find_boundary(directory) if boundary is None else boundary
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise FileError(f"cannot read the projects: {error.strerror}", where=folder) from error
    # A cloned repository could otherwise show the user's private files: ROLE.md may be a link to ~/.ssh/id_rsa.
    outside = {name for name in names if boundary and not _is_inside(os.path.join(folder, name), boundary)}
    for name in sorted(outside):
        warn(
            f"{os.path.join(folder, name, ROLE_FILE)}: it is a link that points outside the project, so it is not read"
        )
    projects = (_read_project(os.path.join(folder, name), name) for name in names if name not in outside)
    return tuple(project for project in projects if project is not None)


def get_project_instructions(projects: Iterable[Role], name: str) -> str | None:
    """Return the instructions of the project with this name, or None."""
    return next((project.instructions for project in projects if project.name == name), None)


def _find_boundary(directory: str) -> str:
    """Return the folder that no link in a directory of projects may leave; empty if links may lead anywhere."""
    settings = current_settings()
    path = os.path.abspath(directory)
    if path == settings.skills_home:
        return ""
    is_project = os.path.basename(path) == PROJECT_FOLDER
    root = boundary_of(os.path.dirname(path) if is_project else path, settings.home)
    return root if is_project or os.path.lexists(os.path.join(root, ".git")) else ""


def _is_inside(folder: str, boundary: str) -> bool:
    return is_below(os.path.realpath(os.path.join(folder, ROLE_FILE)), os.path.realpath(boundary))


def _read_project(folder: str, name: str) -> Role | None:
    path = os.path.join(folder, ROLE_FILE)
    try:
        text = read_text_file(path)
    except (OSError, UnicodeDecodeError):
        return None
    instructions, skills = _split_frontmatter(text)
    return Role(name=name, instructions=instructions, path=path, skills=skills) if instructions else None


def _split_frontmatter(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the instructions and the skills. If the frontmatter is invalid, the whole text is instructions."""
    if not text.lstrip().startswith(("---", "+++")):
        return text.strip(), ()
    from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415  (loads a YAML library; most roles are plain text)
    from skillpm.skillmd.frontmatter import read_frontmatter  # noqa: PLC0415

    try:
        front = read_frontmatter(text)
    except NotLoadable:
        return text.strip(), ()
    skills = front.values.get("skills")
    values = skills.replace(",", " ").split() if isinstance(skills, str) else skills
    names = [value.strip() for value in values if isinstance(value, str)] if isinstance(values, list) else []
    return front.body.strip(), tuple(dict.fromkeys(value for value in names if value))
