"""`skillpm mcp`."""

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

import click

from skillpm.cli.mcp_config import HOSTS
from skillpm.cli.options import call_of
from skillpm.cli.serve_options import service_for, serving, style_option
from skillpm.core.text import counted, show
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
    help=f"Print what a host needs: {', '.join(HOSTS)}.",
)
@click.option("--check", is_flag=True, help="Tell which skills are not published, and why.")
@style_option
@serving
def command(*, print_config: str | None, check: bool, style: str, **flags: Any) -> int:
    """Serve skills over the Model Context Protocol: a tool, resources, and the Skills extension."""
    call = call_of({**flags, "style": style})
    if print_config is not None:
        host = HOSTS.get(print_config)
        words = [*_program(), "mcp", *_given(call.flags)]
        if host is None:
            hint = f"in the configuration of any other host, the server's command is `{' '.join(words)}`, over stdio"
            known = f"known are {', '.join(HOSTS)}"
            said = f"does not know the host `{show(print_config, 80)}`" if print_config else "wants a host"
            raise UsageError(f"--print-config {said}; {known}", hint=hint)
        call.console.say(f"put this into {host.file}, beside what stands there:")
        call.console.line(host.snippet(words))
        return 0
    if check:
        from skillpm.serving.mcp.resources import Publisher  # noqa: PLC0415

        service = service_for(call)
        publisher = Publisher(service)
        found = {name: publisher.publish(card) for name, card in service.visible.items()}
        left_out = {name: published.why_not for name, published in found.items() if published.entry is None}
        if call.console.as_json:
            rows = [{"name": name, "why": why} for name, why in left_out.items()]
            call.console.data({"ok": not left_out, "published": len(found) - len(left_out), "leftOut": rows})
        else:
            for name, why in left_out.items():
                call.console.line(f"{name}: {why}")
            are = "is" if len(found) == 1 else "are"
            call.console.say(f"{len(found) - len(left_out)} of {counted(len(found), 'skill')} {are} published")
        return 1 if left_out else 0
    try:
        from skillpm.serving.mcp.server import serve  # noqa: PLC0415  (an extra; and it takes a second)
    except ImportError as error:
        hint = "pip install 'agent-skillpm[mcp]'"
        raise UsageError("serving over MCP needs a package that is not installed", hint=hint) from error
    service = service_for(call)
    if sys.stdin.isatty():
        call.console.say("an MCP host starts this command and speaks to it; end it with Ctrl-C")
    serve(service)
    return 0


def _program() -> list[str]:
    """Give the words by which a host starts skillpm: its name, or where no PATH leads to it, our Python with it."""
    return ["skillpm"] if shutil.which("skillpm") else [sys.executable, "-m", "skillpm"]


def _given(flags: Mapping[str, Any]) -> list[str]:
    """Give the flags that a server is to be started with, as they were given here."""
    words = ["-g"] if flags["user"] else []
    if flags["project"]:
        words += ["--project", os.path.abspath(flags["project"])]
    for name in ("profile", "agent", "host"):
        words += [f"--{name}", flags[name]] if flags[name] else []
    return words + (["--style", flags["style"]] if flags["style"] != "default" else [])
