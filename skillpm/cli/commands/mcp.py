"""`skillpm mcp`."""

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

import click

from skillpm.cli.mcp_config import MCP_HOSTS
from skillpm.cli.options import create_invocation
from skillpm.cli.serve_options import create_service, style_option, viewer_options
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import UsageError


@click.command(
    epilog="""\b
Examples:
  skillpm mcp                              serve over stdin and stdout
  skillpm mcp --print-config claude-code   for the host's configuration
  skillpm mcp --check                      what `skills/list` leaves out"""
)
@click.option(
    "--print-config",
    is_flag=False,
    flag_value="",
    metavar="HOST",
    help=f"Print what a host needs: {', '.join(MCP_HOSTS)}.",
)
@click.option("--check", is_flag=True, help="Tell which skills are not published, and why.")
@style_option
@viewer_options
def command(*, print_config: str | None, check: bool, style: str, **flags: Any) -> int:
    """Serve skills over the Model Context Protocol: a tool, resources, and the Skills extension."""
    call = create_invocation({**flags, "style": style})
    if print_config is not None:
        host = MCP_HOSTS.get(print_config)
        words = [*_find_program(), "mcp", *_build_server_flags(call.flags)]
        if host is None:
            hint = f"in the configuration of any other host, the server's command is `{' '.join(words)}`, over stdio"
            known = f"known are {', '.join(MCP_HOSTS)}"
            said = f"does not know the host `{sanitize(print_config, 80)}`" if print_config else "wants a host"
            raise UsageError(f"--print-config {said}; {known}", hint=hint)
        call.console.print_message(f"put this into {host.config_file}, beside what stands there:")
        call.console.print_line(host.render_snippet(words))
        return 0
    if check:
        from skillpm.serving.mcp.resources import ResourcePublisher  # noqa: PLC0415

        service = create_service(call)
        publisher = ResourcePublisher(service)
        found = {name: publisher.publish(card) for name, card in service.visible.items()}
        left_out = {name: published.rejection_reason for name, published in found.items() if published.entry is None}
        if call.console.as_json:
            rows = [{"name": name, "why": why} for name, why in left_out.items()]
            call.console.print_json({"ok": not left_out, "published": len(found) - len(left_out), "leftOut": rows})
        else:
            for name, why in left_out.items():
                call.console.print_line(f"{name}: {why}")
            are = "is" if len(found) == 1 else "are"
            call.console.print_message(
                f"{len(found) - len(left_out)} of {pluralize(len(found), 'skill')} {are} published"
            )
        return 1 if left_out else 0
    try:
        from skillpm.serving.mcp.server import serve  # noqa: PLC0415  (an extra; and it takes a second)
    except ImportError as error:
        hint = "pip install 'agent-skillpm[mcp]'"
        raise UsageError("serving over MCP needs a package that is not installed", hint=hint) from error
    service = create_service(call)
    if sys.stdin.isatty():
        call.console.print_message("an MCP host starts this command and speaks to it; end it with Ctrl-C")
    serve(service)
    return 0


def _find_program() -> list[str]:
    """Give the words by which a host starts skillpm: its name, or where no PATH leads to it, our Python with it."""
    return ["skillpm"] if shutil.which("skillpm") else [sys.executable, "-m", "skillpm"]


def _build_server_flags(flags: Mapping[str, Any]) -> list[str]:
    """Give the flags that a server is to be started with, as they were given here."""
    words = ["-g"] if flags["user"] else []
    if flags["project"]:
        words += ["--project", os.path.abspath(flags["project"])]
    for name in ("profile", "agent", "host"):
        words += [f"--{name}", flags[name]] if flags[name] else []
    return words + (["--style", flags["style"]] if flags["style"] != "default" else [])
