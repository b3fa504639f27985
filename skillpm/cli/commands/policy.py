"""`skillpm policy check|show|refresh|enforce|sign|new-key`."""

import json
import time
from typing import Any

import click

from skillpm.cli.command_group import CommandGroup
from skillpm.cli.options import Invocation, insecure_host_option, network_options, output_options, scope_options
from skillpm.core.text import pluralize, sanitize
from skillpm.operations.inspect.verify import find_unchecked
from skillpm.operations.policy.enforce import enforce_policies
from skillpm.operations.policy.explain import CheckedSkill, ListedPolicy, check_skills, list_policies
from skillpm.operations.policy.publish import create_key, sign_policy
from skillpm.scope.policy_refresh import RefreshedPolicy, refresh_policies
from skillpm.vetting.acceptance import unchecked_message

MAX_BLOCKED_LISTED = 20


@click.group(
    cls=CommandGroup,
    default="check",
    epilog="""\b
Examples:
  skillpm policy                     same as policy check
  skillpm policy check pdf           what each rule says of a skill
  skillpm policy show                all rules in effect, with their origin
  skillpm policy refresh             fetch published policies now
  skillpm policy enforce             unlink blocked skills everywhere
  skillpm policy sign policy.toml --key key.pem""",
)
def command() -> None:
    """Explain the policies in effect, and publish your own."""


@command.command(
    "check",
    epilog="""\b
Examples:
  skillpm policy check                    all skills, exit 1 if one fails
  skillpm policy check pdf                each rule for one skill
  skillpm policy check acme/skills@pdf    before installing it
  skillpm policy check --json             for programs""",
)
@click.argument("names", nargs=-1, metavar="[NAME|SPEC]...", help="Skills here, or SPECs to fetch and check.")
@network_options
@scope_options
def check_command(call: Invocation, names: tuple[str, ...]) -> int:
    """Check skills against the policies in effect. Changes nothing."""
    policies = list_policies(call.scope, call.session.settings)
    skills = check_skills(call.project, names)
    forbidden = [skill for skill in skills if skill.problems]
    unchecked = find_unchecked(call.project)
    if call.console.as_json:
        rows = [_skill_to_json(skill) for skill in skills]
        others = {"unchecked": unchecked} if unchecked else {}
        call.console.print_json({"ok": not forbidden, "policies": len(policies), "skills": rows, **others})
        return 1 if forbidden else 0
    for skill in skills if names else forbidden:
        call.console.print_line(f"{skill.name} ({sanitize(skill.source)})")
        for check in skill.checks if names else skill.problems:
            color = {"fg": "red"} if check.problem else {}
            verdict = check.problem or "passes"
            call.console.print_wrapped(f"  {check.rule}: {verdict} ({sanitize(check.where, 300)})", indent=4, **color)
        for rule in skill.trust if names else ():
            call.console.print_wrapped(f"  trust: {sanitize(rule.text, 500)}", indent=4)
    if not policies:
        call.console.print_message("no policy applies here; `skillpm policy show` lists where policies can be")
    else:
        complying = len(skills) - len(forbidden)
        verb = "complies" if 1 in {complying, len(skills)} else "comply"
        count = "1 policy" if len(policies) == 1 else f"{len(policies)} policies"
        call.console.print_message(f"{complying} of {pluralize(len(skills), 'skill')} {verb} with {count}")
    if unchecked:
        call.console.print_message(unchecked_message(call.scope, unchecked))
    return 1 if forbidden else 0


@command.command("show", epilog="\b\nExamples:\n  skillpm policy show\n  skillpm policy show --json")
@scope_options
def show_command(call: Invocation) -> None:
    """List all rules in effect, with the file that each comes from. All policies must allow a skill."""
    policies = list_policies(call.scope, call.session.settings)
    if call.console.as_json:
        call.console.print_json({"policies": [_policy_to_json(policy) for policy in policies]})
        return
    for policy in policies:
        call.console.print_line(f"{policy.kind}: {sanitize(policy.origin, 300)}{_format_age(policy)}")
        for key, value in policy.rules.items():
            if key == "blocked":
                _print_blocked(call, value)
            else:
                call.console.print_wrapped(
                    f"  {key} = {sanitize(json.dumps(value, ensure_ascii=False), 1000)}", indent=4
                )
    if not policies:
        call.console.print_message(
            f"there is no policy: neither {call.session.settings.machine_policy}, nor policy.toml in "
            f"{call.session.settings.config_dir}, nor skills.policy.toml in the project"
        )


def _print_blocked(call: Invocation, blocked: list[dict[str, str]]) -> None:
    for entry in blocked[:MAX_BLOCKED_LISTED]:
        what = entry.get("digest") or f"`{sanitize(entry['name'], 80)}`"
        call.console.print_wrapped(f"  blocked: {what}: {sanitize(entry['reason'])}", indent=4)
    if len(blocked) > MAX_BLOCKED_LISTED:
        call.console.print_line(f"  blocked: {len(blocked) - MAX_BLOCKED_LISTED} more")


