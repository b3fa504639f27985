"""`skillpm search`."""

from typing import Any

import click

from skillpm.cli.common import call_of
from skillpm.cli.serving import service_for, serving
from skillpm.documents.text import show


@click.command(
    epilog="""\b
Examples:
  skillpm search pull request     skills with both words, best first
  skillpm search --json pdf       for programs"""
)
@click.argument("words", nargs=-1, required=True, metavar="WORDS...")
@serving
def command(words: tuple[str, ...], **flags: Any) -> None:
    """Find installed skills by words in their name, description, category, triggers and tags."""
    call = call_of(flags)
    query = " ".join(words)
    found = service_for(call).search(query)
    if call.console.as_json:
        results = [
            {
                "name": told.card.name,
                "description": told.description,
                "category": told.card.category,
                "version": told.card.version,
                "source": told.card.entry.get("source", ""),
                "installed": True,
            }
            for told in found
        ]
        call.console.data({"query": query, "results": results})
        return
    for told in found:
        call.console.line(f"{show(told.card.name, 64)} ({show(told.card.category, 40)}): {show(told.line)}")
    if not found:
        call.console.say(f"no installed skill has all of `{show(query, 80)}`")
