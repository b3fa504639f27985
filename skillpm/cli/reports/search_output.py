"""Output of `search`: results, suggestions, and what to do next."""

import time
from typing import Any

from skillpm.cli.console import Console
from skillpm.cli.options import Invocation
from skillpm.cli.text_layout import format_skills
from skillpm.core.text import redact_credentials, sanitize
from skillpm.indexes.client.catalogs import BUNDLED_KEY
from skillpm.operations.search import SearchResult, SearchResults
from skillpm.operations.search_catalogs import INSTALLED

NOT_REVIEWED = "suggestions from well-known public repositories, not reviewed:"
AGE_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def print_results(call: Invocation, query: str, results: SearchResults, *, includes_indexes: bool) -> None:
    """Print what a search found and how that differs from the query; with `--json`, one object."""
    if call.console.as_json:
        call.console.print_json(_to_json(query, results, call))
        return
    if results.results:
        rows = [
            ([sanitize(it.entry.name, 64), sanitize(it.entry.version, 12), _source_label(it)], it.entry.description)
            for it in results.results
        ]
        header = ("name", "version", "from") if call.console.is_terminal else ()
        call.console.print_painted(format_skills(rows, header=header, paint=call.console.paint))
    _print_notes(call, query, results, includes_indexes=includes_indexes)
    _print_suggestions(call, results)
    if results.next_spec:
        call.console.print_message(f"next: {call.scope.command('install')} {results.next_spec}")


def _source_label(result: SearchResult) -> str:
    return sanitize(INSTALLED if result.is_installed else result.index or BUNDLED_KEY, 40)


def _print_suggestions(call: Invocation, results: SearchResults) -> None:
    """Print public skills, marked as not reviewed."""
    if not results.suggested:
        return
    call.console.print_line(NOT_REVIEWED)
    rows = [([it.skill.spec], it.skill.summary) for it in results.suggested]
    call.console.print_painted(format_skills(rows, paint=call.console.paint))


def _print_notes(invocation: Invocation, query: str, results: SearchResults, *, includes_indexes: bool) -> None:
    """Print problems of indexes, how the results differ from the query."""
    console = invocation.console
    for index in results.searched_indexes:
        name, age = index.config.name, _format_age(index.fetched_at)
        if index.database is None:
            console.warn(f"{name} was not searched: {index.error}")
        elif index.error:
            console.warn(f"showing results for {name} as cached {age}: {index.error}")
        elif invocation.session.settings.offline and not index.config.is_local:
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


def _print_no_results(console: Console, query: str, results: SearchResults, *, includes_indexes: bool) -> None:
    """Print what was searched without results, and where else to search."""
    similar = f"; similar names: {', '.join(results.suggestions)}" if results.suggestions else ""
    sources = {INSTALLED: "installed", BUNDLED_KEY: "bundled"}
    counts = [f"{count:,} {sources.get(source, f'in {source}')}" for source, count in results.counts.items()]
    console.print_message(f"no results for `{sanitize(query, 80)}`{similar}")
    console.print_message(f"searched {', '.join(counts) if counts else 'nothing'}")
    if includes_indexes and not results.searched_indexes and not results.suggested:
        console.print_message("no index is configured; to add one: skillpm config set indexes.NAME.url URL")
        console.print_message("to list the skills of a repository: skillpm install OWNER/REPO --list")


def _format_age(fetched_at: float) -> str:
    """Format how long ago a time (seconds since the epoch) was."""
    seconds = max(0, time.time() - fetched_at)
    for size, word in AGE_UNITS:
        if (count := int(seconds // size)) > 0:
            return f"{count} {word}{'s' if count > 1 else ''} ago"
    return "a moment ago"


def _to_json(query: str, results: SearchResults, invocation: Invocation) -> dict[str, Any]:
    return {
        "query": redact_credentials(query),
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
        "suggested": [
            {
                "name": it.skill.name,
                "repository": it.skill.repository,
                "path": it.skill.folder,
                "commit": it.commit,
                "words": list(it.skill.words),
                "spec": it.skill.spec,
                "others": list(it.others),
                "reviewed": False,
            }
            for it in results.suggested
        ],
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
        "warnings": list(invocation.session.reporter.warnings),
    }
