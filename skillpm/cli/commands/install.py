"""`skillpm install` (add)."""

from typing import Any

import click

from skillpm.cli.change_options import changing, dated, options_of, strict
from skillpm.cli.change_output import tell_changed
from skillpm.cli.columns import fitted, terminal_width
from skillpm.cli.options import Call, call_of
from skillpm.cli.skill_chooser import choose
from skillpm.core.text import show
from skillpm.errors import ManySkillsError, UsageError
from skillpm.operations.context.scope import is_in_repository
from skillpm.operations.install.add import install
from skillpm.operations.install.pipeline import Changed
from skillpm.operations.install.request import Request, spec_of_one
from skillpm.operations.install.spec_requirements import offers
from skillpm.operations.install.sync import sync
from skillpm.requirements.source import RefKind

LONGEST_IN_COLUMN = 40


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
@dated
@strict
@changing
def command(specs: tuple[str, ...], listing: bool, **flags: Any) -> None:  # noqa: FBT001  (a flag of the command line)
    """Add skills to skills.json and install them.

    A SPEC is a name (code-review), a repository (owner/repo, a URL) with or without @skill and #ref, a folder (./x),
    or an archive (./x.tar.gz).
    """
    call = call_of(flags)
    if not specs and not flags["bundled"]:
        about = [name for name in ("alias", "every", "link", "path", "branch", "tag", "rev", "version") if flags[name]]
        if listing or about:
            raise UsageError("a SPEC is missing", hint="skillpm install --help")
        tell_changed(call, sync(call.scope, call.tools, options_of(call, bare=True)))
        return
    request = _request(specs, flags)
    if listing:
        _show_offers(call, request)
        return
    scope, result = call.scope, _install(call, request)
    tell_changed(call, result)
    if scope.is_fallback and result.changed and is_in_repository(call.tools.settings):
        call.console.say("these are your own skills; `skillpm init` makes this repository a project with its own")


def _install(call: Call, request: Request) -> Changed:
    """Install, asking in a terminal which skills of a repository are meant."""
    options = options_of(call)
    while True:
        try:
            return install(call.scope, call.tools, request, options)
        except ManySkillsError as error:
            names = choose(call.console, error)
            if not names:
                raise
            request = request.but(chosen={**request.chosen, error.spec: tuple(names)})


def _request(specs: tuple[str, ...], flags: dict[str, Any]) -> Request:
    refs: list[RefKind] = [kind for kind in ("branch", "tag", "rev", "version") if flags[kind]]
    if len(refs) > 1:
        raise UsageError("give one of --branch, --tag, --rev and --version")
    return Request(
        specs=specs,
        alias=flags["alias"] or "",
        every=flags["every"],
        bundled=flags["bundled"],
        link=flags["link"],
        path=flags["path"] or "",
        ref_kind=refs[0] if refs else "",
        ref=flags[refs[0]] if refs else "",
        index=flags["index"] or "",
    )


def _show_offers(call: Call, request: Request) -> None:
    found = sorted(offers(call.scope, call.tools, request), key=lambda offer: offer.name)
    if call.console.as_json:
        rows = [
            {"name": offer.name, "path": getattr(offer.source, "path", ""), "description": offer.description}
            for offer in found
        ]
        call.console.data({"skills": rows})
        return
    width = min(LONGEST_IN_COLUMN, max(len(show(offer.name, 64)) for offer in found))
    for offer in found:
        head = show(offer.name, 64)
        if len(head) > width:  # whole, since it is to be typed; what it says goes below, where all the others are
            call.console.line(head)
            head = ""
        call.console.line(f"{head:{width}}  {fitted(offer.description, terminal_width() - width - 2)}".rstrip())
    if len(found) == 1:
        call.console.say("1 skill; the same command without --list installs it")
        return
    one = spec_of_one(request.specs[0], found[0].source, "NAME")
    call.console.say(f"{len(found)} skills; install one with `skillpm install {one}`")
