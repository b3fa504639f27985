"""`skillpm push`."""

import click

from skillpm.cli.options import Invocation, dry_run_option, insecure_host_option, output_options, sign_option
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import UsageError
from skillpm.publishing.push import Pushed, plan_push, push_skills
from skillpm.publishing.push_releases import PushRequest
from skillpm.publishing.signing import load_signing_key


@click.command(
    epilog="""\b
Examples:
  skillpm push ./pdf oci://ghcr.io/acme/pdf  under the tag of its version
  skillpm push ./pdf oci://ghcr.io/acme/pdf --tag latest
  skillpm push skills oci://ghcr.io/acme/    in repositories of their names
  skillpm push a b oci://ghcr.io/acme/ --collection oci://ghcr.io/acme/all:1""",
)
@click.argument(
    "arguments",
    nargs=-1,
    required=True,
    metavar="PATH... DESTINATION",
    help="Skill folders, then the OCI repository to push to.",
)
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    help="Also set this tag (repeatable). Version tags never move; other tags can.",
)
@click.option("--default-version", metavar="VERSION", default="", help="The version of skills that declare none.")
@click.option(
    "--version-from-commits", is_flag=True, help="Give skills that declare no version the day of their last commit."
)
@click.option("--all-versions", is_flag=True, help="Push all tagged versions of a repository, not only the newest.")
@click.option("--skip-invalid", is_flag=True, help="Skip invalid skills and push the rest.")
@click.option("--image", is_flag=True, help="Push an image that Kubernetes can mount, not an artifact.")
@click.option("--collection", metavar="SPEC", default="", help="Also push a collection of all these skills.")
@sign_option
@dry_run_option
@insecure_host_option
@output_options
def command(call: Invocation, arguments: tuple[str, ...], tags: tuple[str, ...]) -> None:
    """Publish skills in an OCI registry. Published versions never change."""
    *paths, destination = arguments
    if not destination.startswith("oci://") or not paths:
        hint = "e.g. skillpm push ./pdf oci://ghcr.io/acme/pdf"
        if paths and "/" in destination:
            hint = f"did you mean `oci://{sanitize(destination.rpartition('://')[2])}`?"
        raise UsageError("expected paths and then a destination that begins with oci://", hint=hint)
    flags = call.flags
    request = PushRequest(
        paths=tuple(paths),
        destination=destination,
        tags=tags,
        default_version=flags["default_version"],
        versions_from_commits=flags["version_from_commits"],
        all_versions=flags["all_versions"],
        skip_invalid=flags["skip_invalid"],
        as_image=flags["image"],
        collection=flags["collection"],
        key=load_signing_key(call.session, flags["sign"]),
    )
    plan = plan_push(call.session, request)
    pushed = push_skills(call.session, plan, dry_run=flags["dry_run"])
    if call.console.as_json:
        dry_run = {"dryRun": True} if flags["dry_run"] else {}
        left_out = [{"where": label, "why": reason} for label, reason in sorted(plan.left_out.items())]
        call.console.print_json({"pushed": [_to_json(each) for each in pushed], "leftOut": left_out, **dry_run})
    elif not call.console.quiet:
        _print(call, pushed, dry_run=flags["dry_run"])


def _to_json(pushed: Pushed) -> dict[str, object]:
    return {
        "name": pushed.name,
        "version": pushed.version,
        "ref": pushed.ref,
        "digest": pushed.digest,
        "isNew": pushed.is_new,
        "isSigned": pushed.is_signed,
    }


def _print(call: Invocation, pushed: list[Pushed], *, dry_run: bool) -> None:
    for each in pushed:
        added = "; signature added" if each.is_signed else ""
        state = "" if each.is_new else f", already published{added}"
        call.console.print_line(f" {'+' if each.is_new else '='} {each.ref} ({each.digest[:19]}){state}")
    new = [each for each in pushed if each.is_new]
    sent = sum(each.bytes_sent for each in pushed)
    tags = pluralize(len(pushed), "tag")
    if not new and not sent:
        call.console.print_line(f"nothing to push: {tags} already published")
    elif dry_run:
        call.console.print_line(f"would push {len(new)} of {tags}")
    else:
        call.console.print_line(f"pushed {len(new)} of {tags}, {sent / 1000:.1f} kB")
