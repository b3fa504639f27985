"""`skillpm install` (add)."""

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from skillpm.cli.change_options import (
    build_change_options,
    change_options,
    exclude_newer_option,
    lock_policy_options,
    merge_options,
)
from skillpm.cli.change_output import print_change
from skillpm.cli.options import Invocation
from skillpm.cli.prompts import choose_skills, run_confirmed, yes_option
from skillpm.cli.repeated_values import RepeatedValues, split_values
from skillpm.cli.text_layout import format_skills
from skillpm.core.text import sanitize
from skillpm.errors import ManySkillsError, UsageError
from skillpm.operations.context.project_files import require_project_in_ci
from skillpm.operations.context.scope import Scope, is_in_repository
from skillpm.operations.init import start_project
from skillpm.operations.install.add import install
from skillpm.operations.install.request import InstallRequest, describe_source, format_skill_spec
from skillpm.operations.install.spec_requirements import list_available
from skillpm.operations.install.sync import sync
from skillpm.operations.pipeline.change import ChangeResult
from skillpm.requirements.source import PackageSource, RefKind, Source

STARTED = "started a project in {}: commit skills.json and skills.lock"
MAX_DESCRIPTION = 5_000  # characters
ALL_SKILLS = ("*",)  # as other tools spell it


@click.command(
    cls=RepeatedValues,
    epilog="""\b
Examples:
  skillpm install code-review                       bundled with skillpm
  skillpm install anthropics/skills@pdf             one skill of a repository
  skillpm install anthropics/skills@pdf -a claude-code codex
                                                    and link it for two agents
  skillpm install anthropics/skills --list          list a repository's skills
  skillpm install obra/superpowers --all            all skills of a repository
  skillpm install acme/skills#v2@deploy             at a tag, branch or commit
  skillpm install acme/skills@pdf --version '^1.2'  the newest tag in a range
  skillpm install https://github.com/o/r/tree/main/skills/x
  skillpm install git@git.acme.example:team/skills.git@deploy  any git server
  skillpm install https://site.example/@pdf         from a site's index
  skillpm install ./my-skill --link                 a local folder, live
  skillpm install ./my-skill.tar.gz                 an archive of a skill
  skillpm install env:fastapi                       of a package in .venv
  skillpm install npm: --list                       of all in node_modules
  skillpm install acme/skills@pdf --as acme-pdf     under another name
  skillpm install                                   same as sync""",
)
@click.argument(
    "specs",
    nargs=-1,
    metavar="[SPEC]...",
    help="A name (code-review), a repository (owner/repo or a URL) with optional @skill and #ref, a folder (./x), "
    "an archive (./x.tar.gz), or an installed package (env:x, npm:x).",
)
@click.option(
    "-a",
    "--agent",
    "agents",
    multiple=True,
    metavar="AGENT...",
    callback=split_values,
    help="Also link the skills for these agent hosts, now and later; starts a project if there is none.",
)
@click.option(
    "-s",
    "--skill",
    "skills",
    multiple=True,
    metavar="NAME...",
    callback=split_values,
    help="Install these skills of the SPEC, which contains several; same as SPEC@NAME.",
)
@click.option("--as", "alias", metavar="NAME", help="Install the skill under another name.")
@click.option(
    "--all",
    "all_skills",
    is_flag=True,
    help="Install all skills of a repository, site, folder or package; of a repository, `update` takes new ones.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="With --all: leave out the skills with such names, e.g. 'draft-*' (repeatable).",
)
@click.option(
    "-l",
    "--list",
    "list_only",
    is_flag=True,
    help="List the skills of a repository, site or package without installing.",
)
@click.option("--group", metavar="NAME", help="Also add the skills to this group of skills.json.")
@click.option("--bundled", is_flag=True, help="Install all skills bundled with skillpm.")
@click.option("--link", is_flag=True, help="Link a local folder instead of copying it.")
@click.option("--path", metavar="DIR", help="The skill's folder in the repository.")
@click.option(
    "--files",
    multiple=True,
    metavar="PATTERN",
    help="Install only these files of the repository, written as in .gitignore (repeatable).",
)
@click.option("--index", metavar="NAME", help="Use this index only.")
@click.option("--branch", metavar="NAME", help="Follow a branch.")
@click.option("--tag", metavar="NAME", help="Use a tag.")
@click.option("--rev", metavar="COMMIT", help="Use a commit (full 40-digit hash).")
@click.option("--version", "version", metavar="RANGE", help="Use the newest tag in a version range, e.g. ^1.2.")
@exclude_newer_option
@yes_option
@lock_policy_options
@merge_options
@change_options
def command(call: Invocation, specs: tuple[str, ...], list_only: bool) -> None:  # noqa: FBT001  (a flag)
    """Add skills to skills.json and install them.

    Without SPEC, installs what skills.lock specifies, as `skillpm sync` does.
    """
    if not specs and not call.flags["bundled"]:
        source_options = ("alias", "all_skills", "skills", "link", "path", "files", "branch", "tag", "rev", "version")
        if list_only or any(call.flags[name] for name in source_options):
            raise UsageError("a SPEC is missing", hint="run `skillpm install --help`")
        if agents := call.flags["agents"]:
            link = call.scope.command("link", *agents)
            raise UsageError("a SPEC is missing", hint=f"to link what is installed, run `{link}`")
        require_project_in_ci(call.scope, call.context.settings)
        options = build_change_options(call, locked_in_ci=True)
        print_change(call, run_confirmed(call, options, partial(sync, call.scope, call.context)))
        return
    request = _build_request(specs, call.flags)
    if list_only:
        _print_available_skills(call, request)
        return
    scope = call.scope
    is_new = bool(request.agents) and scope.is_fallback
    if is_new:
        scope = start_project(scope, call.context)
    result = _install(call, scope, request)
    if is_new and result.is_changed:
        started = "would start a project in {}" if result.is_dry_run else STARTED
        result = result.replace(notes=(started.format(scope.root), *result.notes))
    print_change(call, result)
    if scope.is_fallback and result.is_changed and is_in_repository(call.context.settings):
        call.console.print_message(
            "installed in user scope; `skillpm init` makes this repository a project with its own skills"
        )


