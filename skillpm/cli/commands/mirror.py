"""`skillpm mirror`."""

import click

from skillpm.cli.options import Invocation, dry_run_option, lock_timeout_option, network_options, output_options
from skillpm.core.shell import shell_word
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import UsageError
from skillpm.operations.mirror import MirroredSkill, MirrorRequest, MirrorResult, mirror_skills


@click.command(
    epilog="""\b
Examples:
  skillpm mirror skills.lock /srv/mirror     a folder, for any web server
  skillpm mirror skills.lock bundle.tar      one file, for other networks
  skillpm mirror */skills.lock oci://oci.acme.example/skills/mirror
  skillpm config set replace /srv/mirror     take skills from there""",
)
@click.argument(
    "arguments", nargs=-1, required=True, metavar="LOCKFILE... DESTINATION", help="Lockfiles, and where to copy to."
)
@dry_run_option
@network_options
@lock_timeout_option
@output_options
def command(call: Invocation, arguments: tuple[str, ...]) -> None:
    """Copy the skills that lockfiles name, for machines that cannot reach their sources."""
    *lockfiles, destination = arguments
    if not lockfiles:
        raise UsageError(
            "expected lockfiles and then a destination",
            hint=f"e.g. skillpm mirror skills.lock {shell_word(destination)}",
        )
    request = MirrorRequest(lockfiles=tuple(lockfiles), destination=destination, dry_run=call.flags["dry_run"])
    result = mirror_skills(call.session, request)
    if call.console.as_json:
        call.console.print_json(
            {
                "destination": destination,
                "mirrored": [_to_json(each) for each in result.skills],
                "unneeded": dict(result.unneeded),
                **({"dryRun": True} if request.dry_run else {}),
                "warnings": list(call.session.reporter.warnings),
            }
        )
    elif not call.console.quiet:
        _print(call, result, request)


def _to_json(skill: MirroredSkill) -> dict[str, object]:
    return {
        "name": skill.name,
        "version": skill.version,
        "source": skill.source,
        "key": skill.key,
        "isNew": skill.is_new,
    }


def _print(call: Invocation, result: MirrorResult, request: MirrorRequest) -> None:
    for each in result.skills:
        label = " ".join(filter(None, [each.name, sanitize(each.version, 40)]))
        state = "" if each.is_new else ", already there"
        call.console.print_line(f" {'+' if each.is_new else '='} {label} ({sanitize(each.source)}){state}")
    for name, source in result.unneeded.items():
        call.console.print_line(f" - {name} ({sanitize(source)}), is on this machine, not copied")
    new = sum(each.is_new for each in result.skills)
    verb = "would copy" if request.dry_run else "copied"
    call.console.print_line(
        f"{verb} {new} of {pluralize(len(result.skills), 'skill')} to {sanitize(request.destination)}"
    )