@command.command("refresh", epilog="\b\nExample:\n  skillpm policy refresh")
@insecure_host_option
@scope_options
def refresh_command(call: Invocation) -> int:
    """Fetch the published policies now, regardless of their interval. Exit 1 if one cannot be fetched."""
    results = refresh_policies(call.project)
    failed = any(result.error is not None for result in results)
    if call.console.as_json:
        call.console.print_json({"ok": not failed, "policies": [_result_to_json(result) for result in results]})
        return 1 if failed else 0
    for result in results:
        if result.error is None:
            state = "fetched" if result.is_changed else "unchanged"
            call.console.print_message(f"{state}: {sanitize(result.url)}, issued {result.issued}")
        else:
            state = f"keeping the one issued {result.issued}" if result.issued else "there is no older copy"
            where = f" ({sanitize(result.error.where, 300)})" if result.error.where else ""
            call.console.warn(f"{sanitize(result.url)}: {result.error.message}{where}; {state}")
    if not results:
        call.console.print_message("no policy that applies here has a table [fetch]")
    return 1 if failed else 0


@command.command(
    "enforce",
    epilog="""\b
Examples:
  skillpm policy enforce          for a timer of the user
  skillpm policy enforce --json   what was unlinked, and where""",
)
@network_options
@output_options
def enforce_command(call: Invocation) -> int:
    """Unlink blocked skills in every scope that you have used: user scope and projects. Exit 1 if one fails.

    Published policies are fetched first if they are due. Links and copies are removed, edited copies become backups,
    and the skills stay where they are.
    """
    results = enforce_policies(call.session)
    failed = any(result.error is not None for result in results)
    if call.console.as_json:
        rows = [
            {
                "directory": result.directory,
                "unlinked": list(result.unlinked),
                **({} if result.error is None else {"error": result.error.message}),
            }
            for result in results
        ]
        call.console.print_json({"ok": not failed, "scopes": rows})
        return 1 if failed else 0
    for result in results:
        if result.error is not None:
            call.console.warn(f"{sanitize(result.directory, 300)}: {result.error.message}")
    unlinked = sum(len(result.unlinked) for result in results)
    call.console.print_message(f"{pluralize(unlinked, 'blocked skill')} unlinked in {pluralize(len(results), 'scope')}")
    return 1 if failed else 0


@command.command("sign", epilog="\b\nExample:\n  skillpm policy sign skills-policy.toml --key policy-key.pem")
@click.argument("file", help="The policy to publish; its signature is written to FILE.sig.")
@click.option("--key", required=True, metavar="FILE", help="The Ed25519 private key in PEM (see `new-key`).")
@output_options
def sign_command(call: Invocation, file: str, key: str) -> None:
    """Sign a policy, so that other machines can fetch it."""
    signed = sign_policy(call.session, file, key)
    if call.console.as_json:
        call.console.print_json({"signature": signed.signature, "key": signed.public_key, "issued": signed.issued})
        return
    call.console.print_line(f'key = "{signed.public_key}"')
    call.console.print_message(f"signed the policy issued {signed.issued}: publish {sanitize(file)} and {file}.sig")


@command.command("new-key", epilog="\b\nExample:\n  skillpm policy new-key policy-key.pem")
@click.argument("file", help="The file for the private key. Keep it secret; it has no password.")
@output_options
def new_key_command(call: Invocation, file: str) -> None:
    """Create a key to sign policies with, and print the public key for `[fetch]`."""
    key = create_key(call.session, file)
    if call.console.as_json:
        call.console.print_json({"key": key})
        return
    call.console.print_line(f'key = "{key}"')


def _format_age(policy: ListedPolicy) -> str:
    if not policy.issued:
        return ""
    minutes = max(0, int(time.time() - policy.fetched) // 60)
    expires = f", expires {policy.expires}" if policy.expires else ""
    return f" (issued {policy.issued}{expires}, fetched {pluralize(minutes, 'minute')} ago)"


def _skill_to_json(skill: CheckedSkill) -> dict[str, Any]:
    checks = [{"rule": check.rule, "where": check.where, "problem": check.problem} for check in skill.checks]
    trust = [rule.json_value for rule in skill.trust]
    return {"name": skill.name, "source": skill.source, "ok": not skill.problems, "checks": checks, "trust": trust}


def _policy_to_json(policy: ListedPolicy) -> dict[str, Any]:
    value: dict[str, Any] = {"kind": policy.kind, "origin": policy.origin, "rules": policy.rules}
    value |= {"issued": policy.issued, "fetched": int(policy.fetched)} if policy.issued else {}
    return value | ({"expires": policy.expires} if policy.expires else {})


def _result_to_json(result: RefreshedPolicy) -> dict[str, Any]:
    error = result.error
    value = {"url": result.url, "issued": result.issued, "changed": result.is_changed}
    return value if error is None else value | {"error": {"code": error.code, "message": error.message}}
