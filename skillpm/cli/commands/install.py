"""`skillpm install` (add)."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import click

from skillpm.change.change import ChangeResult
from skillpm.cli.change_options import build_change_options
from skillpm.cli.options import (
    Invocation,
    advanced_option,
    change_options,
    exclude_newer_option,
    make_lock_policy_options,
    merge_options,
    strict_option,
    yes_option,
)
from skillpm.cli.prompts import choose_skills, run_confirmed
from skillpm.cli.repeated_values import RepeatedValues, split_values
from skillpm.cli.reports.change_output import exit_code_of, print_change
from skillpm.cli.text_layout import format_skills
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.errors import ManySkillsError, UnknownSkillError, UsageError
from skillpm.fetchers.common.base import AvailableSkill
from skillpm.kinds.base import RefKind, Source
from skillpm.operations.install.add import install
from skillpm.scope.project import Project
from skillpm.scope.project_files import missing_project_message, require_project_in_ci
from skillpm.scope.scope import Scope, is_in_repository
from skillpm.specs.request import InstallRequest, format_skill_spec
from skillpm.specs.spec_requirements import list_available

STARTED = "started a project in {}: commit skills.json and skills.lock"
MAX_DESCRIPTION = 5_000  # characters
ALL_SKILLS = ("*",)  # as other tools spell it


@click.command(
    cls=RepeatedValues,
    epilog="""\b
Examples:
  skillpm install code-review                bundled with skillpm
  skillpm install anthropics/skills@pdf      one skill of a repository
  skillpm install anthropics/skills --list   list a repository's skills
  skillpm install acme/skills#v2@deploy      at a tag, branch or commit
  skillpm install https://site.example/@pdf  from a site's index
  skillpm install ./my-skill --link          a local folder, live

