"""`skillpm mcp`."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from skillpm.change.before_changes import refresh_policies
from skillpm.cli.options import Invocation, advanced_option
from skillpm.cli.serve_options import create_service, show_events, style_option, viewer_options
from skillpm.core.suggestions import extra_hint
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import UsageError
from skillpm.operations.mcp.hosts import MCP_HOSTS, TOKEN_VARIABLE
from skillpm.operations.mcp.listener import (
    ListenAddress,
    open_listener,
    parse_address,
    parse_allowed_host,
    parse_allowed_origin,
    read_token,
)
from skillpm.serving.service import SkillService
from skillpm.serving.token_budget import DESCRIPTION_BUDGET

if TYPE_CHECKING:
    from skillpm.serving.mcp.http import AllowedRequests


@click.command(
    epilog="""\b
Examples:
  skillpm mcp                              serve over stdin and stdout
  skillpm mcp --http 8790                  serve on http://127.0.0.1:8790/mcp
  skillpm mcp --print-config claude-code   print the host's configuration
  skillpm mcp --check                      list skills that are not published"""
)
@click.option(
    "--print-config",
    is_flag=False,
    flag_value="",
    metavar="HOST",
    help=f"Print the configuration for a host: {', '.join(MCP_HOSTS)}.",
)
@click.option("--check", is_flag=True, help="List the skills that are not published, with the reason.")
@click.option("--http", metavar="[ADDRESS:]PORT", help="Serve over streamable HTTP [default address: 127.0.0.1].")
@advanced_option(
    "--token-file",
    metavar="FILE",
    help=f"Require the token in FILE over HTTP [default: {TOKEN_VARIABLE}]; other addresses than loopback need one.",
)
@advanced_option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    metavar="HOST[:PORT]",
    help="Over HTTP, also answer requests for this host, for example of a reverse proxy (repeatable).",
)
@advanced_option(
    "--allowed-origin",
    "allowed_origins",
    multiple=True,
    metavar="ORIGIN",
    help="Over HTTP, also answer requests from web pages of this origin (repeatable).",
)
@click.option(
    "--budget",
    type=click.IntRange(0),
    default=DESCRIPTION_BUDGET,
    show_default=True,
    metavar="TOKENS",
    help="Limit the tool's description to TOKENS.",
)
@style_option
@viewer_options
def command(  # noqa: PLR0913  (its options)
    call: Invocation,
    *,
    print_config: str | None,
    check: bool,
    http: str | None,
    token_file: str | None,
    allowed_hosts: Sequence[str],
    allowed_origins: Sequence[str],
    budget: int,
) -> int:
    """Serve skills over the Model Context Protocol: a tool, prompts, resources, and the Skills extension."""
    address = None if http is None else parse_address(http)
    for option, value in (
        ("--token-file", token_file is not None),
        ("--allowed-host", allowed_hosts),
        ("--allowed-origin", allowed_origins),
    ):
        if address is None and value:
            raise UsageError(f"{option} needs --http")
    hosts, origins = [*map(parse_allowed_host, allowed_hosts)], [*map(parse_allowed_origin, allowed_origins)]
    if print_config is not None:
        return _print_config(call, print_config, address, needs_token=_has_token(call, token_file), budget=budget)
    refresh_policies(call.project)
    service = create_service(call, is_server=True)
    service.budget = budget
    if check:
        return _check(call, service)
    try:
        from skillpm.serving.mcp.server import serve  # noqa: PLC0415  (an optional dependency, and it takes a second)
    except ImportError as error:
        message = "serving over MCP needs a package that is not installed"
        raise UsageError(message, hint=extra_hint("mcp")) from error
    if address is not None:
        token = read_token(call.session.settings, token_file)
        from skillpm.serving.mcp.http import AllowedRequests  # noqa: PLC0415  (uvicorn takes 0.1 s)

        return _serve_http(call, service, address, AllowedRequests(token=token, hosts=hosts, origins=origins))
    if sys.stdin.isatty():
        call.console.print_message("waiting for an MCP host on stdin; press Ctrl-C to stop")
    serve(service)
    return 0


def _serve_http(call: Invocation, service: SkillService, address: ListenAddress, access: "AllowedRequests") -> int:
    from skillpm.serving.mcp.http import serve_http  # noqa: PLC0415  (uvicorn takes 0.1 s)

    if not call.console.verbose:  # then it is shown already
        show_events(call.console)
    listener = open_listener(address, has_token=bool(access.token))
    url = address.replace(port=listener.getsockname()[1]).url
    who = (
        "only clients that have the token are served"
        if access.token
        else "every user of this machine is served; to require a token, use --token-file"
    )

    def announce() -> None:
        call.console.print_message(f"serving on {url}")
        call.console.print_message(who)

    serve_http(service, listener, access=access, on_start=announce)
    return 0


def _has_token(call: Invocation, token_file: str | None) -> bool:
    return token_file is not None or bool(call.session.settings.environ.get(TOKEN_VARIABLE))


def _print_config(call: Invocation, name: str, address: ListenAddress | None, *, needs_token: bool, budget: int) -> int:
    """Print what to add to the configuration of a host."""
    command_line = [*_find_program(), "mcp", *_build_server_flags(call.flags, budget)]
    host = MCP_HOSTS.get(name)
    if host is None:
        problem = f"unknown host `{sanitize(name, 80)}`" if name else "--print-config needs a host"
        hint = f"for any other host, configure a stdio server with the command `{' '.join(command_line)}`"
        raise UsageError(f"{problem}; known hosts: {', '.join(MCP_HOSTS)}", hint=hint)
    if address is None:
        snippet = host.render_command(command_line)
    elif not host.url_key:
        raise UsageError(f"{name} starts MCP servers itself; its configuration takes no address", hint="omit --http")
    else:
        snippet = host.render_address(address.url, needs_token=needs_token)
    call.console.print_message(f"add this to {host.file}:")
    call.console.print_line(snippet)
    if address is not None and needs_token and host.is_json and not host.variable:
        call.console.print_message(f"replace {TOKEN_VARIABLE} by the token: {name} does not read variables there")
    return 0


def _check(call: Invocation, service: SkillService) -> int:
    """List the skills that are not published, with the reason."""
    from skillpm.serving.mcp.resources import ResourcePublisher  # noqa: PLC0415

    publisher = ResourcePublisher(service)
    resources = {name: publisher.publish(card) for name, card in service.visible.items()}
    rejected = {name: resource.rejection_reason for name, resource in resources.items() if resource.entry is None}
    rejected |= {name: message.removeprefix(f"`{name}` is ") for name, message in service.refusals.items()}
    count = len(resources) - len(rejected)
    if call.console.as_json:
        rows = [{"name": name, "why": reason} for name, reason in rejected.items()]
        call.console.print_json({"ok": not rejected, "published": count, "leftOut": rows})
    else:
        for name, reason in rejected.items():
            call.console.print_line(f"{name}: {reason}")
        call.console.print_message(f"{count} of {pluralize(len(resources), 'skill')} published")
    return 1 if rejected else 0


def _find_program() -> list[str]:
    """Return the command that starts skillpm: `skillpm` if it is on PATH, else this Python with `-m skillpm`."""
    return ["skillpm"] if shutil.which("skillpm") else [sys.executable, "-m", "skillpm"]


def _build_server_flags(flags: Mapping[str, Any], budget: int) -> list[str]:
    """Return the options of this command line that the server must be started with as well."""
    options = ["-g"] if flags["user"] else []
    if flags["project"]:
        options += ["--project", os.path.abspath(flags["project"])]
    for name in ("profile", "agent"):
        options += [f"--{name}", flags[name]] if flags[name] else []
    options += [] if budget == DESCRIPTION_BUDGET else ["--budget", str(budget)]
    return options + (["--style", flags["style"]] if flags["style"] != "default" else [])
