"""`skillpm index build|yank|unyank|prune|page|check`."""

from collections.abc import Sequence
from shlex import join

import click

from skillpm.cli.command_group import CommandGroup
from skillpm.cli.options import (
    Invocation,
    dry_run_option,
    insecure_host_option,
    lock_timeout_option,
    output_options,
    sign_option,
)
from skillpm.core.names import parse_skill_name
from skillpm.core.suggestions import list_some
from skillpm.core.text import is_encodable, pluralize, redact_credentials, sanitize
from skillpm.core.versions import is_version
from skillpm.errors import UsageError
from skillpm.publishing.index.index_builder import IndexBuildResult
from skillpm.publishing.index_build import BuildOptions, build_index, check_index
from skillpm.publishing.index_folder import open_index_writer
from skillpm.publishing.oci_page import write_oci_page
from skillpm.publishing.signing import load_signing_key

ARGUMENT_COUNT = 2  # NAME@VERSION and DIR


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  skillpm index build skills --out public   publish every skill below skills/
  skillpm index yank pdf@1.2.0 public       hide it from new resolutions
  skillpm index check public                check documents and archives""",
)
def command() -> None:
    """Build and check an index: a folder of static files that any web server can serve."""


@command.command(
    "build",
    epilog="""\b
Examples:
  skillpm index build skills --out public              folders with a SKILL.md
  skillpm index build dist/pdf-1.2.0.tar.gz --out public  archives
  skillpm index build acme/skills --out public         all tagged versions
  skillpm index build skills --out public --skip-invalid  skip invalid skills
  skillpm index build skills --out public --onto https://skills.acme.example/""",
)
@click.argument(
    "sources", nargs=-1, required=True, metavar="SOURCE...", help="Folders of skills, archives, or repositories."
)
@click.option("--out", metavar="DIR", required=True, help="The folder of the index.")
@click.option("--onto", metavar="URL", default="", help="Add to the index published there; DIR must be empty.")
@click.option("--name", metavar="NAME", default="", help="The name of the index.")
@click.option("--default-version", metavar="VERSION", default="", help="The version of skills that declare none.")
@click.option(
    "--version-from-commits",
    is_flag=True,
    help="Give skills that declare no version the day of their last commit.",
)
@click.option("--published", metavar="DATE", default="", help="The date of all new versions.")
@click.option("--skip-invalid", is_flag=True, help="Skip invalid skills and publish the rest.")
@click.option("--no-catalog", is_flag=True, help="Do not write catalog.html, the HTML catalog.")
@sign_option
@dry_run_option
@lock_timeout_option
@output_options
def build_command(call: Invocation, sources: tuple[str, ...], out: str, onto: str) -> None:
    """Add skills to an index. Published versions never change."""
    flags = call.flags
    _check_utf8("--name", flags["name"])
    options = BuildOptions(
        name=flags["name"],
        default_version=flags["default_version"],
        versions_from_commits=flags["version_from_commits"],
        published=flags["published"],
        skip_invalid=flags["skip_invalid"],
        key=load_signing_key(call.session, flags["sign"]),
        dry_run=flags["dry_run"],
    )
    if onto and options.dry_run:
        raise UsageError("--onto and --dry-run cannot be used together", hint="--onto fills DIR; leave one out")
    page = not flags["no_catalog"]
    with open_index_writer(call.session, out, page=page, onto=onto, sources=sources) as writer:
        result = build_index(call.session, sources, writer, options)
    _print_result(call, result, out, dry_run=options.dry_run, adds=True)


