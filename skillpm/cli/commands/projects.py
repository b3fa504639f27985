"""`skillpm projects`."""

import os

import click

from skillpm.cli.options import Invocation
from skillpm.cli.serve_options import create_service, viewer_options
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import NotFoundError
from skillpm.serving.projects import Role, load_projects
from skillpm.serving.renderers.model_text import sanitize_text


@click.command(
    epilog="""\b
Examples:
  skillpm projects                          list the projects of this scope
  skillpm projects real-estate              print the instructions of one
  skillpm projects --data-dir ~/.omega      list the projects of omega"""
)
@click.argument("name", required=False, help="Print the instructions of this project.")
@click.option("--data-dir", metavar="DIR", help="The folder that contains `projects` [default: skills directory].")
@viewer_options
def command(call: Invocation, name: str | None, data_dir: str | None) -> None:
    """List projects (projects/NAME/ROLE.md in the skills directory), or print the instructions of one."""
    service = create_service(call)
    settings = call.session.settings
    directory = call.scope.layout.directory
    if data_dir is not None:
        directory = os.path.join(settings.working_directory, data_dir.replace("~", settings.home, data_dir[:1] == "~"))
    projects = load_projects(directory, warn=call.console.warn)
    if name is not None:
        projects = (_find_project(name, projects),)
    rows = [
        {
            "name": project.name,
            "path": project.path,
            "instructions": sanitize_text(project.instructions),
            "skills": [skill for skill in project.skills if not service.rules.hides(skill)],
        }
        for project in projects
    ]
    if call.console.as_json:
        call.console.print_json({"projects": rows})
    elif name is not None:
        call.console.print_raw(sanitize_text(projects[0].instructions))
    else:
        for project in projects:
            call.console.print_line(f"{sanitize(project.name, 64)}: {sanitize(project.instructions.splitlines()[0])}")
        if not projects:
            call.console.print_message(f"no projects in {directory}; a project is a folder projects/NAME with ROLE.md")


def _find_project(name: str, projects: tuple[Role, ...]) -> Role:
    for project in projects:
        if project.name == name:
            return project
    names = [project.name for project in projects]
    hint = suggestion_hint(name, names, "`skillpm projects` lists them")
    raise NotFoundError(f"no project named `{sanitize(name, 80)}`", hint=hint)
