"""Whether `search` and catalogs with a budget give an agent the skill that its task needs.

    python bench/retrieval.py SKILLS [--tasks bench/retrieval_tasks.json] [--skillpm COMMAND]

SKILLS is a folder of skills, here the folder `skills` of github/awesome-copilot at the commit that the tasks name. Each
task is a sentence of a user with the skills that are the right answer, marked by somebody who has not seen the search.
Prints how many tasks have a right skill among the first 1, 3 and 10 results: of the Python API, of `skillpm search
--installed` and of the MCP tool, which must give the same results; and of bm25 as SQLite has it. Then, for several
budgets, the share of tasks whose skill is in the catalog: without a task and with it. Ends with 1 if the three differ.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skillpm import Registry, SkillService

TASKS = Path(__file__).parent / "retrieval_tasks.json"
BUDGETS = (2_000, 5_000, 15_000)
RANKS = (1, 3, 10)
Search = Callable[[str], Sequence[str]]


def search_bm25(service: SkillService) -> Search:
    """Rank by SQLite's own bm25 over name and description, any word, as anybody would do first."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE words USING fts5(name, description)")
    rows = [(card.name, card.description) for card in service.visible.values()]
    database.executemany("INSERT INTO words VALUES (?, ?)", rows)

    def search(text: str) -> Sequence[str]:
        query = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        sql = "SELECT name FROM words WHERE words MATCH ? ORDER BY bm25(words), name LIMIT 10"
        return [name for (name,) in database.execute(sql, (query,))]

    return search


@contextmanager
def make_home(skills: Path) -> Iterator[dict[str, str]]:
    """Make a home whose own skills are these, and return its environment."""
    with tempfile.TemporaryDirectory() as home:
        shutil.copytree(skills, Path(home) / ".agent-skills")
        yield {"PATH": os.environ["PATH"], "HOME": home}


def search_in_shell(command: Sequence[str], environment: Mapping[str, str]) -> Search:
    """Ask `skillpm search --installed`."""

    def search(text: str) -> Sequence[str]:
        arguments = [*command, "search", "-g", "--installed", "--json", "--limit", "10", "--", text]
        done = subprocess.run(
            arguments, env=environment, cwd=environment["HOME"], capture_output=True, text=True, check=True
        )
        return [result["name"] for result in json.loads(done.stdout)["results"]]

    return search


@contextmanager
def search_over_mcp(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[Search]:
    """Ask the tool of `skillpm mcp`."""
    server = subprocess.Popen(
        [*command, "mcp", "-g"], env=environment, cwd=environment["HOME"], text=True, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None
    requests, answers = server.stdin, server.stdout

    def send(method: str, params: Mapping[str, Any], number: int | None = 1) -> Any:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        requests.write(json.dumps(message if number is None else {**message, "id": number}) + "\n")
        requests.flush()
        return None if number is None else json.loads(next(line for line in answers if '"id"' in line))

    client = {"name": "bench", "version": "1"}
    send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
    send("notifications/initialized", {}, None)

    def search(text: str) -> Sequence[str]:
        answer = send("tools/call", {"name": "skill", "arguments": {"query": text}})
        return re.findall(r"^- \*\*(.*?)\*\*", answer["result"]["content"][0]["text"], re.MULTILINE)[:10]

    try:
        yield search
    finally:
        requests.close()
        server.wait(timeout=30)


def measure_recall(tasks: Sequence[Mapping[str, Any]], search: Search) -> list[float]:
    """Return the share of tasks with a right skill among the first 1, 3 and 10."""
    results = [(search(task["task"]), {*task["wanted"], *task["also"]}) for task in tasks]
    return [sum(bool(right & set(found[:rank])) for found, right in results) / len(tasks) for rank in RANKS]


def measure_catalogs(tasks: Sequence[Mapping[str, Any]], service: SkillService) -> None:
    """Print the share of wanted skills that are in catalogs with a budget."""
    for budget in BUDGETS:
        text = service.prompt(budget=budget).text
        with_task = {task["task"]: service.prompt(budget=budget, task=task["task"]).text for task in tasks}
        general = sum(any(contains(text, name) for name in task["wanted"]) for task in tasks)
        specific = sum(any(contains(with_task[task["task"]], name) for name in task["wanted"]) for task in tasks)
        listed = service.prompt(budget=budget)
        print(
            f"budget {budget:6}: wanted skill listed {general / len(tasks):6.1%}, "
            f"for the task {specific / len(tasks):6.1%}; "
            f"{listed.skills} of {listed.skills + listed.left_out} skills, {listed.named_only} by name alone"
        )


def contains(text: str, name: str) -> bool:
    """Return whether a catalog lists a skill."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skills", type=Path)
    parser.add_argument("--tasks", type=Path, default=TASKS)
    parser.add_argument("--skillpm", default=f"{sys.executable} -m skillpm", metavar="COMMAND")
    parser.add_argument("--only-python", action="store_true", help="leave out the shell and MCP")
    parser.add_argument("--misses", action="store_true", help="print the tasks without a right skill in the first 3")
    options = parser.parse_args()
    tasks = json.loads(options.tasks.read_text())["tasks"]
    service = SkillService(Registry.load(options.skills))
    print(f"{len(tasks)} tasks, {len(service.visible)} skills\nshare with a right skill among the first 1, 3, 10:")

    def search_python(text: str) -> Sequence[str]:
        return [found.card.name for found in service.search(text)][:10]

    def report(what: str, search: Search) -> None:
        print(f"  {what:12}", *(f"{share:6.1%}" for share in measure_recall(tasks, search)))

    report("SQLite bm25", search_bm25(service))
    report("Python", search_python)
    differences = 0
    if not options.only_python:
        command = shlex.split(options.skillpm)
        with make_home(options.skills) as environment, search_over_mcp(command, environment) as search_mcp:
            search_shell = search_in_shell(command, environment)
            report("shell", search_shell)
            report("MCP", search_mcp)
            for task in tasks:
                found = [list(search(task["task"])) for search in (search_python, search_shell, search_mcp)]
                differences += found[0] != found[1] or found[0] != found[2]
        print(f"{differences} tasks with different results in Python, shell and MCP")
    if options.misses:
        for task in tasks:
            first = search_python(task["task"])
            if not {*task["wanted"], *task["also"]} & set(first[:3]):
                print(f"  {task['task']}  wanted {task['wanted']}, found {first[:5]}")
    measure_catalogs(tasks, service)
    return 1 if differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