@command.command("yank", epilog="\b\nExample:\n  skillpm index yank pdf@1.2.0 public --reason 'deletes files'")
@click.argument("spec", metavar="NAME@VERSION", help="The version to yank.")
@click.argument("folder", metavar="DIR", help="The folder of the index.")
@click.argument("extra", nargs=-1, metavar="")
@click.option("--reason", metavar="TEXT", default="", help="The reason, shown to users of the version.")
@lock_timeout_option
@output_options
def yank_command(call: Invocation, spec: str, folder: str, extra: tuple[str, ...], reason: str) -> None:
    """Hide a version from new resolutions. Existing lockfiles can still install it."""
    name, version = _parse_name_and_version("yank", spec, folder, extra)
    _check_utf8("--reason", reason)
    with open_index_writer(call.session, folder, must_exist=True) as writer:
        result = writer.yank(parse_skill_name(name), version, reason=reason)
        latest = writer.latest_version(parse_skill_name(name))
        yank_reason = writer.yank_reason(parse_skill_name(name), version)
    says_more = not (call.console.as_json or call.console.quiet)
    if result.written and says_more:
        call.console.print_line(f"yanked {name} {version}; existing lockfiles can still install it")
        call.console.print_line(
            f"the latest version of {name} is now {latest}" if latest else f"{name} has no version left to resolve to"
        )
    elif says_more:
        call.console.print_line(
            f"{name} {version} is already yanked{f': {sanitize(yank_reason)}' if yank_reason else ''}"
        )
    for release in result.uninstallable:
        call.session.reporter.warn(f"{release.name} {release.version} can no longer be installed: {release.reason}")
    if result.uninstallable and says_more:
        commands = [
            f"`{join(['skillpm', 'index', 'yank', f'{it.name}@{it.version}', folder])}`" for it in result.uninstallable
        ]
        call.console.print_message(f"publish what they need, or yank them as well: {list_some(commands, 3, 400)}")
    _print_result(call, result, folder)


@command.command("unyank", epilog="\b\nExample:\n  skillpm index unyank pdf@1.2.0 public")
@click.argument("spec", metavar="NAME@VERSION", help="The yanked version.")
@click.argument("folder", metavar="DIR", help="The folder of the index.")
@click.argument("extra", nargs=-1, metavar="")
@lock_timeout_option
@output_options
def unyank_command(call: Invocation, spec: str, folder: str, extra: tuple[str, ...]) -> None:
    """Undo the yank of a version."""
    name, version = _parse_name_and_version("unyank", spec, folder, extra)
    with open_index_writer(call.session, folder, must_exist=True) as writer:
        result = writer.yank(parse_skill_name(name), version, undo=True)
    if not (call.console.as_json or call.console.quiet):
        call.console.print_line(
            f"{name} {version} is no longer yanked" if result.written else f"{name} {version} is not yanked"
        )
    _print_result(call, result, folder)


@command.command(
    "prune", epilog="\b\nExamples:\n  skillpm index prune public --dry-run\n  skillpm index prune public --yanked"
)
@click.argument("folder", metavar="DIR", help="The folder of the index.")
@click.option(
    "--yanked", "drop_yanked", is_flag=True, help="Also remove yanked versions; breaks lockfiles that use them."
)
@dry_run_option
@lock_timeout_option
@output_options
def prune_command(call: Invocation, folder: str, drop_yanked: bool, dry_run: bool) -> None:  # noqa: FBT001  (flags)
    """Remove archives that no version refers to."""
    with open_index_writer(call.session, folder, must_exist=True) as writer:
        result = writer.prune(drop_yanked=drop_yanked, dry_run=dry_run)
    _print_result(call, result, folder, dry_run=dry_run)


@command.command(
    "page",
    epilog="""\b
Examples:
  skillpm index page oci://ghcr.io/acme/all:latest --out site  a collection
  skillpm index page oci://ghcr.io/acme/pdf oci://ghcr.io/acme/mail --out site""",
)
@click.argument("specs", nargs=-1, required=True, metavar="SPEC...", help="Collections or skills in OCI registries.")
@click.option("--out", metavar="DIR", required=True, help="The folder to write.")
@click.option("--name", metavar="NAME", default="", help="The title of the page.")
@insecure_host_option
@output_options
def page_command(call: Invocation, specs: tuple[str, ...], out: str, name: str) -> None:
    """Write the HTML catalog of skills in OCI registries: static files for any web server."""
    _check_utf8("--name", name)
    _print_result(call, write_oci_page(call.session, specs, out, name=name), out)


