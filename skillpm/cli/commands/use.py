"""`skillpm use`."""

import os
import subprocess
import sys

import click

from skillpm.cli.options import Invocation, allow_option, exclude_newer_option, fetch_options, yes_option
from skillpm.cli.serve_options import find_ask, loaded_to_json, mode_option, profile_option, style_option
from skillpm.core.text import sanitize
from skillpm.errors import ManySkillsError, UsageError
from skillpm.operations.serve import Viewer
from skillpm.operations.use import UsedSkill, UseOptions, use
from skillpm.specs.request import InstallRequest
from skillpm.vetting.validation_options import ValidationOptions

FOLDER_VARIABLE = "SKILLPM_SKILL_DIR"


@click.command(
    epilog="""\b
Examples:
  skillpm use anthropics/skills@pdf            print a skill, install nothing
  skillpm use anthropics/skills -s pdf | claude   give it to an agent
  skillpm use acme/skills#v2@fix-issue -- 42   with `$ARGUMENTS` filled in
  skillpm use anthropics/skills@pdf --exec 'ls "$SKILLPM_SKILL_DIR"'"""
)
@click.argument("spec", metavar="SPEC", help="A single skill, as for `install`.")
@click.argument("arguments", nargs=-1, metavar="[-- ARGS]...", help="Values for the skill's $ARGUMENTS, $0, $1 and on.")
@click.option("-s", "--skill", metavar="NAME", help="The skill of a SPEC that contains several; same as SPEC@NAME.")
@click.option(
    "--exec",
    "command_line",
    metavar="COMMAND",
    help="Instead of printing, run this shell command of yours, with the skill's folder in SKILLPM_SKILL_DIR.",
)
@style_option
@mode_option
@exclude_newer_option
@yes_option
@profile_option
@allow_option
@fetch_options
def command(call: Invocation, spec: str, arguments: tuple[str, ...], command_line: str | None) -> int:
    """Print a skill as an agent receives it, without installing it.

    It is fetched with every check of an install and unpacked in the cache. Nothing else is written, and nothing in the
    skill is executed.
    """
    flags, skill = call.flags, call.flags["skill"]
    if command_line is not None and call.console.as_json:
        raise UsageError("--exec and --json cannot be used together")
    options = UseOptions(
        viewer=Viewer(profile=flags["profile"]),
        mode=flags["mode"],
        style=flags["style"],
        arguments=arguments or None,
        ask=find_ask(call),
        allows_whole_repositories=flags["yes"],
        validation=ValidationOptions(allow=flags["allowed_rules"]),
    )
    request = InstallRequest(specs=(spec,), skills=(skill,) if skill else ())
    try:
        used = use(call.project, request, options)
    except ManySkillsError as error:
        error.hint = f"select one with `{error.example}`"
        raise
    _report_dependencies(call, used)
    if command_line is not None:
        return _run(command_line, used.loaded.directory)
    if not call.console.as_json:
        call.console.print_raw(used.loaded.text)
        return 0
    origin = {"source": used.source, "version": used.version, "digest": used.digest}
    dependencies = [{"name": name, "directory": folder} for name, folder in used.dependencies.items()]
    call.console.print_json({**loaded_to_json(used.loaded), **origin, "dependencies": dependencies})
    return 0


def _report_dependencies(call: Invocation, used: UsedSkill) -> None:
    for name, folder in used.dependencies.items():
        call.console.print_message(f"{sanitize(used.loaded.name, 64)} depends on {name}, which is in {folder}")


def _run(command_line: str, folder: str) -> int:
    """Run a command of the user in a shell; return its exit code, if this process is not replaced by the shell."""
    environ = {**os.environ, FOLDER_VARIABLE: folder}
    if os.name == "posix":
        # The command may be interactive: it gets the terminal and all signals, with nothing in between.
        sys.stdout.flush()
        os.execve("/bin/sh", ["sh", "-c", command_line], environ)  # noqa: S606
    return subprocess.run(command_line, shell=True, env=environ, check=False).returncode  # noqa: S602
