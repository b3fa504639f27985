"""`skillpm search`."""

import time
from collections.abc import Iterator
from typing import Any

import click

from skillpm.cli.change_options import network_options
from skillpm.cli.columns import display_width, pad, terminal_width, truncate
from skillpm.cli.console import Console
from skillpm.cli.option_types import CountParam
from skillpm.cli.options import Invocation, create_invocation
from skillpm.cli.serve_options import create_service, viewer_options
from skillpm.core.text import sanitize
from skillpm.indexes.search.catalogs import BUNDLED_KEY
from skillpm.operations.search import SearchResult, SearchResults, search
from skillpm.operations.search_catalogs import INSTALLED

MAX_NAME_WIDTH = 32
AGE_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


@click.command(
    epilog="""\b
Examples:
  skillpm search pull request       skills with both words, best first
  skillpm search pdf --index acme   only in one index
  skillpm search --installed pdf    only among what is installed
  skillpm search --json pdf         for programs"""
)
@click.argument("words", nargs=-1, required=True, metavar="WORDS...")
@click.option("--limit", type=CountParam(1), default=20, metavar="N", help="Show so many at most (20).")
@click.option("--index", metavar="NAME", default="", help="Only what this index has.")
@click.option("--installed", is_flag=True, help="Only what is installed; asks no server.")
@network_options
@viewer_options
def command(words: tuple[str, ...], limit: int, index: str, *, installed: bool, **flags: Any) -> int:
    """Find skills by words in name, description, category and tags: installed ones, those of all indexes, and those
    that ship with skillpm.
    """
    call, query = create_invocation(flags), " ".join(words)
    if index and installed:
        raise click.UsageError("--index and --installed say different things; give one")
    answer = search(
        call.scope,
        call.context,
        create_service(call),
        query,
        limit=limit,
        index=index,
        only_installed=installed,
    )
    if call.console.as_json:
        call.console.print_json(_to_json(query, answer, call))
    else:
        if answer.results:
            call.console.print_lines(_format_lines(answer.results))
        _print_notes(call, query, answer, includes_indexes=not installed)
    return 1 if any(looked.database is None for looked in answer.searched_indexes) else 0


def _format_lines(results: tuple[SearchResult, ...]) -> Iterator[str]:
    """Give a line for each skill: name, version, where it is, what it says; below a long name stands all the rest."""
    width = terminal_width()
    heads = [
        (sanitize(it.entry.name, 64), sanitize(it.entry.version, 12), sanitize(_source_label(it), 16)) for it in results
    ]
    names, versions, places = (max(display_width(head[column]) for head in heads) for column in range(3))
    names = min(names, MAX_NAME_WIDTH)
    for (name, version, place), it in zip(heads, results, strict=True):
        is_long = display_width(name) > names
        if is_long:
            yield name
        columns = ["" if is_long else name, version, place]
        columns = [pad(text, size) for text, size in zip(columns, (names, versions, places), strict=True)]
        head = "".join(f"{column}  " for column in columns if column)
        yield (head + truncate(it.entry.description, max(10, width - display_width(head)))).rstrip()


def _source_label(result: SearchResult) -> str:
    return INSTALLED if result.is_installed else result.index or BUNDLED_KEY


def _print_notes(invocation: Invocation, query: str, results: SearchResults, *, includes_indexes: bool) -> None:
    """Say what no line says: what is not as it was asked for, and what may be done."""
    console = invocation.console
    for looked in results.searched_indexes:
        name, age = looked.config.name, _format_age(looked.fetched_at)
        if looked.database is None:
            console.warn(f"{name} is not searched: {looked.error}")
        elif looked.error:
            console.warn(f"{name} is searched as it was {age}: {looked.error}")
        elif invocation.context.settings.offline and not looked.config.is_local:
            console.print_message(f"{name} as it was {age}")
    if not results.results:
        _print_no_results(console, query, results, includes_indexes=includes_indexes)
        return
    if results.match_kind == "alike":
        meant = [f"{', '.join(found)} (for {sanitize(typed, 40)})" for typed, found in results.corrections.items()]
        console.print_message(f"found with {' and '.join(meant)}")
    elif results.match_kind == "some":
        console.print_message("no skill has all of these words; these have some of them")
    if results.total > len(results.results):
        console.print_message(
            f"{len(results.results)} of {results.total:,}; `--limit {min(results.total, 1000)}` shows more"
        )
    here = {found.entry.name for found in results.results if found.is_installed}
    spec = next((found.spec for found in results.results if found.spec and found.entry.name not in here), "")
    if spec:
        console.print_message(f"next: skillpm install{' -g' if invocation.flags['user'] else ''} {spec}")


def _print_no_results(console: Console, query: str, results: SearchResults, *, includes_indexes: bool) -> None:
    """Say where nothing was found, and where else there would be something."""
    near = f"; near names: {', '.join(results.suggestions)}" if results.suggestions else ""
    counts = [f"{count:,} {_describe_source(place)}" for place, count in results.counts.items()]
    console.print_message(f"nothing found for `{sanitize(query, 80)}`{near}")
    console.print_message(f"looked at {', '.join(counts) if counts else 'nothing'}")
    if includes_indexes and not results.searched_indexes:
        console.print_message("no index is named yet: skillpm config set indexes.NAME.url URL")
        console.print_message("a repository shows what it has: skillpm install OWNER/REPO --list")


def _describe_source(source: str) -> str:
    return {INSTALLED: "installed", BUNDLED_KEY: "that ship with skillpm"}.get(source, f"of {source}")


def _format_age(fetched_at: float) -> str:
    """Say how long ago something was."""
    seconds = max(0, time.time() - fetched_at)
    for size, word in AGE_UNITS:
        if (count := int(seconds // size)) > 0:
            return f"{count} {word}{'s' if count > 1 else ''} ago"
    return "a moment ago"


def _to_json(query: str, results: SearchResults, invocation: Invocation) -> dict[str, Any]:
    return {
        "query": query,
        "results": [
            {
                "name": found.entry.name,
                "description": found.entry.description,
                "category": found.entry.category,
                "version": found.entry.version,
                "source": found.source,
                "installed": found.is_installed,
                "index": found.index,
                "tags": list(found.entry.tags),
                "spec": found.spec,
            }
            for found in results.results
        ],
        "total": results.total,
        "matched": results.match_kind,
        "meant": {typed: list(found) for typed, found in results.corrections.items()},
        "near": list(results.suggestions),
        "indexes": [
            {
                "name": looked.config.name,
                "url": looked.config.url,
                "skills": looked.skill_count,
                "ageSeconds": None if looked.database is None else max(0, round(time.time() - looked.fetched_at)),
                "fault": looked.error,
            }
            for looked in results.searched_indexes
        ],
        "warnings": list(invocation.context.reporter.warnings),
    }