def _install(invocation: Invocation, scope: Scope, request: InstallRequest) -> ChangeResult:
    """Install; in a terminal, prompt for the skills of a repository if none is selected."""
    options = build_change_options(invocation)
    while True:
        try:
            run = partial(install, scope, invocation.context, request)
            return run_confirmed(invocation, options, run)
        except ManySkillsError as error:
            names = choose_skills(invocation.console, error)
            if not names:
                raise
            request = request.replace(selection={**request.selection, error.spec: tuple(names)})


def _build_request(specs: tuple[str, ...], flags: Mapping[str, Any]) -> InstallRequest:
    refs: list[RefKind] = [kind for kind in ("branch", "tag", "rev", "version") if flags[kind]]
    if len(refs) > 1:
        raise UsageError("only one of --branch, --tag, --rev and --version can be used")
    takes_all = flags["skills"] == ALL_SKILLS
    if flags["skills"] and flags["all_skills"]:
        raise UsageError("--all and --skill cannot be used together")
    return InstallRequest(
        specs=specs,
        alias=flags["alias"] or "",
        all_skills=flags["all_skills"] or takes_all,
        exclude=flags["exclude"],
        skills=() if takes_all else flags["skills"],
        agents=flags["agents"],
        bundled=flags["bundled"],
        group=flags["group"] or "",
        link=flags["link"],
        path=flags["path"] or "",
        files=flags["files"],
        ref_kind=refs[0] if refs else "",
        ref=flags[refs[0]] if refs else "",
        index=flags["index"] or "",
    )


def _print_available_skills(invocation: Invocation, request: InstallRequest) -> None:
    skills = sorted(list_available(invocation.scope, invocation.context, request), key=lambda skill: skill.name)
    if invocation.console.as_json:
        rows = [
            {
                "name": skill.name,
                "path": getattr(skill.source, "path", ""),
                "description": skill.description,
                **_package_member(skill.source),
            }
            for skill in skills
        ]
        invocation.console.print_json({"skills": rows})
        return
    listed = [
        (describe_source(each.source) if isinstance(each.source, PackageSource) else each.name, each.description)
        for each in skills
    ]
    listed = [(sanitize(label, 100), description) for label, description in listed]
    if sys.stdout.isatty() and not invocation.console.verbose:
        lines = format_skills(
            [([name], description) for name, description in listed], roles=("name",), paint=invocation.console.paint
        )
        invocation.console.print_painted(lines)
    else:
        width = max((len(name) for name, _ in listed), default=0)
        for name, description in listed:
            line = f"{name:{width}}  {sanitize(description, MAX_DESCRIPTION)}".rstrip()
            invocation.console.print_wrapped(line, indent=width + 2)
    if len(skills) == 1:
        invocation.console.print_message("1 skill; run the command again without --list to install it")
        return
    is_package = isinstance(skills[0].source, PackageSource)  # of which the SPECs are listed
    spec = "SPEC" if is_package else format_skill_spec(request.specs[0], skills[0].source, "NAME")
    invocation.console.print_message(f"{len(skills)} skills; install one with `skillpm install {spec}`")


def _package_member(source: Source) -> dict[str, str]:
    """Return the JSON member that names the package of a skill, if it is from one."""
    return {"package": f"{source.kind}:{source.package}"} if isinstance(source, PackageSource) else {}
