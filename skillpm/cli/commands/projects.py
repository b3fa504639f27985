"""`skillpm projects`."""

import os
from typing import Any

import click

from skillpm.cli.options import call_of
from skillpm.cli.serve_options import service_for, serving
from skillpm.core.suggestions import guess
from skillpm.core.text import show
from skillpm.errors import NotFoundError
from skillpm.serving.model_text import for_model
from skillpm.serving.projects import Project, load_projects


@click.command(
    epilog="""\b
Examples:
  skillpm projects                          those beside the installed skills
  skillpm projects real-estate              what that project tells its agent
  skillpm projects --data-dir ~/.omega      those of omega"""
)
@click.argument("name", required=False)
@click.option("--data-dir", metavar="DIR", help="The folder that holds the folder `projects`.")
@serving
def command(name: str | None, data_dir: str | None, **flags: Any) -> None:
    """List projects (projects/NAME/ROLE.md in the skills directory), or give the instructions of one."""
    call = call_of(flags)
    service = service_for(call)
    settings = call.tools.settings
    place = call.scope.layout.directory
    if data_dir is not None:
        place = os.path.join(settings.working_directory, data_dir.replace("~", settings.home, data_dir[:1] == "~"))
    projects = load_projects(place)
    if name is not None:
        projects = (_project(name, projects),)
    shown = [
        {
            "name": project.name,
            "path": project.path,
            "instructions": for_model(project.instructions),
            "skills": [skill for skill in project.skills if not service.rules.hides(skill)],
        }
        for project in projects
    ]
    if call.console.as_json:
        call.console.data({"projects": shown})
    elif name is not None:
        call.console.block(for_model(projects[0].instructions))
    else:
        for project in projects:
            call.console.line(f"{show(project.name, 64)}: {show(project.instructions.splitlines()[0])}")
        if not projects:
            call.console.say(f"no projects in {place}; one is a folder projects/NAME with a ROLE.md")


def _project(name: str, projects: tuple[Project, ...]) -> Project:
    for project in projects:
        if project.name == name:
            return project
    names = [project.name for project in projects]
    hint = guess(name, names, "`skillpm projects` lists them")
    raise NotFoundError(f"there is no project `{show(name, 80)}`", hint=hint)
