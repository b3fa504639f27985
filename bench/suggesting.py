"""Whether a search without any index suggests a skill that people wish for.

    python bench/suggesting.py [--wishes bench/wishes.json] [--mirror 'file:///mirror/{owner}+{name}']

A wish is a few keywords or a sentence, written from a public issue or pull request, which `source` names, and the
names of the skills that fulfil it: chosen by reading the descriptions of the directory's skills that have its words,
before any of these searches ran. Prints for how many wishes a wanted skill is among the first three suggestions, as the
command gives them; and, with the same search, by the names of the skills alone, and with `--mirror`, where the
repositories are read again, by their whole descriptions. Ends with 1 below 17 of 20 keywords or 9 of 20 sentences.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from skillpm.fetchers.public_directory import SKILLS_FILE, read_directory_file
from skillpm.formats.public_skills import PublicSkill, read_common_words, read_public_skills
from skillpm.formats.searched_catalog import CatalogEntry
from skillpm.indexes.search.database import build_in_memory
from skillpm.operations.suggestions import search_public, suggest
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import user_scope
from skillpm.settings import read_settings

WISHES = Path(__file__).with_name("wishes.json")
FIRST = 3
GOALS = {"keywords": 17, "sentence": 9}
Search = Callable[[str], Sequence[str]]


def search_entries(entries: Iterable[CatalogEntry]) -> Search:
    """Return the search of the command over other entries."""
    database, common = build_in_memory(entries), read_common_words(read_directory_file(SKILLS_FILE))

    def search(text: str) -> Sequence[str]:
        return [*search_public(database, text, common, lambda _: False)[1]][:FIRST]

    return search


def read_descriptions(skills: Sequence[PublicSkill], template: str) -> dict[tuple[str, str], str]:
    """Return the whole description of each skill, by repository and folder."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from kit.public_skills import read_all  # noqa: PLC0415

    repositories = dict.fromkeys(skill.repository for skill in skills)
    return {
        (repository, skill.path): skill.description
        for repository, _, found in read_all([*repositories], template)
        for skill in found
    }


def judge(what: str, wishes: Sequence[dict[str, Any]], search: Search, *, shown: bool = False) -> dict[str, int]:
    """Print and return how many wishes of each kind are fulfilled among the first three."""
    right = dict.fromkeys(GOALS, 0)
    for wish in wishes:
        found = search(wish["wish"])
        is_right = bool({*found} & {*wish["wanted"]})
        right[wish["kind"]] += is_right
        if shown:
            print(f"  {'ok ' if is_right else 'NOT'} {wish['wish']}: {', '.join(found)}")
    counts = {kind: sum(wish["kind"] == kind for wish in wishes) for kind in GOALS}
    print(f"{what:20}", *(f"{kind} {right[kind]} of {counts[kind]}," for kind in GOALS))
    return right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wishes", type=Path, default=WISHES)
    parser.add_argument("--mirror", default="", help="URL with {owner} and {name}, for whole descriptions")
    options = parser.parse_args()
    wishes = json.loads(options.wishes.read_text())["wishes"]
    skills = [*read_public_skills(read_directory_file(SKILLS_FILE))]
    print(f"{len(skills):,} skills of {len({skill.repository for skill in skills})} repositories, {len(wishes)} wishes")
    times: list[float] = []
    with tempfile.TemporaryDirectory() as home:
        settings = read_settings({"HOME": home})
        project = Project(user_scope(settings), Session(settings=settings))

        def search(text: str) -> Sequence[str]:
            start = time.process_time()
            found = [it.skill.name for it in suggest(project, text, FIRST, lambda _: False)]
            times.append(time.process_time() - start)
            return found

        right = judge("the command", wishes, search, shown=True)
        print(f"of the processor: {times[0]:.2f} s the first time, then {statistics.median(times[1:]) * 1000:.0f} ms")
    names = (CatalogEntry(name=skill.name, description="", tags=(skill.repository,)) for skill in skills)
    judge("names only", wishes, search_entries(names))
    if options.mirror:
        whole = read_descriptions(skills, options.mirror)
        entries = (
            CatalogEntry(
                name=skill.name,
                description=whole.get((skill.repository, skill.folder), ""),
                tags=(skill.repository,),
            )
            for skill in skills
        )
        judge("whole descriptions", wishes, search_entries(entries))
    return int(any(right[kind] < goal for kind, goal in GOALS.items()))


if __name__ == "__main__":
    raise SystemExit(main())
