"""How long `search` takes in the catalogue of a large index, what it needs, and whether it finds what is meant.

    python bench/searching.py [--skills 20000] [--catalogue index.json] [--cases cases.json]

The catalogue is served on this machine, with ETags. Whole processes: the first search (download and database), one
within a minute, one when the server says that nothing has changed, one offline; their time and the most memory they
had. Then the processor's time for each query in a process that has the database open, and which cases do not have
what is meant among the first three. Without a catalogue one is made: the skills of tests/indexes/searching among
invented ones. Ends with 1 where something is not found, or slower or larger than it shall be.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from skillpm.indexes.search.database_cache import DatabaseCache
from skillpm.indexes.search.full_text import SearchDatabase
from skillpm.indexes.search.query import parse_query

HERE = Path(__file__).parents[1] / "tests/indexes/searching"
WORDS = (
    "audit bake bill book boot bridge bulk cache call camera cart cell chain chess class clock cloud coach coin color "
    "compile course crawl credit crop cube curve data date deal debate diet disk dose draft drive echo edge engine "
    "essay event farm fee file film fleet flow font forest forge frame fuel garden gate gear grid group guard guide "
    "harbor heat hotel image ink input island join judge keyboard label lake lamp layer lease ledger lens level lint "
    "list loan lock logic loop mail map market match meal memo menu merge metal meter mind mirror mode motor museum"
)
RUN = """
import sys, time
from skillpm.cli.main import main
code = main(sys.argv[1:])
sys.stdout.flush()
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")), file=sys.stderr)
raise SystemExit(code)
"""
GOALS = {"first": 3.0, "within a minute": 0.25, "not modified": 0.6, "offline": 0.25}  # seconds of the processor
MOST_MEMORY = 100_000  # kB
SLOWEST_QUERY = 0.1
wrong: list[str] = []


def made(count: int) -> bytes:
    """Invent a catalogue around the skills that the cases mean."""
    words = WORDS.split()
    chance = random.Random(4)  # noqa: S311  (chance that repeats)
    skills = {it["name"]: it for it in json.loads((HERE / "catalogue.json").read_text())["skills"]}
    while len(skills) < count:
        name = "-".join(chance.sample(words, chance.randint(2, 4)))
        if name not in skills:
            output = [f"{chance.choice(words)}{chance.choice(['', '', 's', 'ing'])}" for _ in range(30)]
            skills[name] = {
                "name": name,
                "description": f"Use when asked to {' '.join(output)}.",
                "category": chance.choice(words),
                "tags": chance.sample(words, 3),
                "latest": f"{chance.randint(0, 9)}.{chance.randint(0, 9)}.0",
            }
    listed = [skills[name] for name in sorted(skills)]
    return json.dumps({"$schema": "urn:skillpm:schema:index:1", "name": "large", "skills": listed}, indent=2).encode()


def serve(body: bytes) -> tuple[ThreadingHTTPServer, list[tuple[int, int]]]:
    """Serve a catalogue on a free port; give the server, and the statuses and sizes of what it answered."""
    answers: list[tuple[int, int]] = []
    etag = f'"{sha256(body).hexdigest()[:16]}"'

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            is_known = self.headers.get("If-None-Match") == etag
            status = 404 if self.path != "/index.json" else 304 if is_known else 200
            sent = body if status == 200 else b""  # noqa: PLR2004
            self.send_response(status)
            self.send_header("ETag", etag)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)
            answers.append((status, len(sent)))

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, answers


class Machine:
    """A home of its own, with one index."""

    def __init__(self, root: Path, address: str) -> None:
        self.root = root
        self.cache = root / "cache"
        (root / "work").mkdir()
        manifest = {"skills": {}, "indexes": [{"name": "large", "url": address}]}
        (root / "work/skills.json").write_text(json.dumps(manifest))

    def search(self, *words: str) -> tuple[float, float, int]:
        """Run a search; give its seconds, those of the processor, and its kB."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.root), "SKILLPM_CACHE_DIR": str(self.cache)}
        start, before = time.perf_counter(), processor()
        done = subprocess.run(
            [sys.executable, "-c", RUN, "search", *words],
            env=environment, cwd=self.root / "work", capture_output=True, text=True, check=False,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        if done.returncode:
            raise SystemExit(f"search {' '.join(words)}: {done.stdout}{done.stderr}")
        return seconds, processor() - before, int(done.stderr.splitlines()[-1])

    def age(self, seconds: float) -> None:
        """Let the catalogue have been heard so long ago."""
        for head in (self.cache / "v1/search").glob("*.json"):
            output = json.loads(head.read_text())
            head.write_text(json.dumps({**output, "heard": output["heard"] - seconds}))


def processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(what: str, machine: Machine, *words: str, times: int, age: float = 0) -> None:
    runs = []
    for _ in range(times):
        machine.age(age)
        runs.append(machine.search(*words))
    seconds, cpu = (statistics.median(run[part] for run in runs) for part in (0, 1))
    memory = max(run[2] for run in runs)
    print(f"{what:16} {seconds * 1000:7.0f} ms, of the processor {cpu * 1000:6.0f} ms {memory / 1000:7.1f} MB")
    if cpu > GOALS[what] or memory > MOST_MEMORY:
        wrong.append(what)


def looked(database: SearchDatabase, text: str) -> tuple[float, list[str], str]:
    """Look as the command does; give the milliseconds of the processor, the first three, and how they were found."""
    start = time.process_time()
    query, hides = parse_query(text), frozenset[str]().__contains__
    how, hits = "all words", database.search_all_words(query, 20, hides)
    if not hits.total:
        meant = database.suggest_words(query.words, hides)
        how, hits = "words alike", database.search_all_words(query, 20, hides, meant)
        if not hits.total:
            how, hits = "some words", database.search_any_word(query, 20, hides, meant)
    return (time.process_time() - start) * 1000, [hit.entry.name for hit in hits.best[:3]], f"{hits.total} by {how}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skills", type=int, default=20_000)
    parser.add_argument("--catalogue", type=Path)
    parser.add_argument("--cases", type=Path, default=HERE / "cases.json")
    parser.add_argument("-n", type=int, default=7, help="runs; the median counts")
    options = parser.parse_args()
    body = options.catalogue.read_bytes() if options.catalogue else made(options.skills)
    server, answers = serve(body)
    with tempfile.TemporaryDirectory() as folder:
        address = f"http://127.0.0.1:{server.server_address[1]}"
        machine = Machine(Path(folder), address)
        print(f"{len(json.loads(body)['skills']):,} skills, {len(body) / 1e6:.1f} MB of JSON")
        measure("first", machine, "pdf", times=1)
        measure("within a minute", machine, "pdf", times=options.n)
        measure("not modified", machine, "pdf", times=options.n, age=100)
        measure("offline", machine, "pdf", "--offline", times=options.n, age=100)
        sizes = [path.stat().st_size for path in (machine.cache / "v1/search").glob("*.sqlite")]
        print(f"database {max(sizes) / 1e6:.1f} MB; the server answered {answers[0]}, then {sorted(set(answers[1:]))}")
        if len(answers) != 1 + options.n or {status for status, _ in answers[1:]} != {304}:
            wrong.append("requests")
        queries(machine, address, json.loads(options.cases.read_text()))
    server.shutdown()
    if wrong:
        raise SystemExit(f"not as it shall be: {', '.join(wrong)}")


def queries(machine: Machine, address: str, cases: list[dict[str, Any]]) -> None:
    """Ask the open database, and judge what comes first."""
    kept = DatabaseCache(str(machine.cache / "v1/search"))
    head = kept.read_header(f"{address}/")
    start = time.perf_counter()
    database = None if head is None else kept.open(f"{address}/", head)
    assert database is not None
    print(f"opening the database, every byte checked: {(time.perf_counter() - start) * 1000:.0f} ms")
    times = []
    for case in cases:
        tries = [looked(database, case["query"]) for _ in range(3)]
        took, first, how = min(tries)
        times.append(took)
        is_right = all(set(any_of.split("|")) & set(first) for any_of in case["among_the_first_three"])
        if not is_right or took > SLOWEST_QUERY * 1000:
            wrong.append(case["query"])
        print(f"  {'ok ' if is_right else 'NOT'} {took:6.1f} ms  {case['query']:28} {', '.join(first)}  ({how})")
    print(f"{len(cases)} queries: median {statistics.median(times):.1f} ms, slowest {max(times):.1f} ms")


if __name__ == "__main__":
    main()