@command.command(
    "check",
    epilog="""\b
Examples:
  skillpm index check public
  skillpm index check https://skills.acme.example/ --json""",
)
@click.argument("location", metavar="URL-or-DIR", help="The address or the folder of the index.")
@insecure_host_option
@output_options
def check_command(call: Invocation, location: str) -> int:
    """Check every document, archive and digest of an index. Exits with 1 if there are problems."""
    problems = check_index(call.session, location)
    if call.console.as_json:
        rows = [{"where": redact_credentials(problem.where), "message": problem.message} for problem in problems]
        call.console.print_json({"ok": not problems, "problems": rows})
        return 1 if problems else 0
    for problem in problems:
        call.console.print_line(f"{sanitize(problem.where, 200)}: {sanitize(problem.message, 300)}")
    call.console.print_message(pluralize(len(problems), "problem") if problems else "no problems found")
    return 1 if problems else 0


def _parse_name_and_version(subcommand: str, spec: str, folder: str, extra: Sequence[str]) -> tuple[str, str]:
    """Return name and version; raise `UsageError`, with the right command line if the arguments are in another order.

    People type `yank public pdf@1.2.0` and `yank pdf 1.2.0 public`.
    """
    if not extra and (parts := _split_version(spec)):
        return parts
    words = [spec, folder, *extra]
    candidates = [[word, *words[:at], *words[at + 1 :]] for at, word in enumerate(words) if _split_version(word)]
    candidates += [[f"{spec}@{folder}", *extra], [f"{folder}@{extra[0]}", spec, *extra[1:]]] if extra else []
    valid = next((line for line in candidates if len(line) == ARGUMENT_COUNT and _split_version(line[0])), None)
    if extra and _split_version(spec):
        raise UsageError(
            f"unexpected argument `{sanitize(' '.join(extra), 60)}`", hint=f"run `skillpm index {subcommand} --help`"
        )
    command_line = f"did you mean `{join(['skillpm', 'index', subcommand, *valid])}`?" if valid else ""
    raise UsageError(
        f"`{sanitize(spec, 60)}` does not name a version", hint=command_line or "use NAME@VERSION, e.g. pdf@1.2.0"
    )


def _split_version(spec: str) -> tuple[str, str] | None:
    name, _, version = spec.rpartition("@")
    return (name, version) if name and is_version(version) else None


def _check_utf8(option: str, text: str) -> None:
    if not is_encodable(text):
        raise UsageError(f"{option} is not UTF-8: `{sanitize(text, 60)}`", hint="the documents of an index are UTF-8")


def _print_result(
    invocation: Invocation, result: IndexBuildResult, folder: str, *, dry_run: bool = False, adds: bool = False
) -> None:
    if invocation.console.as_json:
        value = {
            "changed": bool(result.written or result.removed) and not dry_run,
            "skills": result.skill_count,
            "versions": result.version_count,
            "files": len(result.written),
            "added": list(result.added),
            "signed": list(result.signed),
            "removed": list(result.removed),
            "leftOut": [{"name": item.name, "where": item.where, "why": item.reason} for item in result.left_out],
            "uninstallable": [
                {"name": item.name, "version": item.version, "why": item.reason} for item in result.uninstallable
            ],
        }
        invocation.console.print_json({**value, "dryRun": True} if dry_run else value)
        return
    if invocation.console.quiet and not dry_run:
        return
    for line in result.added:
        invocation.console.print_line(f"+ {line}")
    for line in result.signed:
        invocation.console.print_line(f"= {line}, published already; signature added")
    for path in result.removed:
        invocation.console.print_line(f"{'would remove' if dry_run else 'removed'} {path}")
    if dry_run:
        what = pluralize(len(result.added), "version") if adds else pluralize(len(result.removed), "file")
        verb = "add" if adds else "remove"
        invocation.console.print_line(f"would {verb} {what if result.added or result.removed else 'nothing'}")
        return
    content = f"{pluralize(result.skill_count, 'skill')}, {pluralize(result.version_count, 'version')}"
    written = f"{pluralize(len(result.written), 'file')} written" if result.written else "nothing to write"
    skipped = f"; {len(result.left_out)} skipped" if result.left_out else ""
    invocation.console.print_message(f"{folder}: {content}; {written}{skipped}")
