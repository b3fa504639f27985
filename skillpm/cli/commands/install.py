"""`skillpm install` (add)."""

from typing import Any

import click

from skillpm.cli.change_options import build_change_options, change_options, exclude_newer_option, lock_policy_options
from skillpm.cli.change_output import print_change
from skillpm.cli.columns import terminal_width, truncate
from skillpm.cli.options import Invocation, create_invocation
from skillpm.cli.skill_chooser import choose_skills
from skillpm.core.text import sanitize
from skillpm.errors import ManySkillsError, UsageError
from skillpm.operations.context.scope import is_in_repository
from skillpm.operations.install.add import install
from skillpm.operations.install.pipeline import ChangeResult
from skillpm.operations.install.request import InstallRequest, format_skill_spec
from skillpm.operations.install.spec_requirements import list_available
from skillpm.operations.install.sync import sync
from skillpm.requirements.source import RefKind

MAX_NAME_WIDTH = 40


@click.command(
    epilog="""\b
Examples:
  skillpm install code-review                       ships with skillpm
  skillpm install anthropics/skills@pdf             one skill of a repository
  skillpm install anthropics/skills --list          what a repository holds
  skillpm install obra/superpowers --all            all of them
  skillpm install acme/skills#v2@deploy             at a tag, branch or commit
  skillpm install acme/skills@pdf --version '^1.2'  the newest tag in a range
  skillpm install https://github.com/o/r/tree/main/skills/x
  skillpm install git@git.acme.example:team/skills.git@deploy  any git
  skillpm install https://site.example/@pdf         from a site's index
  skillpm install ./my-skill --link                 a local folder, live
  skillpm install ./my-skill.tar.gz                 an archive of a skill
  skillpm install acme/skills@pdf --as acme-pdf     under another name
  skillpm install                                   the same as sync"""
)
@click.argument("specs", nargs=-1, metavar="[SPEC]...")
@click.option("--as", "alias", metavar="NAME", help="Install under another name.")
@click.option("--all", "every", is_flag=True, help="Take all skills of a repository, a site or a folder.")
@click.option("--list", "listing", is_flag=True, help="Only show the skills of a repository, a folder of it or a site.")
@click.option("--bundled", is_flag=True, help="Install all skills that ship with skillpm.")
@click.option("--link", is_flag=True, help="Link a local folder instead of copying it.")
@click.option("--path", metavar="DIR", help="The skill's folder in the repository.")
@click.option("--index", metavar="NAME", help="Take a skill from this index only.")
@click.option("--branch", metavar="NAME", help="Follow a branch.")
@click.option("--tag", metavar="NAME", help="Take a tag.")
@click.option("--rev", metavar="COMMIT", help="Take a commit (all 40 digits).")
@click.option("--version", "version", metavar="RANGE", help="Take the newest tag in a range of versions, e.g. ^1.2.")
@exclude_newer_option
@lock_policy_options
@change_options
def command(specs: tuple[str, ...], listing: bool, **flags: Any) -> None:  # noqa: FBT001  (a flag of the command line)
    """Add skills to skills.json and install them.

    A SPEC is a name (code-review), a repository (owner/repo, a URL) with or without @skill and #ref, a folder (./x),
    or an archive (./x.tar.gz).
    """
    call = create_invocation(flags)
    if not specs and not flags["bundled"]:
        about = [name for name in ("alias", "every", "link", "path", "branch", "tag", "rev", "version") if flags[name]]
        if listing or about:
            raise UsageError("a SPEC is missing", hint="skillpm install --help")
        print_change(call, sync(call.scope, call.context, build_change_options(call, locked_in_ci=True)))
        return
    request = _build_request(specs, flags)
    if listing:
        _print_available_skills(call, request)
        return
    scope, result = call.scope, _install(call, request)
    print_change(call, result)
    if scope.is_fallback and result.is_changed and is_in_repository(call.context.settings):
        call.console.print_message(
            "these are your own skills; `skillpm init` makes this repository a project with its own"
        )


def _install(invocation: Invocation, request: InstallRequest) -> ChangeResult:
    """Install, asking in a terminal which skills of a repository are meant."""
    options = build_change_options(invocation)
    while True:
        try:
            return install(invocation.scope, invocation.context, request, options)
        except ManySkillsError as error:
            names = choose_skills(invocation.console, error)
            if not names:
                raise
            request = request.replace(selection={**request.selection, error.spec: tuple(names)})


def _build_request(specs: tuple[str, ...], flags: dict[str, Any]) -> InstallRequest:
    refs: list[RefKind] = [kind for kind in ("branch", "tag", "rev", "version") if flags[kind]]
    if len(refs) > 1:
        raise UsageError("give one of --branch, --tag, --rev and --version")
    return InstallRequest(
        specs=specs,
        alias=flags["alias"] or "",
        all_skills=flags["every"],
        bundled=flags["bundled"],
        link=flags["link"],
        path=flags["path"] or "",
        ref_kind=refs[0] if refs else "",
        ref=flags[refs[0]] if refs else "",
        index=flags["index"] or "",
    )


def _print_available_skills(invocation: Invocation, request: InstallRequest) -> None:
    found = sorted(list_available(invocation.scope, invocation.context, request), key=lambda offer: offer.name)
    if invocation.console.as_json:
        rows = [
            {"name": offer.name, "path": getattr(offer.source, "path", ""), "description": offer.description}
            for offer in found
        ]
        invocation.console.print_json({"skills": rows})
        return
    width = min(MAX_NAME_WIDTH, max(len(sanitize(offer.name, 64)) for offer in found))
    for offer in found:
        head = sanitize(offer.name, 64)
        if len(head) > width:  # whole, since it is to be typed; what it says goes below, where all the others are
            invocation.console.print_line(head)
            head = ""
        invocation.console.print_line(
            f"{head:{width}}  {truncate(offer.description, terminal_width() - width - 2)}".rstrip()
        )
    if len(found) == 1:
        invocation.console.print_message("1 skill; the same command without --list installs it")
        return
    one = format_skill_spec(request.specs[0], found[0].source, "NAME")
    invocation.console.print_message(f"{len(found)} skills; install one with `skillpm install {one}`")
