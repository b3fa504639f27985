"""`skillpm search`."""

import time
from collections.abc import Iterator
from typing import Any

import click

from skillpm.cli.change_options import asking
from skillpm.cli.columns import cells, fitted, padded, terminal_width
from skillpm.cli.console import Console
from skillpm.cli.option_types import Count
from skillpm.cli.options import Call, call_of
from skillpm.cli.serve_options import service_for, serving
from skillpm.core.text import show
from skillpm.indexes.search.catalogs import SHIPPED
from skillpm.operations.search import Answer, Found, search
from skillpm.operations.search_catalogs import INSTALLED

LONGEST_IN_COLUMN = 32
AGES = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


@click.command(
    epilog="""\b
Examples:
  skillpm search pull request       skills with both words, best first
  skillpm search pdf --index acme   only in one index
  skillpm search --installed pdf    only among what is installed
  skillpm search --json pdf         for programs"""
)
@click.argument("words", nargs=-1, required=True, metavar="WORDS...")
@click.option("--limit", type=Count(1), default=20, metavar="N", help="Show so many at most (20).")
@click.option("--index", metavar="NAME", default="", help="Only what this index has.")
@click.option("--installed", is_flag=True, help="Only what is installed; asks no server.")
@asking
@serving
def command(words: tuple[str, ...], limit: int, index: str, *, installed: bool, **flags: Any) -> int:
    """Find skills by words in name, description, category and tags: installed ones, those of all indexes, and those
    that ship with skillpm.
    """
    call, query = call_of(flags), " ".join(words)
    if index and installed:
        raise click.UsageError("--index and --installed say different things; give one")
    answer = search(
        call.scope,
        call.tools,
        service_for(call),
        query,
        most=limit,
        index=index,
        only_installed=installed,
    )
    if call.console.as_json:
        call.console.data(_value(query, answer, call))
    else:
        if answer.found:
            call.console.lines(_lines(answer.found))
        _tell(call, query, answer, is_everywhere=not installed)
    return 1 if any(looked.searchable is None for looked in answer.looked) else 0


def _lines(found: tuple[Found, ...]) -> Iterator[str]:
    """Give a line for each skill: name, version, where it is, what it says; below a long name stands all the rest."""
    width = terminal_width()
    heads = [(show(it.entry.name, 64), show(it.entry.version, 12), show(_place(it), 16)) for it in found]
    names, versions, places = (max(cells(head[column]) for head in heads) for column in range(3))
    names = min(names, LONGEST_IN_COLUMN)
    for (name, version, place), it in zip(heads, found, strict=True):
        is_long = cells(name) > names
        if is_long:
            yield name
        columns = ["" if is_long else name, version, place]
        columns = [padded(text, size) for text, size in zip(columns, (names, versions, places), strict=True)]
        head = "".join(f"{column}  " for column in columns if column)
        yield (head + fitted(it.entry.description, max(10, width - cells(head)))).rstrip()


def _place(found: Found) -> str:
    return INSTALLED if found.is_installed else found.index or SHIPPED


def _tell(call: Call, query: str, answer: Answer, *, is_everywhere: bool) -> None:
    """Say what no line says: what is not as it was asked for, and what may be done."""
    console = call.console
    for looked in answer.looked:
        name, age = looked.place.name, _age(looked.heard)
        if looked.searchable is None:
            console.warning(f"{name} is not searched: {looked.fault}")
        elif looked.fault:
            console.warning(f"{name} is searched as it was {age}: {looked.fault}")
        elif call.tools.settings.offline and not looked.place.is_local:
            console.say(f"{name} as it was {age}")
    if not answer.found:
        _tell_nothing(console, query, answer, is_everywhere=is_everywhere)
        return
    if answer.matched == "alike":
        meant = [f"{', '.join(found)} (for {show(typed, 40)})" for typed, found in answer.meant.items()]
        console.say(f"found with {' and '.join(meant)}")
    elif answer.matched == "some":
        console.say("no skill has all of these words; these have some of them")
    if answer.total > len(answer.found):
        console.say(f"{len(answer.found)} of {answer.total:,}; `--limit {min(answer.total, 1000)}` shows more")
    here = {found.entry.name for found in answer.found if found.is_installed}
    spec = next((found.spec for found in answer.found if found.spec and found.entry.name not in here), "")
    if spec:
        console.say(f"next: skillpm install{' -g' if call.flags['user'] else ''} {spec}")


def _tell_nothing(console: Console, query: str, answer: Answer, *, is_everywhere: bool) -> None:
    """Say where nothing was found, and where else there would be something."""
    near = f"; near names: {', '.join(answer.near)}" if answer.near else ""
    counts = [f"{count:,} {_kind(place)}" for place, count in answer.counts.items()]
    console.say(f"nothing found for `{show(query, 80)}`{near}")
    console.say(f"looked at {', '.join(counts) if counts else 'nothing'}")
    if is_everywhere and not answer.looked:
        console.say("no index is named yet: skillpm config set indexes.NAME.url URL")
        console.say("a repository shows what it has: skillpm install OWNER/REPO --list")


def _kind(place: str) -> str:
    return {INSTALLED: "installed", SHIPPED: "that ship with skillpm"}.get(place, f"of {place}")


def _age(heard: float) -> str:
    """Say how long ago something was."""
    seconds = max(0, time.time() - heard)
    for size, word in AGES:
        if (count := int(seconds // size)) > 0:
            return f"{count} {word}{'s' if count > 1 else ''} ago"
    return "a moment ago"


def _value(query: str, answer: Answer, call: Call) -> dict[str, Any]:
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
            for found in answer.found
        ],
        "total": answer.total,
        "matched": answer.matched,
        "meant": {typed: list(found) for typed, found in answer.meant.items()},
        "near": list(answer.near),
        "indexes": [
            {
                "name": looked.place.name,
                "url": looked.place.url,
                "skills": looked.skills,
                "ageSeconds": None if looked.searchable is None else max(0, round(time.time() - looked.heard)),
                "fault": looked.fault,
            }
            for looked in answer.looked
        ],
        "warnings": list(call.tools.reporter.warnings),
    }