\b
More examples:
  skillpm install anthropics/skills@pdf -a claude-code codex
                                             and link it for two agents
  skillpm install obra/superpowers --all     all skills of a repository
  skillpm install acme/skills@pdf --version '^1.2'
                                             the newest tag in a range
  skillpm install https://github.com/o/r/tree/main/skills/x
  skillpm install git@git.acme.example:team/skills.git@deploy
                                             any git server
  skillpm install ./my-skill.tar.gz          an archive of a skill
  skillpm install env:fastapi                of a package in .venv
  skillpm install npm: --list                of all in node_modules
  skillpm install acme/skills@pdf --as acme-pdf
                                             under another name
  skillpm install                            same as sync""",
)
@click.argument(
    "specs",
    nargs=-1,
    metavar="[SPEC]...",
    help="A name (code-review), a repository (owner/repo or a URL), with @skill and #ref if needed, a folder or an "
    "archive (./x), or an installed package (env:x, npm:x).",
)
@click.option(
    "-a",
    "--agent",
    "agents",
    multiple=True,
    metavar="AGENT...",
    callback=split_values,
    help="Also link the skills for these agents, from now on.",
)
@click.option(
    "-s",
    "--skill",
    "skills",
    multiple=True,
    metavar="NAME...",
    callback=split_values,
    help="Install these skills of the SPEC: same as SPEC@NAME.",
)
@click.option("--as", "alias", metavar="NAME", help="Install the skill under another name.")
@click.option(
    "--all",
    "all_skills",
    is_flag=True,
    help="Install all skills of a repository, site or folder.",
)
@advanced_option(
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
    help="Only list the skills of a repository or site.",
)
@advanced_option("--group", metavar="NAME", help="Also add the skills to this group of skills.json.")
@advanced_option("--bundled", is_flag=True, help="Install all skills bundled with skillpm.")
@click.option("--link", is_flag=True, help="Link a local folder instead of copying it.")
@advanced_option("--path", metavar="DIR", help="The skill's folder in the repository.")
@advanced_option(
    "--files",
    multiple=True,
    metavar="PATTERN",
    help="Install only these files of the repository, written as in .gitignore (repeatable).",
)
@advanced_option("--index", metavar="NAME", help="Use this index only.")
@advanced_option("--branch", metavar="NAME", help="Follow a branch.")
@advanced_option("--tag", metavar="NAME", help="Use a tag.")
@advanced_option("--rev", metavar="COMMIT", help="Use a commit (full 40-digit hash).")
@advanced_option("--version", "version", metavar="RANGE", help="Use the newest tag in a version range, e.g. ^1.2.")
@exclude_newer_option
@yes_option
@strict_option
@make_lock_policy_options(advanced_option)
@merge_options
@change_options
def command(call: Invocation, specs: tuple[str, ...], list_only: bool) -> int:  # noqa: FBT001  (a flag)
    """Add skills to skills.json and install them.

    Writes to the project: that of the nearest skills.json here or above, else the git repository, which becomes one.
    Outside of both, and with -g, it installs in user scope.
    Without SPEC, installs what skills.lock specifies, as `skillpm sync` does.
    """
    if not specs and not call.flags["bundled"]:
        source_options = ("alias", "all_skills", "skills", "link", "path", "files", "branch", "tag", "rev", "version")
        if list_only or any(call.flags[name] for name in source_options):
            raise UsageError("a SPEC is missing", hint="run `skillpm install --help`")
        if agents := call.flags["agents"]:
            link = call.scope.command("link", *agents)
            raise UsageError("a SPEC is missing", hint=f"to link what is installed, run `{link}`")
        require_project_in_ci(call.scope, call.session.settings)
        from skillpm.operations.install.sync import sync  # noqa: PLC0415  (only without SPEC)

        options = build_change_options(call, locked_in_ci=True)
        print_change(call, result := run_confirmed(call, options, partial(sync, call.project)))
        return exit_code_of(call, result.left_out)
    request = _build_request(specs, call.flags)
    if list_only:
        return _print_available_skills(call, request)
    scope = call.scope
    is_new = scope.is_fallback and is_in_repository(call.session.settings)
    if is_new:
        from skillpm.operations.init import start_project  # noqa: PLC0415  (once a project)

        scope = start_project(Project(scope, call.session))
    result = _install(call, scope, request, is_new=is_new)
    if is_new and result.is_changed and not result.is_dry_run:
        result = result.replace(notes=(STARTED.format(scope.root), *result.notes))
    if request.agents and not result.is_dry_run:
        from skillpm.operations.agents import warn_lost_skills  # noqa: PLC0415  (imports the serving of skills)

        result = warn_lost_skills(Project(scope, call.session), request.agents, result)
    print_change(call, result)
    return exit_code_of(call, result.left_out)


def _install(invocation: Invocation, scope: Scope, request: InstallRequest, *, is_new: bool) -> ChangeResult:
    """Install; in a terminal, prompt for the skills of a repository if none is selected."""
    announce = cache(partial(_announce_scope, invocation, scope, is_new=is_new))  # once
    options = build_change_options(invocation).replace(announce=announce)
    while True:
        try:
            return run_confirmed(invocation, options, partial(install, Project(scope, invocation.session), request))
        except ManySkillsError as error:
            names = choose_skills(invocation, error)
            if not names:
                raise
            request = request.replace(selection={**request.selection, error.spec: tuple(names)})
        except UnknownSkillError as error:
            if not error.choices or error.spec not in request.specs or not invocation.can_ask():
                raise
            message = f"{error.message}; well-known public repositories have it, not reviewed:"
            invocation.console.print_message(message)
            chosen = choose_skills(invocation, error)
            request = request.replace(
                specs=tuple(
                    dict.fromkeys(it for spec in request.specs for it in (chosen if spec == error.spec else [spec]))
                )
            )


def _announce_scope(invocation: Invocation, scope: Scope, *, is_new: bool) -> None:
    """Print where the skills are installed, unless a manifest or an option says it."""
    message = ""
    if is_new:
        message = f"no skills.json in this git repository: starting a project in {scope.root}"
    elif scope.is_fallback:
        message = f"user scope: {missing_project_message(invocation.session.settings)}"
    if message:
        invocation.console.print_message(message)


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


def _print_available_skills(call: Invocation, request: InstallRequest) -> int:
    """Print the skills of SPECs. Return 1 if none can be installed, and with `--strict` if one cannot."""
    skills = sorted(list_available(call.project, request), key=lambda skill: (skill.name, skill.path))
    unusable = [skill for skill in skills if _problem_of(skill)]
    is_strict = call.flags["strict"] and any(skill.others or _problem_of(skill) for skill in skills)
    exit_code = 1 if skills and len(unusable) == len(skills) else int(is_strict)
    if call.console.as_json:
        call.console.print_json({"skills": [_available_to_json(skill) for skill in skills]})
        return exit_code
    _print_rows(call, [row for skill in skills for row in _format_available(skill)])
    if len(skills) == 1:
        call.console.print_message("1 skill; run the command again without --list to install it")
        return exit_code
    is_package = skills[0].source.package_label  # of which the SPECs are listed
    spec = "SPEC" if is_package else format_skill_spec(request.specs[0], skills[0].source, "NAME")
    wrong = f", of which {len(unusable)} cannot be installed" if unusable else ""
    call.console.print_message(f"{len(skills)} skills{wrong}; install one with `skillpm install {spec}`")
    return exit_code


def _problem_of(skill: AvailableSkill) -> str:
    """Return why `--all` would leave a skill out, as far as it is known without fetching it."""
    if skill.problem:
        return f"cannot be loaded: {skill.problem}"
    if skill.link_problem:
        return f"cannot be installed: {skill.link_problem}"
    return "" if skill.install_name or not skill.path else "not a valid skill name"


def _available_to_json(skill: AvailableSkill) -> dict[str, Any]:
    problem = _problem_of(skill)
    return {
        "name": skill.name,
        "path": skill.path,
        "description": skill.description,
        **_package_member(skill.source),
        **({"problem": problem} if problem else {}),
        **({"others": [*skill.others]} if skill.others else {}),
    }


def _format_available(skill: AvailableSkill) -> Iterator[tuple[str, str]]:
    """Yield label and text of a skill, and of the others of its name, with their folders if there are any."""
    label = skill.source.describe() if skill.source.package_label else skill.name
    problem = _problem_of(skill)
    place = f" ({skill.path})" if skill.others or problem else ""
    yield f"{label}{place}", f"[{problem}]" if problem else skill.description
    for path in skill.others:
        yield f"{label} ({path})", f"[other content; --path {shell_word(path)} takes it]"


def _print_rows(call: Invocation, rows: Sequence[tuple[str, str]]) -> None:
    listed = [(sanitize(label, 200), description) for label, description in rows]
    if sys.stdout.isatty() and not call.console.verbose:
        lines = format_skills(
            [([name], description) for name, description in listed], roles=("name",), paint=call.console.paint
        )
        call.console.print_painted(lines)
        return
    width = max((len(name) for name, _ in listed), default=0)
    for name, description in listed:
        line = f"{name:{width}}  {sanitize(description, MAX_DESCRIPTION)}".rstrip()
        call.console.print_wrapped(line, indent=width + 2)


def _package_member(source: Source) -> dict[str, str]:
    """Return the JSON member that names the package of a skill, if it is from one."""
    return {"package": source.package_label} if source.package_label else {}
