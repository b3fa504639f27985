"""`skillpm load`."""

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from skillpm.cli.options import (
    Invocation,
    advanced_option,
    allow_option,
    exclude_newer_option,
    network_options,
    yes_option,
)
from skillpm.cli.serve_options import (
    create_service,
    find_ask,
    loaded_to_json,
    mode_option,
    style_option,
    viewer_options,
)
from skillpm.core.names import is_only_spec
from skillpm.core.text import sanitize
from skillpm.errors import ManySkillsError, UsageError
from skillpm.operations.serve import Viewer
from skillpm.serving.results import Loaded

if TYPE_CHECKING:
    from skillpm.operations.load_spec import LoadedSpec

FOLDER_VARIABLE = "SKILLPM_SKILL_DIR"
# Options of SPECs, which are fetched.
SPEC_OPTIONS = {"skill": "--skill", "allowed_rules": "--allow", "exclude_newer": "--exclude-newer", "yes": "--yes"}


@click.command(
    epilog="""\b
Examples:
  skillpm load code-review               an installed skill
  skillpm load fix-issue -- 42 high      with `$ARGUMENTS` filled in
  skillpm load anthropics/skills@pdf     of a repository, without installing
  skillpm load anthropics/skills@pdf | claude   give it to an agent

\b
More examples:
  skillpm load code-review --mode toon   headings and a line each
  skillpm load pdf --agent opencode      as OpenCode may see it
  skillpm load acme/skills#v2@fix-issue -- 42
  skillpm load anthropics/skills@pdf --exec 'ls "$SKILLPM_SKILL_DIR"'"""
)
@click.argument("name", metavar="NAME|SPEC", help="An installed skill, or a SPEC as for `install`, which is fetched.")
@click.argument("arguments", nargs=-1, metavar="[-- ARGS]...", help="Values for the skill's $ARGUMENTS, $0, $1 and on.")
@click.option("-s", "--skill", metavar="NAME", help="The skill of a SPEC that contains several; same as SPEC@NAME.")
@click.option(
    "--exec",
    "command_line",
    metavar="COMMAND",
    help="Instead of printing, run this shell command of yours, with the skill's folder in SKILLPM_SKILL_DIR.",
)
@advanced_option(
    "--fetch", is_flag=True, help="Treat a plain NAME as a SPEC, even if a skill with that name is installed."
)
@advanced_option(
    "--max-length",
    type=click.IntRange(1),
    metavar="N",
    help="Cut the text at N characters [default: 50000, or `serving.max-length`].",
)
@style_option
@mode_option
@exclude_newer_option
@yes_option
@allow_option
@network_options
@viewer_options
def command(call: Invocation, name: str, arguments: tuple[str, ...], command_line: str | None) -> int:
    """Print a skill as an agent receives it: instructions, folder and files. Nothing in it is executed.

    What a SPEC names is fetched with every check of an install, and unpacked in the cache. Nothing is installed.
    """
    if command_line is not None and call.console.as_json:
        raise UsageError("--exec and --json cannot be used together")
    loaded, origin = _load(call, name, arguments)
    if loaded.taken_for:
        call.console.print_message(
            f"no skill named `{sanitize(loaded.taken_for, 80)}`; loaded `{sanitize(loaded.name, 64)}`"
        )
    if loaded.missing:
        missing = ", ".join(sanitize(item, 60) for item in loaded.missing)
        call.console.warn(f"{sanitize(loaded.name, 64)} has unmet requirements: {missing}")
    if command_line is not None:
        return _run(command_line, loaded.directory)
    if call.console.as_json:
        call.console.print_json({**loaded_to_json(loaded), **origin})
    else:
        call.console.print_raw(loaded.text)
    return 0


def _load(call: Invocation, name: str, arguments: tuple[str, ...]) -> tuple[Loaded, dict[str, Any]]:
    """Return a skill, and for one that was fetched the members of its JSON object that say from where."""
    flags, is_spec = call.flags, is_only_spec(name)
    if flags["fetch"] or (is_spec and not flags["agent"]):
        return _load_spec(call, name, arguments)
    service = create_service(call, check_all=False)
    if is_spec and name not in service.visible:  # a host may see a skill with such a name
        return _load_spec(call, name, arguments)
    if given := [option for key, option in SPEC_OPTIONS.items() if flags[key]]:
        problem = f"{given[0]} needs a SPEC, and `{sanitize(name, 80)}` is the name of an installed skill"
        raise UsageError(problem, hint="to fetch a skill of this name instead, use --fetch")
    if flags["max_length"] is not None:
        service.max_length = flags["max_length"]
    return service.load(name, mode=flags["mode"], style=flags["style"], arguments=arguments or None), {}


def _load_spec(call: Invocation, spec: str, arguments: tuple[str, ...]) -> tuple[Loaded, dict[str, Any]]:
    from skillpm.operations.load_spec import LoadSpecOptions, load_spec  # noqa: PLC0415  (all that fetches)
    from skillpm.specs.request import InstallRequest  # noqa: PLC0415
    from skillpm.vetting.validation_options import ValidationOptions  # noqa: PLC0415

    flags, skill = call.flags, call.flags["skill"]
    options = LoadSpecOptions(
        viewer=Viewer(agent=flags["agent"], profile=flags["profile"]),
        mode=flags["mode"],
        style=flags["style"],
        max_length=flags["max_length"],
        arguments=arguments or None,
        ask=find_ask(call),
        allows_whole_repositories=flags["yes"],
        validation=ValidationOptions(allow=flags["allowed_rules"]),
    )
    request = InstallRequest(specs=(spec,), skills=(skill,) if skill else ())
    try:
        fetched = load_spec(call.project, request, options)
    except ManySkillsError as error:
        error.hint = f"select one with `{error.example}`"
        raise
    for dependency, folder in fetched.dependencies.items():
        label = sanitize(fetched.loaded.name, 64)
        call.console.print_message(f"{label} depends on {dependency}, which is in {folder}")
    return fetched.loaded, _origin_to_json(fetched)


def _origin_to_json(fetched: "LoadedSpec") -> dict[str, Any]:
    dependencies = [{"name": name, "directory": folder} for name, folder in fetched.dependencies.items()]
    origin = {"source": fetched.source, "version": fetched.version, "digest": fetched.digest}
    return {**origin, "dependencies": dependencies}


def _run(command_line: str, folder: str) -> int:
    """Run a command of the user in a shell; return its exit code, if this process is not replaced by the shell."""
    environ = {**os.environ, FOLDER_VARIABLE: folder}
    if os.name == "posix":
        # The command may be interactive: it gets the terminal and all signals, with nothing in between.
        sys.stdout.flush()
        os.execve("/bin/sh", ["sh", "-c", command_line], environ)  # noqa: S606
    import subprocess  # noqa: PLC0415  (Windows)

    return subprocess.run(command_line, shell=True, env=environ, check=False).returncode  # noqa: S602
