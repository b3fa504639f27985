"""`skillpm search`."""

import click

from skillpm.cli.options import Invocation, advanced_option, network_options
from skillpm.cli.serve_options import create_service, viewer_options
from skillpm.errors import UsageError


@click.command(
    epilog="""\b
Examples:
  skillpm search pull request       skills with both words, best first
  skillpm search pdf --index acme   search one index
  skillpm search --installed pdf    search installed skills
  skillpm search --triggers "roll back production"   what a message calls for
  skillpm search pdf --refresh anthropics/skills     what a repository has now"""
)
@click.argument("words", nargs=-1, required=True, metavar="WORDS...", help="Words that the skills should contain.")
@click.option("--limit", type=click.IntRange(1), default=20, metavar="N", help="Show at most N results [default: 20].")
@click.option("--index", metavar="NAME", default="", help="Search this index only.")
@click.option("--installed", is_flag=True, help="Search installed skills only, without network requests.")
@click.option("--triggers", is_flag=True, help="Find installed skills whose triggers occur in the words, a message.")
@advanced_option("--whole-words", is_flag=True, help="With --triggers, find them only as whole words.")
@click.option(
    "--refresh",
    multiple=True,
    metavar="REPO_OR_INDEX",
    help="Fetch this repository or index again and search only there (repeatable).",
)
@network_options
@viewer_options
def command(
    call: Invocation, words: tuple[str, ...], limit: int, index: str, refresh: tuple[str, ...], *, installed: bool
) -> int:
    """Search for skills by name, description, category and tags: installed, in all indexes, and bundled.

    Without an index, or if no skill has all words, it suggests skills of well-known public repositories, from a
    directory that ships with skillpm: no requests are made for it, and they were not reviewed.
    """
    query = " ".join(words)
    triggers = call.flags["triggers"]  # searches the installed ones anyway
    places = {"--triggers": triggers, "--index": index, "--installed": installed and not triggers, "--refresh": refresh}
    chosen = [flag for flag, value in places.items() if value]
    if len(chosen) > 1:
        raise UsageError(f"{chosen[0]} and {chosen[1]} cannot be used together")
    if triggers:
        from skillpm.cli.reports.trigger_output import print_triggered  # noqa: PLC0415  (only for this option)

        print_triggered(call, query, whole_words=call.flags["whole_words"])
        return 0
    if call.flags["whole_words"]:
        raise UsageError("--whole-words needs --triggers")
    from skillpm.cli.reports.search_output import print_results  # noqa: PLC0415  (imports sqlite3, not for --triggers)
    from skillpm.operations.search import SearchOptions, search  # noqa: PLC0415

    options = SearchOptions(limit=limit, index=index, only_installed=installed, refreshed=refresh)
    results = search(call.project, create_service(call), query, options)
    print_results(call, query, results, includes_indexes=not installed)
    return 1 if any(index.database is None for index in results.searched_indexes) else 0
