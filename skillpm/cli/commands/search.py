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
from skillpm.errors import UsageError
from skillpm.indexes.search.catalogs import BUNDLED_KEY
from skillpm.operations.search import SearchResult, SearchResults, search
from skillpm.operations.search_catalogs import INSTALLED

MAX_NAME_WIDTH = 32
AGE_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


@click.command(
    epilog="""\b
Examples:
  skillpm search pull request       skills with both words, best first
  skillpm search pdf --index acme   search one index
  skillpm search --installed pdf    search installed skills
  skillpm search --json pdf         for programs"""
)
@click.argument("words", nargs=-1, required=True, metavar="WORDS...", help="Words that the skills should contain.")
@click.option("--limit", type=CountParam(1), default=20, metavar="N", help="Show at most N results [default: 20].")
@click.option("--index", metavar="NAME", default="", help="Search this index only.")
@click.option("--installed", is_flag=True, help="Search installed skills only, without network requests.")
@network_options
@viewer_options
def command(words: tuple[str, ...], limit: int, index: str, *, installed: bool, **flags: Any) -> int:
    """Search for skills by name, description, category and tags: installed, in all indexes, and bundled."""
    call, query = create_invocation(flags), " ".join(words)
    if index and installed:
        raise UsageError("--index and --installed cannot be used together")
    results = search(
        call.scope,
        call.context,
        create_service(call),
        query,
        limit=limit,
        index=index,
        only_installed=installed,
    )
    if call.console.as_json:
        call.console.print_json(_to_json(query, results, call))
    else:
        if results.results:
            call.console.print_lines(_format_lines(results.results))
        _print_notes(call, query, results, includes_indexes=not installed)
    return 1 if any(index.database is None for index in results.searched_indexes) else 0


def _format_lines(results: tuple[SearchResult, ...]) -> Iterator[str]:
    """Format a line for each skill: name, version, source, description. A long name gets a line of its own."""
    width = terminal_width()
    heads = [
        (sanitize(it.entry.name, 64), sanitize(it.entry.version, 12), sanitize(_source_label(it), 16)) for it in results
    ]
    widths = [max(display_width(head[column]) for head in heads) for column in range(3)]
    widths[0] = min(widths[0], MAX_NAME_WIDTH)
    for (name, version, source), it in zip(heads, results, strict=True):
        is_long = display_width(name) > widths[0]
        if is_long:
            yield name
        columns = map(pad, ["" if is_long else name, version, source], widths)
        head = "".join(f"{column}  " for column in columns if column)
        yield (head + truncate(it.entry.description, max(10, width - display_width(head)))).rstrip()


def _source_label(result: SearchResult) -> str:
    return INSTALLED if result.is_installed else result.index or BUNDLED_KEY


def _print_notes(invocation: Invocation, query: str, results: SearchResults, *, includes_indexes: bool) -> None:
    """Print problems of indexes, how the results differ from the query, and the next step."""
    console = invocation.console
    for index in results.searched_indexes:
        name, age = index.config.name, _format_age(index.fetched_at)
        if index.database is None:
            console.warn(f"{name} was not searched: {index.error}")
        elif index.error:
            console.warn(f"{name} was searched as of {age}: {index.error}")
        elif invocation.context.settings.offline and not index.config.is_local:
            console.print_message(f"{name} as of {age}")
    if not results.results:
        _print_no_results(console, query, results, includes_indexes=includes_indexes)
        return
    if results.match_kind == "alike":
        corrected = [
            f"{', '.join(words)} (instead of {sanitize(typed, 40)})" for typed, words in results.corrections.items()
        ]
        console.print_message(f"showing results for {' and '.join(corrected)}")
    elif results.match_kind == "some":
        console.print_message("no skill has all of these words; these have some of them")
    if results.total > len(results.results):
        console.print_message(
            f"{len(results.results)} of {results.total:,}; `--limit {min(results.total, 1000)}` shows more"
        )
    installed = {it.entry.name for it in results.results if it.is_installed}
    spec = next((it.spec for it in results.results if it.spec and it.entry.name not in installed), "")
    if spec:
        console.print_message(f"next: skillpm install{' -g' if invocation.flags['user'] else ''} {spec}")


def _print_no_results(console: Console, query: str, results: SearchResults, *, includes_indexes: bool) -> None:
    """Print what was searched without results, and where else to search."""
    similar = f"; similar names: {', '.join(results.suggestions)}" if results.suggestions else ""
    counts = [f"{count:,} {_describe_source(source)}" for source, count in results.counts.items()]
    console.print_message(f"no results for `{sanitize(query, 80)}`{similar}")
    console.print_message(f"searched {', '.join(counts) if counts else 'nothing'}")
    if includes_indexes and not results.searched_indexes:
        console.print_message("no index is configured; to add one: skillpm config set indexes.NAME.url URL")
        console.print_message("to list the skills of a repository: skillpm install OWNER/REPO --list")


def _describe_source(source: str) -> str:
    return {INSTALLED: "installed", BUNDLED_KEY: "bundled"}.get(source, f"in {source}")


def _format_age(fetched_at: float) -> str:
    """Format how long ago a time (seconds since the epoch) was."""
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
                "name": it.entry.name,
                "description": it.entry.description,
                "category": it.entry.category,
                "version": it.entry.version,
                "source": it.source,
                "installed": it.is_installed,
                "index": it.index,
                "tags": list(it.entry.tags),
                "spec": it.spec,
            }
            for it in results.results
        ],
        "total": results.total,
        "matched": results.match_kind,
        "meant": {typed: list(words) for typed, words in results.corrections.items()},
        "near": list(results.suggestions),
        "indexes": [
            {
                "name": index.config.name,
                "url": index.config.url,
                "skills": index.skill_count,
                "ageSeconds": None if index.database is None else max(0, round(time.time() - index.fetched_at)),
                "fault": index.error,
            }
            for index in results.searched_indexes
        ],
        "warnings": list(invocation.context.reporter.warnings),
    }
